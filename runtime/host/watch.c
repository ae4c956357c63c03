/* In: accesses, meetings (collectives, barriers) and stand-ins (code that emulates a GPU instruction) of a checked launch.
 * Out: calls of host_watch: each access as the GPU's instruction makes it, with the number of meetings of the lane so far. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "runtime/host/engine.h"

struct watched_lane {
    unsigned meetings, stand_ins; /* stand_ins: nesting depth of stand-ins, whose own accesses are not reported */
};

static const host_watch *watch_of(const launch *l) { return l->engine->options.watch; }

void watch_begin(launch *l)
{
    if (watch_of(l)) watch_of(l)->begin(watch_of(l)->context, l->kernel, l->dims, l->module);
}

void watch_end(launch *l)
{
    if (watch_of(l)) watch_of(l)->end(watch_of(l)->context);
}

bool watch_block(block *b)
{
    if (!watch_of(b->launch)) return true;
    const size_t lanes = (size_t)b->shape.waves * b->shape.wave;
    if (!b->lanes) b->lanes = malloc(lanes * sizeof *b->lanes);
    if (b->lanes) memset(b->lanes, 0, lanes * sizeof *b->lanes);
    return b->lanes != NULL;
}

void watch_drop(block *b)
{
    free(b->lanes);
    b->lanes = NULL;
}

static struct watched_lane *lane_of(const hs_wave *w, unsigned lane)
{
    const block *b = block_of(w);
    return b->lanes ? &b->lanes[w->idx * b->shape.wave + lane] : NULL;
}

void watch_meeting(hs_wave *w, hs_u64 lanes)
{
    if (!block_of(w)->lanes) return;
    for (hs_u64 m = lanes; m; m &= m - 1) lane_of(w, (unsigned)__builtin_ctzll(m))->meetings++;
}

void watch_stand_in(const hs_thread *t, int kind)
{
    struct watched_lane *lane = lane_of(t->w, t->lane);
    if (!lane) return;
    if (kind & HS_SYNC_STANDS_IN) lane->stand_ins++;
    else if (lane->stand_ins) lane->stand_ins--;
}

bool watch_stands_in(const hs_thread *t)
{
    const struct watched_lane *lane = lane_of(t->w, t->lane);
    return !lane || lane->stand_ins;
}

void watch_access(const hs_thread *t, const host_access *access, int kind)
{
    const block *b = block_of(t->w);
    const struct watched_lane *lane = lane_of(t->w, t->lane);
    const host_watch *watch = watch_of(b->launch);
    if (!lane) return;
    host_access told = *access;
    told.block = b->pub.id.x + b->pub.grid.x * (b->pub.id.y + b->pub.grid.y * b->pub.id.z);
    told.wave = t->w->idx, told.lane = t->lane, told.meetings = lane->meetings;
    told.kind = (host_access_kind)(kind & 3), told.bulk = kind & HS_CHECK_BULK, told.matrix = kind & HS_CHECK_MATRIX;
    watch->access(watch->context, &told);
}
