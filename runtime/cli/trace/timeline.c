/* In: records of a traced plan. Out: its timeline (timeline.h). Refuses records that were not written, and times that run backwards. */
#include "runtime/cli/trace/timeline.h"
#include "gen/gen.h"
#include "runtime/cli/spread.h"
#include <stdlib.h>
#include <string.h>

typedef unsigned long long word;
enum { words_each = trace_record_bytes / sizeof(word) };
enum { own_entry, own_ready, own_exit, own_unit, own_tiles };                    /* words of a workgroup's record */
enum { tile_asked, tile_start, tile_data, tile_computed, tile_end, tile_where }; /* words of a tile's record */

typedef struct builder {
    arena *a;
    timeline *t;
    const trace_records *records;
    double nanoseconds;
    word zero;
} builder;

static const word *record_of(const trace_records *r, long long i) { return r->words + i * words_each; }
static const word *tile_record(const trace_records *r, long long i) { return record_of(r, r->workgroups + i); }

static double time_of(const builder *b, word ticks) { return ticks ? (double)(long long)(ticks - b->zero) * b->nanoseconds : -1; }

static int by_word(const void *x, const void *y)
{
    const word a = *(const word *)x, b = *(const word *)y;
    return (a > b) - (a < b);
}

static int by_number(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int by_start(const void *x, const void *y)
{
    const timeline_tile *a = x, *b = y;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->tile > b->tile) - (a->tile < b->tile);
}

/* ---- what is there */
static void check_workgroups(const builder *b, const trace_records *r)
{
    for (long long i = 0; i < r->workgroups; i++) {
        const word *w = record_of(r, i);
        if (!w[own_entry]) bail(b->a, code_device, (position){0}, "internal: workgroup %lld of %s left no trace", i, r->name);
    }
}

static void check_tile(const builder *b, const trace_records *r, long long i, const word *w)
{
    const bool known = (long long)(w[tile_where] & 0xffffffff) < r->workgroups;
    if (known && w[tile_start] && w[tile_computed] >= w[tile_start] && w[tile_end] >= w[tile_computed]) return;
    bail(b->a, code_device, (position){0}, "internal: tile %lld of %s left an impossible trace: it begins at %llu, ends at %llu", i,
         r->name, w[tile_start], w[tile_end]);
}

static bool has_tile(const word *w) { return w[tile_start] || w[tile_end]; }

static void find_zero(builder *b, int count)
{
    b->zero = ~(word)0;
    for (int k = 0; k < count; k++) {
        check_workgroups(b, &b->records[k]);
        for (long long i = 0; i < b->records[k].workgroups; i++)
            if (record_of(&b->records[k], i)[own_entry] < b->zero) b->zero = record_of(&b->records[k], i)[own_entry];
    }
}

/* ---- units */
static void list_units(builder *b, int count)
{
    size_t room = 1, n = 0;
    for (int k = 0; k < count; k++) room += (size_t)b->records[k].workgroups;
    word *list = arena_alloc(b->a, room * sizeof *list);
    for (int k = 0; k < count; k++)
        for (long long i = 0; i < b->records[k].workgroups; i++) list[n++] = record_of(&b->records[k], i)[own_unit];
    qsort(list, n, sizeof *list, by_word);
    int kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || list[kept - 1] != list[i]) list[kept++] = list[i];
    b->t->units = list, b->t->unit_count = kept;
    if (b->t->device_units < kept) b->t->device_units = kept;
}

static int unit_index(const builder *b, word unit)
{
    const word *at = bsearch(&unit, b->t->units, (size_t)b->t->unit_count, sizeof unit, by_word);
    return (int)(at - b->t->units);
}

/* ---- tiles */
static void read_tiles(const builder *b, int launch, timeline_launch *l)
{
    const trace_records *r = &b->records[launch];
    timeline_tile *list = arena_alloc(b->a, ((size_t)r->places + 1) * sizeof *list);
    for (long long i = 0; i < r->places; i++) {
        const word *w = tile_record(r, i);
        if (!has_tile(w)) continue;
        check_tile(b, r, i, w);
        const int workgroup = (int)(w[tile_where] & 0xffffffff);
        list[l->tile_count++] = (timeline_tile){.launch = launch,
                                                .workgroup = workgroup,
                                                .warpgroup = (int)(w[tile_where] >> 32),
                                                .unit = unit_index(b, record_of(r, workgroup)[own_unit]),
                                                .tile = i,
                                                .start = time_of(b, w[tile_start]),
                                                .computed = time_of(b, w[tile_computed]),
                                                .end = time_of(b, w[tile_end]),
                                                .asked = time_of(b, w[tile_asked]),
                                                .data = time_of(b, w[tile_data])};
    }
    const word told = record_of(r, 0)[own_tiles];
    if (told && told != (word)l->tile_count)
        bail(b->a, code_device, (position){0}, "internal: %s has %llu tiles, of which %lld left a trace", r->name, told, l->tile_count);
    qsort(list, (size_t)l->tile_count, sizeof *list, by_start);
    l->tiles = list;
}

static double larger(double x, double y) { return x > y ? x : y; }

static void read_workgroups(const builder *b, const trace_records *r, timeline_launch *l)
{
    double waited = 0;
    int told = 0;
    bool *seen = arena_alloc(b->a, (size_t)b->t->unit_count + 1);
    l->begin = -1;
    for (long long i = 0; i < r->workgroups; i++) {
        const word *w = record_of(r, i);
        const double entry = time_of(b, w[own_entry]);
        bool *unit = &seen[unit_index(b, w[own_unit])];
        l->units += !*unit, *unit = true;
        if (l->begin < 0 || entry < l->begin) l->begin = entry;
        l->end = larger(l->end, larger(entry, time_of(b, w[own_exit])));
        if (w[own_ready]) waited += time_of(b, w[own_ready]) - entry, told++;
    }
    l->workgroups = (int)r->workgroups;
    l->ahead = told ? waited / told : -1;
}

/* ---- what tiles say */
static void add_up_tiles(const builder *b, timeline_launch *l)
{
    double *times = arena_alloc(b->a, ((size_t)l->tile_count + 1) * sizeof *times), all = 0, stores = 0, waits = 0;
    bool told = false;
    l->first = l->begin, l->last = l->begin;
    for (long long i = 0; i < l->tile_count; i++) {
        const timeline_tile *t = &l->tiles[i];
        times[i] = t->end - t->start;
        all += times[i], stores += t->end - t->computed;
        if (t->data >= 0) waits += t->data - t->start, told = true;
        if (i == 0) l->first = t->start;
        l->last = larger(l->last, t->end);
        if (!l->worst || times[i] > l->longest) l->worst = t, l->longest = times[i];
    }
    l->end = larger(l->end, l->last);
    l->stores = !l->sums ? -1 : all > 0 ? stores / all : 0;
    l->data = !told ? -1 : all > 0 ? waits / all : 0;
    if (l->tile_count) l->median = spread_of(times, (int)l->tile_count).median;
}

static double ready_at(const timeline_tile *t) { return t->data >= 0 ? t->data : t->start; }

static timeline_phase timeline_phase_of(const builder *b, const timeline_launch *l, const trace_phase *phase, long long from)
{
    timeline_phase x = {.name = phase->name};
    double *times = arena_alloc(b->a, ((size_t)phase->tiles + 1) * sizeof *times);
    for (long long i = 0; i < l->tile_count; i++) {
        const timeline_tile *t = &l->tiles[i];
        if (t->tile < from || t->tile >= from + phase->tiles) continue;
        const double ready = ready_at(t);
        if (!x.tiles || t->start < x.first) x.first = t->start;
        if (!x.tiles || ready < x.ready) x.ready = ready;
        x.last_ready = larger(x.last_ready, ready), x.end = larger(x.end, t->end);
        times[x.tiles++] = t->end - ready;
    }
    if (x.tiles) x.median = spread_of(times, (int)x.tiles).median;
    return x;
}

static void split_phases(const builder *b, const trace_records *r, timeline_launch *l)
{
    timeline_phase *list = arena_alloc(b->a, ((size_t)r->phase_count + 1) * sizeof *list);
    long long from = 0;
    for (int i = 0; i < r->phase_count; from += r->phases[i++].tiles) list[i] = timeline_phase_of(b, l, &r->phases[i], from);
    l->phases = list, l->phase_count = r->phase_count;
}

/* Busy time of one unit, accumulated over tiles in order of start. */
typedef struct occupied {
    double first, until, busy;
    bool any;
} occupied;

static void occupy(occupied *o, const timeline_tile *t)
{
    if (!o->any) *o = (occupied){t->start, t->start, 0, true};
    const double from = larger(t->start, o->until);
    if (t->end > from) o->busy += t->end - from, o->until = t->end;
}

static void share_out(const builder *b, timeline_launch *l)
{
    const double length = l->end - l->begin, all = length * b->t->device_units;
    occupied *units = arena_alloc(b->a, ((size_t)b->t->unit_count + 1) * sizeof *units);
    for (long long i = 0; i < l->tile_count; i++) occupy(&units[l->tiles[i].unit], &l->tiles[i]);
    int with = 0;
    for (int i = 0; i < b->t->unit_count && all > 0; i++) {
        const occupied *o = &units[i];
        if (!o->any) continue;
        with++;
        l->busy += o->busy / all;
        l->before += (o->first - l->begin) / all;
        l->between += (o->until - o->first - o->busy) / all;
        l->after += (l->end - o->until) / all;
    }
    l->unused = (double)(b->t->device_units - with) / b->t->device_units;
}

/* ---- all launches together */
static timeline_tile **all_tiles(const builder *b, long long *count)
{
    long long n = 0;
    for (int k = 0; k < b->t->launch_count; k++) n += b->t->launches[k].tile_count;
    timeline_tile **list = arena_alloc(b->a, ((size_t)n + 1) * sizeof *list);
    n = 0;
    for (int k = 0; k < b->t->launch_count; k++)
        for (long long i = 0; i < b->t->launches[k].tile_count; i++) list[n++] = (timeline_tile *)&b->t->launches[k].tiles[i];
    *count = n;
    return list;
}

static int pointers_by_start(const void *x, const void *y)
{
    const timeline_tile *a = *(timeline_tile *const *)x, *b = *(timeline_tile *const *)y;
    if (a->launch != b->launch && a->start == b->start) return a->launch - b->launch;
    return by_start(a, b);
}

/* Gives each tile the first free lane of its unit. */
static void set_lanes(const builder *b, timeline_tile *const *list, long long count)
{
    enum { most = 64 };
    double(*until)[most] = arena_alloc(b->a, ((size_t)b->t->unit_count + 1) * sizeof *until);
    b->t->lanes = 1;
    for (long long i = 0; i < count; i++) {
        timeline_tile *t = list[i];
        while (t->lane < most - 1 && until[t->unit][t->lane] > t->start) t->lane++;
        until[t->unit][t->lane] = larger(until[t->unit][t->lane], t->end);
        if (t->lane >= b->t->lanes) b->t->lanes = t->lane + 1;
    }
}

static double least_step(const builder *b, timeline_tile *const *list, long long count)
{
    double *times = arena_alloc(b->a, (2 * (size_t)count + 1) * sizeof *times), least = 0;
    for (long long i = 0; i < count; i++) times[2 * i] = list[i]->start, times[2 * i + 1] = list[i]->end;
    qsort(times, 2 * (size_t)count, sizeof *times, by_number);
    for (long long i = 1; i < 2 * count; i++) {
        const double step = times[i] - times[i - 1];
        if (step > 0 && (least == 0 || step < least)) least = step;
    }
    return least;
}

static void join_launches(const builder *b)
{
    timeline *t = b->t;
    long long count;
    timeline_tile **list = all_tiles(b, &count);
    occupied *units = arena_alloc(b->a, ((size_t)t->unit_count + 1) * sizeof *units);
    qsort(list, (size_t)count, sizeof *list, pointers_by_start);
    set_lanes(b, list, count);
    t->resolution = least_step(b, list, count);
    for (int k = 0; k < t->launch_count; k++) t->length = larger(t->length, t->launches[k].end);
    for (long long i = 0; i < count; i++) occupy(&units[list[i]->unit], list[i]);
    for (int i = 0; i < t->unit_count && t->length > 0; i++) t->busy += units[i].busy / t->length / t->device_units;
    for (int k = 1; k < t->launch_count; k++) t->launches[k].gap = t->launches[k].first - t->launches[k - 1].last;
}

timeline *timeline_make(arena *a, const trace_records *records, int count, double nanoseconds, int device_units)
{
    timeline *t = arena_alloc(a, sizeof *t);
    builder b = {.a = a, .t = t, .records = records, .nanoseconds = nanoseconds};
    *t = (timeline){.launches = arena_alloc(a, ((size_t)count + 1) * sizeof *t->launches), .device_units = device_units};
    find_zero(&b, count);
    list_units(&b, count);
    for (t->launch_count = 0; t->launch_count < count; t->launch_count++) {
        timeline_launch *l = &t->launches[t->launch_count];
        const trace_records *r = &records[t->launch_count];
        *l = (timeline_launch){.name = r->name, .ops = r->ops, .sums = r->sums};
        read_workgroups(&b, r, l);
        read_tiles(&b, t->launch_count, l);
        add_up_tiles(&b, l);
        split_phases(&b, r, l);
        share_out(&b, l);
    }
    join_launches(&b);
    return t;
}
