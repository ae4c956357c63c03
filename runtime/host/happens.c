/* See happens.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/host/happens.h"

enum { MAX_ENTRIES = 1 << 22, MAX_PLACE_ENTRIES = 1 << 25 };

static unsigned row_of(const happens *h, unsigned wave) { return wave % h->rows; }

/* Column of `wave` in the clock of wave `of`; -1: clocks cover only waves resident at the same time, and these two are not. */
static long column_of(const happens *h, unsigned wave, unsigned of)
{
    if (h->columns == h->waves) return wave;
    return wave / h->rows == of / h->rows ? (long)(wave % h->rows) : -1;
}

static uint32_t *row(const happens *h, uint32_t *rows, unsigned wave) { return rows + (size_t)row_of(h, wave) * h->columns; }

static void join(const happens *h, uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < h->columns; i++) to[i] = to[i] > from[i] ? to[i] : from[i];
}

bool happens_fits(unsigned blocks, unsigned waves_per_block)
{
    const uint64_t waves = (uint64_t)blocks * waves_per_block;
    return waves * waves <= MAX_ENTRIES;
}

bool happens_open(happens *h, unsigned blocks, unsigned waves_per_block, unsigned together)
{
    *h = (happens){.waves = blocks * waves_per_block, .per_block = waves_per_block, .rows = together * waves_per_block};
    h->columns = (uint64_t)h->rows * h->waves <= MAX_ENTRIES ? h->waves : h->rows;
    if ((uint64_t)h->rows * h->columns > MAX_ENTRIES) return false;
    const size_t n = (size_t)h->rows * h->columns;
    h->ticks = malloc(h->waves * sizeof *h->ticks);
    h->seen = calloc(n, sizeof *h->seen);
    h->released = calloc(n, sizeof *h->released);
    h->pending = calloc(n, sizeof *h->pending);
    h->lanes = calloc(h->rows, sizeof *h->lanes);
    if (!h->ticks || !h->seen || !h->released || !h->pending || !h->lanes) return false;
    for (unsigned i = 0; i < h->waves; i++) h->ticks[i] = 1;
    return true;
}

void happens_close(happens *h)
{
    for (unsigned i = 0; i < h->place_room; i++) free(h->places[i].row);
    free(h->places);
    free(h->ticks);
    free(h->seen);
    free(h->released);
    free(h->pending);
    free(h->lanes);
}

void happens_block(happens *h, unsigned block)
{
    const unsigned first = block * h->per_block;
    const size_t bytes = (size_t)h->per_block * h->columns * sizeof *h->seen;
    memset(row(h, h->seen, first), 0, bytes);
    memset(row(h, h->released, first), 0, bytes);
    memset(row(h, h->pending, first), 0, bytes);
    memset(&h->lanes[row_of(h, first)], 0, h->per_block * sizeof *h->lanes);
}

static void order_lanes(happens *h, unsigned wave)
{
    lane_order *l = &h->lanes[row_of(h, wave)];
    l->tick = h->ticks[wave]++;
    if (l->released) memset(l->acquired, 0, sizeof l->acquired);
    l->released = 0;
}

void happens_collective(happens *h, unsigned wave) { order_lanes(h, wave); }

/* Release fences are cumulative across a barrier: if a wave executes a release fence before the barrier, a relaxed store after the barrier
 * by any of its waves publishes what that fence released. */
static void share_released(happens *h, unsigned first, unsigned n)
{
    bool fenced = false;
    for (unsigned i = 0; i < n; i++) {
        lane_order *l = &h->lanes[row_of(h, first + i)];
        fenced |= l->fenced;
        l->fenced = false;
    }
    if (!fenced) return;
    uint32_t *all = row(h, h->released, first);
    for (unsigned i = 1; i < n; i++) join(h, all, row(h, h->released, first + i));
    for (unsigned i = 1; i < n; i++) memcpy(row(h, h->released, first + i), all, h->columns * sizeof *all);
}

/* A barrier of waves [first, first + n): each has now seen everything that any of them had seen or done. */
static void meet(happens *h, unsigned first, unsigned n)
{
    share_released(h, first, n);
    uint32_t *all = row(h, h->seen, first);
    for (unsigned i = 1; i < n; i++) join(h, all, row(h, h->seen, first + i));
    for (unsigned i = 0; i < n; i++) {
        all[column_of(h, first + i, first)] = h->ticks[first + i];
        order_lanes(h, first + i);
    }
    for (unsigned i = 1; i < n; i++) memcpy(row(h, h->seen, first + i), all, h->columns * sizeof *all);
}

void happens_barrier(happens *h, unsigned block, unsigned waves) { meet(h, block * h->per_block, waves); }
void happens_grid(happens *h) { meet(h, 0, h->waves); }

/* ---- atomics ---- */

static struct sync_place *slot_of(struct sync_place *places, unsigned room, uintptr_t address)
{
    unsigned i = (unsigned)((address >> 1) * 0x9e3779b97f4a7c15ull >> 32) & (room - 1);
    while (places[i].address && places[i].address != address) i = (i + 1) & (room - 1);
    return &places[i];
}

static bool grow(happens *h)
{
    const unsigned room = h->place_room ? 2 * h->place_room : 64;
    if ((uint64_t)room * h->columns > MAX_PLACE_ENTRIES) return false;
    struct sync_place *places = calloc(room, sizeof *places);
    if (!places) return false;
    for (unsigned i = 0; i < h->place_room; i++)
        if (h->places[i].address) *slot_of(places, room, h->places[i].address) = h->places[i];
    free(h->places);
    h->places = places;
    h->place_room = room;
    return true;
}

static uint32_t *place_of(happens *h, uintptr_t address, bool make)
{
    if (!h->place_room && !make) return NULL;
    if (make && 2 * h->place_count >= h->place_room && !grow(h)) return NULL;
    struct sync_place *p = slot_of(h->places, h->place_room, address);
    if (p->address || !make) return p->address ? p->row : NULL;
    p->row = calloc(h->columns, sizeof *p->row);
    if (!p->row) return NULL;
    p->address = address;
    h->place_count++;
    return p->row;
}

static bool is_empty(const happens *h, const uint32_t *r)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < h->columns; i++) any |= r[i];
    return !any;
}

/* A release publishes everything that the wave has seen and done, a relaxed store only what it had at its last release fence. */
static void publish(happens *h, unsigned wave, uintptr_t address, bool release)
{
    const uint32_t *from = row(h, release ? h->seen : h->released, wave);
    if (!release && is_empty(h, from)) return;
    uint32_t *to = place_of(h, address, true);
    if (!to || h->columns != h->waves) h->lost = true;
    if (!to) return;
    join(h, to, from);
    if (release) to[column_of(h, wave, wave)] = h->ticks[wave]++;
}

static void sync_lanes(lane_order *l, unsigned lane, int kind)
{
    l->acquired[lane] |= l->released;
    if (!(kind & HS_SYNC_LOAD)) l->released |= 1ull << lane;
}

bool happens_lanes(const happens *h, unsigned wave, uint32_t tick, uint64_t lanes, unsigned lane)
{
    const lane_order *l = &h->lanes[row_of(h, wave)];
    return tick <= l->tick || !(lanes & ~(l->acquired[lane] | 1ull << lane));
}

void happens_sync(happens *h, unsigned wave, unsigned lane, uintptr_t address, int kind)
{
    sync_lanes(&h->lanes[row_of(h, wave)], lane, kind);
    uint32_t *seen = row(h, h->seen, wave), *pending = row(h, h->pending, wave);
    if (kind & HS_SYNC_FENCE) {
        if (kind & HS_SYNC_ACQUIRE) join(h, seen, pending);
        if (kind & HS_SYNC_RELEASE) {
            uint32_t *released = row(h, h->released, wave);
            memcpy(released, seen, h->columns * sizeof *seen);
            released[column_of(h, wave, wave)] = h->ticks[wave]++;
            h->lanes[row_of(h, wave)].fenced = true;
        }
        return;
    }
    const uint32_t *at = place_of(h, address, false);
    if (at) join(h, kind & HS_SYNC_ACQUIRE ? seen : pending, at);
    if (!(kind & HS_SYNC_LOAD)) publish(h, wave, address, kind & HS_SYNC_RELEASE);
}

bool happens_before(const happens *h, unsigned earlier, uint32_t tick, unsigned wave)
{
    const long column = column_of(h, earlier, wave);
    if (column < 0) return h->lost;
    return row(h, h->seen, wave)[column] >= tick;
}
