/* Shared by the two wgmma programs for products (templates/frame/frame_ws.h): cost of a launch with tiles of 128 rows, split-K, and shared
 * memory. */
#ifndef TFGEN_GEN_WARPGROUPS_H
#define TFGEN_GEN_WARPGROUPS_H
#include "gen/program/products.h"

enum { warpgroup_rows = 128, warpgroup_threads = 384 };

/* Sets the fields that follow from a tile's width, split_k and cluster. */
typedef void ws_fill(const problem *p, ir_tile *t);
typedef struct ws_search {
    const int *widths; /* the first is the default */
    int count, most_cluster;
    double clearly; /* a narrower width of equal predicted time wins if its busiest unit has at most this share of the wider one's work */
    int first_cut, widest_cut; /* index of the first width that may use split-K; widest tile where K must be split */
    ws_fill *fill;
} ws_search;
/* Chooses the width by the cost model without split-K, then split_k. */
void ws_choose(const problem *p, const program *by, const ws_search *s, ir_tile *t);
void ws_cost(const problem *p, const ir_tile *t, int operands, cost_descriptor *d); /* operands: copies of B per stage (3xTF32: 2) */
const char *ws_illegal(const problem *p, const ir_tile *t);
long long ws_shared_bytes(const ir_tile *t, int columns); /* columns: rows of 128 bytes that B has in a stage */
void ws_geometry(const problem *p, const ir_tile *t, tile_extents *to);
bool ws_shares(const problem *p, const gemm_warpgroups_tile *x); /* each slice reduces a share of the tile (templates/gemm/k_shares.h) */
int ws_partials(const problem *p, const ir_tile *t);
extent ws_scratch(const problem *p, const ir_tile *t);
enum { smem_epilogue_bytes = 18432 }; /* gemm_ws<...>::scratch_bytes of tiles with smem_epilogue=1 */
#endif
