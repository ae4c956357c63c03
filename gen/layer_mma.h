/* In: a gemm phase and an NVIDIA target. Out: whether and how it runs on warps' matrix products (templates/gemm/gemm_mma.h): tile, shared memory.
 * Refuses nothing itself: says what is in the way. */
#ifndef TFGEN_GEN_LAYER_MMA_H
#define TFGEN_GEN_LAYER_MMA_H
#include "gen/tile.h"

typedef struct mma_tile {
    int m, n, k, threads, slots, group;
} mma_tile;

const char *mma_obstacle(const tile_request *r); /* NULL when the phase can have it */
bool mma_pays(const tile_request *r);            /* where nothing better is */
mma_tile mma_defaults(const tile_request *r);    /* packed_n is known */
const char *mma_illegal(const ir_phase *phase);  /* a tile that the template does not take: the rule; else NULL */
long long mma_shared_bytes(const ir_phase *phase, bool sums); /* stream_memory<...>::bytes */
int mma_resident(const ir_phase *phase, long long shared);    /* workgroups that share a multiprocessor's registers and shared memory */
#endif
