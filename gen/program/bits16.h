/* Products of 16-bit operands on wgmma: the cost of a launch, and the search for a tile with swapped operands. Fitted to timed tiles of
 * products, matmuls and linears with epilogues; what was not timed has the usual costs, those of swap_ab_rows.c and warpgroups.c. */
#ifndef TFGEN_GEN_BITS16_H
#define TFGEN_GEN_BITS16_H
#include "gen/program/products.h"

/* True if such products were timed: both operands are multiplied as they are, in one pass; K and the number of rows are in the timed range;
 * the epilogue of a matmul only rounds. */
bool has_16_bit_costs(const problem *p);
void swap_ab_16_bit_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d);
/* Expects what ws_cost() sets. */
void ws_16_bit_cost(const problem *p, const gemm_warpgroups_tile *x, cost_descriptor *d);
/* Tries tiles of all sizes. One that is clearly predicted faster than *best replaces it. by: gemm_swap_ab_program. */
void swap_ab_16_bit_choose(const problem *p, const program *by, gemm_swap_ab_tile *best);

/* The most predicted time, over that of the tile that the usual costs choose, with which another tile is chosen. Many tiles are predicted
 * alike, so the one of least predicted time often takes longer than predicted. */
double clearly_16_bit(const problem *p);
#endif
