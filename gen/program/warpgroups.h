/* What gemm_wgmma and gemm_wgmma_3xtf32 share (templates/frame/frame_ws.h): the choice of a tile's width and split-K, its cost, and its
 * shared memory. */
#ifndef TFGEN_GEN_WARPGROUPS_H
#define TFGEN_GEN_WARPGROUPS_H
#include "gen/program/products.h"

enum { warpgroup_rows = 128, warpgroup_threads = 384 };

/* Threads of a tile: two warpgroups that compute, and one that loads, unless a warp of the launch does (ir_graph.feeds). */
int ws_thread_count(const problem *p);

/* Sets the fields that follow from a tile's width, split_k and cluster. */
typedef void ws_fill(const problem *p, ir_tile *t);
typedef struct ws_search {
    const int *widths; /* widths of tiles to try, the widest first */
    int count, most_cluster;
    double clearly; /* a narrower width of equal predicted time wins if its busiest unit has less than this share of the wider one's work */
    int first_cut, widest_cut; /* index of the first width tried with split-K; the widest tile if K is split for accuracy */
    ws_fill *fill;
} ws_search;
/* Sets t to the fastest predicted tile: first a width without split-K, then a cluster, then split_k. by: the program. */
void ws_choose(const problem *p, const program *by, const ws_search *s, ir_tile *t);
void ws_cost(const problem *p, const ir_tile *t, int operands, cost_descriptor *d); /* operands: copies of B per stage (3xTF32: 2) */
const char *ws_illegal(const problem *p, const ir_tile *t);
long long ws_shared_bytes(const ir_tile *t, int columns); /* columns: rows of 128 bytes that a stage has of B */
void ws_geometry(const problem *p, const ir_tile *t, tile_extents *to);
double ws_meeting_cycles(const problem *p, const gemm_warpgroups_tile *x); /* that reducing the slices of a tile takes (split-K) */
bool ws_shares(const problem *p, const gemm_warpgroups_tile *x); /* each slice reduces a share of the tile (templates/gemm/k_shares.h) */
int ws_partials(const problem *p, const ir_tile *t);
extent ws_scratch(const problem *p, const ir_tile *t);
enum { smem_epilogue_bytes = 18432 }; /* gemm_ws<...>::scratch_bytes of tiles with smem_epilogue=1 */
#endif
