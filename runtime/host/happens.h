/* In: what waves of a checked launch do: collectives, barriers, atomics, fences.
 * Out: whether an earlier access of one wave is ordered before what another wave does now.
 * Does not follow atomics between blocks of very large grids; it then sets `lost`. */
#ifndef TFGEN_HOST_HAPPENS_H
#define TFGEN_HOST_HAPPENS_H

#include "runtime/host/engine.h"

/* Which lanes of a wave are ordered with each other since the last collective or barrier that ordered all of them. */
typedef struct lane_order {
    uint32_t tick;            /* accesses up to this tick are ordered for all lanes */
    uint64_t released;        /* lanes that have released something since that tick */
    bool fenced;              /* a release fence since the last barrier */
    uint64_t acquired[HS_MAX_WAVE]; /* by lane: the lanes that had released before its last acquire */
} lane_order;

/* Vector clocks with one component per wave, which ticks at collectives that order its lanes, at barriers and at releases. seen[v]:
 * everything that wave v did up to this tick happened before. A lane's release or acquire counts for its whole wave, and within the wave
 * for every address: races may be missed, none are invented. */
typedef struct happens {
    unsigned waves, columns, rows, per_block; /* numbers of waves: in the grid, in a clock, resident at once, in a block */
    uint32_t *ticks;                           /* [waves]: the clock of each */
    uint32_t *seen, *released, *pending;       /* [rows][columns]; released: what was seen at the last release fence; pending: what relaxed
                                                * atomics read, which counts as seen from the next acquire fence on */
    lane_order *lanes;                         /* [rows] */
    struct sync_place {
        uintptr_t address;
        uint32_t *row;
    } * places;
    unsigned place_count, place_room;
    bool lost; /* a release could not be followed: blocks that are not resident together then count as ordered */
} happens;

bool happens_fits(unsigned blocks, unsigned waves_per_block); /* clocks of this many concurrent blocks stay within the size limit */
/* together: how many blocks run at once. False: too many, or no memory; call happens_close() in any case. */
bool happens_open(happens *h, unsigned blocks, unsigned waves_per_block, unsigned together);
void happens_close(happens *h);
void happens_block(happens *h, unsigned block);               /* its waves begin */
void happens_collective(happens *h, unsigned wave);           /* one that orders its lanes; wave: index in the grid */
void happens_barrier(happens *h, unsigned block, unsigned waves); /* among the first `waves` waves of the block */
void happens_grid(happens *h);
void happens_sync(happens *h, unsigned wave, unsigned lane, uintptr_t address, int kind);
bool happens_before(const happens *h, unsigned earlier, uint32_t tick, unsigned wave);
/* True if what `lanes` of the wave did at a tick happened before what `lane` of the same wave does now. */
bool happens_lanes(const happens *h, unsigned wave, uint32_t tick, uint64_t lanes, unsigned lane);

#endif
