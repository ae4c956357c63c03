/* In: accesses of lanes. Out: requests, each of which is one execution of an instruction by the lanes of a wave: counted in the
 * instruction's row, with the lines touched.
 *
 * The host engine runs lanes one by one, so this file regroups their accesses: the n-th access by the same code since the lanes' last
 * collective or barrier is one request, as lanes on the same path through the code execute it together. */
#include "runtime/cli/access/recording.h"
#include <stdlib.h>
#include <string.h>

#define COMPARE(field) \
    if (x->field != y->field) return x->field < y->field ? -1 : 1

static int by_lane(const void *left, const void *right)
{
    const event *x = left, *y = right;
    COMPARE(block);
    COMPARE(wave);
    COMPARE(lane);
    COMPARE(code);
    COMPARE(meetings);
    COMPARE(time);
    return 0;
}

static int by_request(const void *left, const void *right)
{
    const event *x = left, *y = right;
    COMPARE(block);
    COMPARE(wave);
    COMPARE(code);
    COMPARE(meetings);
    COMPARE(order);
    COMPARE(lane);
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const touch *x = left, *y = right;
    COMPARE(block);
    COMPARE(time);
    COMPARE(line);
    return 0;
}

static bool is_same_lane(const event *x, const event *y)
{
    return x->block == y->block && x->wave == y->wave && x->lane == y->lane && x->code == y->code && x->meetings == y->meetings;
}

static bool is_same_request(const event *x, const event *y)
{
    return x->block == y->block && x->wave == y->wave && x->code == y->code && x->meetings == y->meetings && x->order == y->order &&
           x->memory == y->memory && !x->bulk;
}

/* ---- bytes of a request */
typedef struct piece {
    unsigned long long low, high;
} piece;

static int by_place(const void *left, const void *right)
{
    const piece *x = left, *y = right;
    COMPARE(low);
    return 0;
}

/* The number of units of `size` bytes (sectors, lines) that the sorted pieces touch; calls `told` for each, unless NULL. */
static double units_of(const piece *all, int n, unsigned long long size, void (*told)(void *context, unsigned long long unit),
                       void *context)
{
    unsigned long long next = 0; /* the first unit not counted yet */
    double count = 0;
    for (int i = 0; i < n; i++)
        for (unsigned long long unit = all[i].low / size > next ? all[i].low / size : next; unit <= (all[i].high - 1) / size; unit++) {
            count++, next = unit + 1;
            if (told) told(context, unit);
        }
    return count;
}

/* ---- one request */
static access_row *row_of(recording *r, const event *e)
{
    const unsigned flags = (unsigned)(e->kind | e->bulk << 2 | e->matrix << 3), place = ((const unsigned *)r->placed.items)[e->code];
    const unsigned long long key = (unsigned long long)e->memory << 48 | (unsigned long long)place << 4 | flags;
    const unsigned number = number_of(&r->row_keys, key, &r->failed);
    if (r->failed) return NULL;
    if (number < r->rows.count) return (access_row *)r->rows.items + number;
    access_row *added = list_add(&r->rows, sizeof *added, &r->failed);
    if (!added) return NULL;
    *added = (access_row){.memory = ((const struct memory *)r->memories.items)[e->memory].name,
                          .place = ((const access_place *)r->places.items)[place],
                          .kind = (host_access_kind)e->kind,
                          .bulk = e->bulk,
                          .matrix = e->matrix,
                          .width = (int)e->bytes};
    return added;
}

typedef struct toucher {
    recording *r;
    const event *first;
} toucher;

static void touch_line(void *context, unsigned long long line)
{
    const toucher *t = context;
    recording *r = t->r;
    touch *added = list_add(&r->touches, sizeof *added, &r->failed);
    if (!added) return;
    *added = (touch){t->first->block, t->first->time, number_of(&r->lines, (unsigned long long)t->first->memory << 48 | line, &r->failed)};
    const bool read = t->first->kind != HOST_WRITE;
    if (read && !r->failed) r->lines.marks[added->line] |= 1ull << t->first->block % (unsigned)r->o->device->chiplets;
}

static access_example example_of(const event *e, size_t n, const target_info *target)
{
    access_example x = {.bytes = e->bulk ? e->bytes : 0};
    x.lanes.lanes = target->wave, x.lanes.read = e->kind == HOST_READ || e->kind == HOST_ATOMIC_READ;
    for (size_t i = 0; i < n; i++) {
        const int lane = e->bulk ? 0 : e[i].lane % banks_most_lanes;
        x.lanes.present[lane] = true, x.lanes.place[lane] = e[i].offset;
        if ((int)e[i].bytes > x.lanes.bytes) x.lanes.bytes = (int)e[i].bytes;
    }
    return x;
}

/* Keeps as an example the request with the most bank conflicts. */
static void count_shared(const recording *r, const event *e, size_t n, access_row *row)
{
    const target_info *target = r->o->device->target;
    const access_example x = example_of(e, n, target);
    bank_cost cost = {.cycles = (int)((e->bytes + 127) / 128), .least = (int)((e->bytes + 127) / 128), .ways = 1};
    if (!e->bulk) cost = banks_cost(target, &x.lanes);
    row->cycles += cost.cycles, row->least_cycles += cost.least;
    if (row->requests == 0 || cost.ways > row->ways) row->worst = x;
    if (cost.ways > row->ways) row->ways = cost.ways;
}

/* Marks the sectors that a workgroup's requests touch, and the bytes used of each. With 128-byte sectors a mark is for 2 bytes. */
static void keep_sectors(recording *r, const event *e, size_t n, unsigned row)
{
    const unsigned sector = (unsigned)r->o->device->target->sector_bytes, part = sector > 64 ? sector / 64 : 1;
    for (size_t i = 0; i < n; i++)
        for (unsigned long long at = e[i].offset / part; at <= (e[i].offset + e[i].bytes - 1) / part; at++) {
            const unsigned long long in = at * part;
            const unsigned number = number_of(&r->sectors, (unsigned long long)row << 44 | in / sector, &r->failed);
            if (r->failed) return;
            r->sectors.marks[number] |= 1ull << in % sector / part;
        }
}

static void count_sectors(recording *r)
{
    const unsigned sector = (unsigned)r->o->device->target->sector_bytes, part = sector > 64 ? sector / 64 : 1;
    access_row *rows = r->rows.items;
    for (size_t i = 0; i < r->sectors.count; i++) {
        access_row *row = &rows[r->sectors.keys[i] >> 44];
        row->brought++, row->kept += __builtin_popcountll(r->sectors.marks[i]) * part;
    }
    number_close(&r->sectors);
}

static void count_memory(recording *r, const event *e, size_t n, access_row *row)
{
    const target_info *target = r->o->device->target;
    piece all[banks_most_lanes];
    toucher t = {r, e};
    for (size_t i = 0; i < n; i++) {
        all[i] = (piece){e[i].offset, e[i].offset + e[i].bytes};
        if (e[i].time < t.first->time) t.first = &e[i];
    }
    qsort(all, n, sizeof *all, by_place);
    const double used = units_of(all, (int)n, 1, NULL, NULL), sectors = units_of(all, (int)n, (unsigned)target->sector_bytes, NULL, NULL);
    const double least = (double)((long long)(used + target->sector_bytes - 1) / target->sector_bytes);
    row->used += used, row->sectors += sectors, row->least += least;
    row->lines += units_of(all, (int)n, (unsigned)target->line_bytes, touch_line, &t);
    if (row->requests == 0 || (int)(sectors - least) > row->ways) row->worst = example_of(e, n, target);
    if (row->requests == 0 || (int)(sectors - least) > row->ways) row->ways = (int)(sectors - least); /* sectors beyond the least */
}

static void count_request(recording *r, const event *e, size_t n)
{
    access_row *row = row_of(r, e);
    if (!row || n > banks_most_lanes) return;
    if (e->memory) count_memory(r, e, n, row), keep_sectors(r, e, n, (unsigned)(row - (access_row *)r->rows.items));
    else count_shared(r, e, n, row);
    row->requests++, row->lanes += (double)n;
    for (size_t i = 0; i < n; i++) {
        row->asked += e[i].bytes;
        if ((int)e[i].bytes != row->width) row->width = 0;
    }
}

/* Appends the touched lines to the stream in order of time. */
static void keep_touches(recording *r)
{
    touch *all = r->touches.items;
    if (r->touches.count) qsort(all, r->touches.count, sizeof *all, by_time);
    for (size_t i = 0; i < r->touches.count; i++) {
        if (i == 0 || all[i].block != all[i - 1].block) {
            struct start *start = list_add(&r->starts, sizeof *start, &r->failed);
            if (start) *start = (struct start){r->stream.count, all[i].block};
        }
        unsigned *line = list_add(&r->stream, sizeof *line, &r->failed);
        if (line) *line = all[i].line;
    }
    r->touches.count = 0;
}

void requests_make(recording *r)
{
    event *all = r->events.items;
    const size_t count = r->events.count;
    places_find(r);
    if (count) qsort(all, count, sizeof *all, by_lane);
    for (size_t i = 1; i < count; i++) all[i].order = is_same_lane(&all[i - 1], &all[i]) ? all[i - 1].order + 1 : 0;
    qsort(all, count, sizeof *all, by_request);
    for (size_t i = 0, n; i < count && !r->failed; i += n) {
        for (n = 1; i + n < count && is_same_request(&all[i], &all[i + n]); n++) {}
        count_request(r, &all[i], n);
    }
    if (!r->failed) count_sectors(r);
    keep_touches(r);
    r->events.count = 0;
}
