/* What the two programs of products on wgmma share (templates/frame/frame_ws.h): the cycles of a launch of 128-row tiles, the parts that a
 * tile's length is cut into, and their memory. */
#ifndef TFGEN_GEN_WARPGROUPS_H
#define TFGEN_GEN_WARPGROUPS_H
#include "gen/program/products.h"

enum { warpgroup_rows = 128, warpgroup_threads = 384 };

typedef struct ws_choice { /* of width and parts, with the cycles that the launch takes by the model */
    int n, split;
    double cycles;
} ws_choice;

/* Cycles of one stage of a tile of n columns. */
typedef double ws_stage_model(long long n);

double ws_cycles(const tile_request *r, long long n, int k, ws_stage_model *stage);
/* The best width of `widths` (the first is the default), then parts for any width from `first_cut` on; at most `widest_cut` columns where a
 * length has to be cut. */
ws_choice ws_choose(const tile_request *r, int k, ws_stage_model *stage, const int *widths, int count, int first_cut, int widest_cut);
/* The tiles of wgmma and wgmma3 have the same fields: t->gemm_wgmma serves both. */
const char *ws_illegal(const tile_request *r, const ir_tile *t);
long long ws_shared_bytes(const ir_tile *t, int operands); /* operands: copies of B */
void ws_geometry(const tile_request *r, const ir_tile *t, launch *l);
int ws_parts(const tile_request *r, const ir_tile *t);
extent ws_scratch(const tile_request *r, const ir_tile *t);
enum { ws_stage_bytes = 18432 }; /* gemm_ws<...>::scratch_bytes of tiles with stage=1 */
#endif
