/* What the two programs of products on wgmma share (templates/frame/frame_ws.h): what a launch of 128-row tiles asks of a device, the parts
 * that a tile's length is cut into, and their memory. */
#ifndef TFGEN_GEN_WARPGROUPS_H
#define TFGEN_GEN_WARPGROUPS_H
#include "gen/program/products.h"

enum { warpgroup_rows = 128, warpgroup_threads = 384 };

/* Sets what follows from a tile's width, parts and cluster. */
typedef void ws_fill(const problem *p, ir_tile *t);
typedef struct ws_search {
    const int *widths; /* the first is the default */
    int count, most_cluster;
    double clearly; /* with which share of a wider one's work of the busiest unit a width that seems as fast is taken in its place */
    int first_cut, widest_cut; /* widths whose length may be cut, from this one on; most columns where it has to be cut */
    ws_fill *fill;
} ws_search;
/* The best width of whole tiles by the model, then parts. */
void ws_choose(const problem *p, const program *by, const ws_search *s, ir_tile *t);
void ws_cost(const problem *p, const ir_tile *t, int operands, cost_descriptor *d); /* operands: copies of B */
const char *ws_illegal(const problem *p, const ir_tile *t);
long long ws_shared_bytes(const ir_tile *t, int operands); /* operands: copies of B */
void ws_geometry(const problem *p, const ir_tile *t, tile_extents *to);
int ws_parts(const problem *p, const ir_tile *t);
extent ws_scratch(const problem *p, const ir_tile *t);
enum { smem_epilogue_bytes = 18432 }; /* gemm_ws<...>::scratch_bytes of tiles with smem_epilogue=1 */
#endif
