/* Contract: gen/source/next.h. */
#include "gen/source/next.h"
#include "gen/program/program.h"

/* Most bytes that all workgroups of a launch prefetch together.
 * next_usual_bytes (next.h): more would still be in flight when the next launch begins, and delay the rows that it loads. (Decode steps on
 * an H200: 2 or 8 MB gain half as much as 4 MB, and 12 MB gain nothing.)
 * bytes_across: for the launch after next, if the next one is an attention over a cache, during which DRAM has time to load more. (A block
 * of Llama-1B with one sequence on an H200, of which attention takes 7 us: if qkv prefetches 8 MB, the block takes 37.9 us, with 16 MB 38.6
 * us. If attention itself prefetches 4 MB, the block takes 38.6 us, with 8 to 24 MB 38.9 to 43.8 us, because that delays its keys.) */
enum { bytes_across = 8 << 20, most_requests = 3 /* packed weights */, most_ahead = 16 /* launches */ };

/* The contiguous runs of weights at whose beginnings the first workgroups of a launch start to read. */
typedef struct weight_runs {
    long long count, length; /* length: bytes from one run to the next, which is also the length of a run */
} weight_runs;

/* The runs that belong to workgroups which are resident at once. Workgroups read packed columns in groups of 16, and each reads from the
 * start of its slice of K. So each group of columns has a run per slice, or a single run if the number of slices does not divide that of
 * the pieces along K. */
static weight_runs runs_of(const plan *p, const packed_weight *pack, const tile_extents *x)
{
    const long long members = x->cluster, pieces = format_numbers_bytes(pack->format, pack->length) / piece_row_bytes;
    const long long parts = pieces % members ? 1 : members, across = pack->columns / piece_columns;
    /* a cluster may have more members than there are column tiles, if it spans several row tiles */
    const long long tiles = x->column_tiles > members ? x->column_tiles / members : 1;
    const long long seats = (long long)p->device->units * (x->resident > 1 ? x->resident : 1);
    const long long first = (seats > parts ? seats / parts : 1) * ((across + tiles - 1) / tiles);
    return (weight_runs){(first < across ? first : across) * parts, pieces / parts * piece_bytes};
}

/* What a launch prefetches of packed weights. */
struct next_weights {
    first_weights list[most_requests];
    int count;
    bool of_next_call; /* also what the next call reads first, which is an argument of this call */
};

static bool begins_with_weights(const launch *l)
{
    return l->overlap && l->work[0].pack >= 0 && l->work[0].program->begins_with_weights;
}

static first_weights first_of(const plan *p, const launch_phase *phase, long long most)
{
    const weight_runs runs = runs_of(p, &p->packs[phase->pack], &phase->extents);
    const long long share = most / runs.count / piece_bytes * piece_bytes;
    return (first_weights){phase->pack, (int)runs.count, runs.length, share < runs.length ? share : runs.length};
}

first_weights next_first(const plan *p, long long most)
{
    const first_weights none = {.pack = -1};
    const first_weights first = p->launch_count && begins_with_weights(p->launches) ? first_of(p, p->launches->work, most) : none;
    return first.bytes ? first : none;
}

static bool may_ask(const plan *p, const launch *l)
{
    return p->target->overlaps && l->overlap && l->work[l->work_count - 1].program->prefetches_next;
}

/* Fills `list` with what launch `own` prefetches for the next most_ahead launches, in the order in which they need it, and returns its
 * length. asked: by packed weight, whether a launch prefetches it already. */
static int requests_of(const plan *p, int own, bool *asked, first_weights *list)
{
    int i = own + 1, count = 0;
    if (!may_ask(p, &p->launches[own]) || i == p->launch_count) return 0;
    const bool across = p->launches[i].overlap && p->launches[i].work[0].program->prefetched_across;
    long long left = across ? bytes_across : next_usual_bytes;
    const int end = i + most_ahead < p->launch_count ? i + most_ahead : p->launch_count;
    for (i += across; i < end && count < most_requests; i++) {
        const launch_phase *first = &p->launches[i].work[0];
        if (!begins_with_weights(&p->launches[i])) break;
        if (asked[first->pack]) continue;
        const first_weights one = first_of(p, first, left);
        if (one.bytes == 0) break;
        list[count++] = one;
        asked[first->pack] = true, left -= one.bytes * one.count;
        if (one.bytes < one.step) break;
    }
    return count;
}

next_weights *next_find(arena *a, const plan *p)
{
    next_weights *all = arena_alloc(a, ((size_t)p->launch_count + 1) * sizeof *all);
    bool *asked = arena_alloc(a, ((size_t)p->pack_count + 1) * sizeof *asked);
    for (int i = 0; i < p->launch_count; i++) {
        all[i].count = requests_of(p, i, asked, all[i].list);
        all[i].of_next_call = p->followed && i + 1 == p->launch_count && may_ask(p, &p->launches[i]);
    }
    return all;
}

void emit_next(emission *e, writer *w, const next_weights *all, int launch)
{
    static const char *const names[most_requests] = {"next", "second_next", "third_next"};
    const first_weights *list = all[launch].list;
    const bool told = all[launch].of_next_call;
    const int count = all[launch].count;
    if (count == 0 && !told) return;
    write_line(w, "static constexpr int next_count = %d;", count + told);
    write_line(w, "DEV static weight_runs next(const args &p, int i)");
    write_line(w, "{");
    for (int i = 0; i < count; i++)
        write_line(w, "    %sreturn {%s, %lldll, %d, %lld};", i + 1 < count + told ? arena_printf(e->a, "if (i == %d) ", i) : "",
                   c_text(e->a, use_next_packed(e, names[i], list[i].pack)), list[i].step, list[i].count, list[i].bytes);
    if (told) write_line(w, "    return %s;", c_text(e->a, use_next_call(e)));
    write_line(w, "}");
}
