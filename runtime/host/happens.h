/* In: what waves of a checked launch do: collectives, barriers, atomics, fences.
 * Out: whether an earlier access of one wave is ordered before what another wave does now.
 * Refuses: to follow atomics between the blocks of very large grids; `lost` says so. */
#ifndef TFGEN_HOST_HAPPENS_H
#define TFGEN_HOST_HAPPENS_H

#include "runtime/host/engine.h"

/* What lanes of one wave have of each other since something ordered all of them (a collective, a barrier). */
typedef struct lane_order {
    uint32_t tick;            /* until when all lanes are ordered */
    uint64_t released;        /* lanes that have released something since */
    bool fenced;              /* a release fence since the last barrier */
    uint64_t acquired[HS_MAX_WAVE]; /* by lane: the lanes that had released before its last acquire */
} lane_order;

/* Vector clocks. Between waves a wave is the unit: its clock ticks at collectives that order its lanes, barriers and releases; `seen` says
 * up to which tick of each other wave everything happened before. What one lane releases or acquires counts for its wave, and within a
 * wave for all places alike: a race may be missed, none is invented. */
typedef struct happens {
    unsigned waves, columns, rows, per_block; /* waves of the grid; columns known; rows: waves that are resident */
    uint32_t *ticks;                           /* a wave of the grid */
    uint32_t *seen, *released, *pending;       /* rows x columns; the last two for fences */
    lane_order *lanes;                         /* rows */
    struct sync_place {
        uintptr_t address;
        uint32_t *row;
    } * places;
    unsigned place_count, place_room;
    bool lost; /* something was released that cannot be followed */
} happens;

bool happens_fits(unsigned blocks, unsigned waves_per_block); /* so many blocks that run at once can be followed */
bool happens_open(happens *h, unsigned blocks, unsigned waves_per_block, unsigned together); /* together: blocks that run at once */
void happens_close(happens *h);
void happens_block(happens *h, unsigned block);               /* its waves begin */
void happens_collective(happens *h, unsigned wave);           /* that orders its lanes; waves are counted over the grid */
void happens_barrier(happens *h, unsigned block);
void happens_grid(happens *h);
void happens_sync(happens *h, unsigned wave, unsigned lane, uintptr_t address, int kind);
bool happens_before(const happens *h, unsigned earlier, uint32_t tick, unsigned wave);
/* Is what these lanes of a wave did at a tick before what another lane of it does now? */
bool happens_lanes(const happens *h, unsigned wave, uint32_t tick, uint64_t lanes, unsigned lane);

#endif
