/* In: a launch and the next one. Out: gen/source/next.h. */
#include "gen/source/next.h"
#include "gen/program/program.h"

/* Bytes prefetched by all workgroups together. More would be loaded twice, as the next launch begins meanwhile (H200, decode steps: 2 and
 * 8 MB gain half as much, 12 MB nothing). */
enum { asked_bytes = 4 << 20 };

/* Contiguous runs of weights with which the first workgroups of a launch begin. */
typedef struct weight_runs {
    long long count, length; /* length: bytes from one run to the next, and the longest that a run can be */
} weight_runs;

/* The runs of all workgroups that are resident at once. A workgroup reads the packed columns of its tile in groups of 16, from the start of
 * its slice of K: each 16 columns have a run per slice (a single run if the slices do not divide the pieces along K). */
static weight_runs runs_of(const plan *p, const packed_weight *pack, const tile_extents *x)
{
    const long long members = x->cluster, pieces = format_numbers_bytes(pack->format, pack->length) / piece_row_bytes;
    const long long parts = pieces % members ? 1 : members, across = pack->columns / piece_columns, tiles = x->column_tiles / members;
    const long long seats = (long long)p->device->units * (x->resident > 1 ? x->resident : 1);
    const long long first = seats / parts * ((across + tiles - 1) / tiles);
    return (weight_runs){(first < across ? first : across) * parts, pieces / parts * piece_bytes};
}

void emit_next(emission *e, writer *w, const launch *own)
{
    const plan *p = e->plan;
    const launch *next = own + 1;
    const launch_phase *last = &own->work[own->work_count - 1];
    if (!p->target->overlaps || !own->overlap || !last->program->prefetches_next || next == p->launches + p->launch_count) return;
    const launch_phase *first = &next->work[0];
    if (first->pack < 0 || !first->program->begins_with_weights) return;
    const weight_runs runs = runs_of(p, &p->packs[first->pack], &first->extents);
    const long long share = asked_bytes / runs.count / piece_bytes * piece_bytes, bytes = share < runs.length ? share : runs.length;
    if (bytes == 0) return;
    write_line(w, "static constexpr int next_runs = %lld, next_bytes = %lld;", runs.count, bytes);
    write_line(w, "static constexpr long long next_step = %lld;", runs.length);
    write_line(w, "DEV static const void *next(const args &p) { return %s; }", c_text(e->a, use_next_packed(e, first->pack)));
}
