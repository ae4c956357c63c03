/* Products of 16-bit operands whose epilogue only rounds, on wgmma: the cost of a launch, and the search for a tile with swapped operands.
 * Everything was fitted to tiles of such products; other epilogues have the costs of swap_ab_rows.c and warpgroups.c. */
#ifndef TFGEN_GEN_ROUNDED_H
#define TFGEN_GEN_ROUNDED_H
#include "gen/program/products.h"

/* True if the epilogue only rounds, both operands are multiplied as they are, in one pass, and K is no longer than was timed. */
bool is_rounded_16_bits(const problem *p);
void swap_ab_rounded_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d);
/* Expects what ws_cost() sets. */
void ws_rounded_cost(const problem *p, const gemm_warpgroups_tile *x, cost_descriptor *d);
/* Tries tiles of all sizes. One that is clearly predicted faster than *best replaces it. by: gemm_swap_ab_program. */
void swap_ab_rounded_choose(const problem *p, const program *by, gemm_swap_ab_tile *best);

/* The most predicted time, over that of the tile that the costs of any epilogue choose, with which another tile is chosen. Many tiles are
 * predicted alike, so the one of least predicted time often takes longer than predicted: of 114 drawn products 31 were faster by more than
 * 5 % with that tile than with the other costs' tile, 15 slower; with this limit 18 and 4. */
static const double rounded_clearly = 0.92;
#endif
