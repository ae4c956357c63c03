/* Tiles of products on wgmma with swapped operands (gen/program/gemm_swap_ab.c): registers and shared memory, and the choice of a tile for
 * more rows than a decode step has. */
#ifndef TFGEN_GEN_SWAP_AB_H
#define TFGEN_GEN_SWAP_AB_H
#include "gen/program/products.h"

enum { swap_ab_element_bytes = 2 /* of both operands in shared memory */, swap_ab_column_step = 32, swap_ab_rows_beside_a_warp = 128 };

int swap_ab_threads(int m, int n);
int swap_ab_members(const gemm_swap_ab_tile *x); /* workgroups that multicast to each other */
int swap_ab_rows_loaded(const problem *p, const gemm_swap_ab_tile *x); /* per k tile: a tile's rows, or some more */
int swap_ab_column_step_of(const problem *p); /* the step of n: swap_ab_column_step, doubled if B is [K, N] */
long long swap_ab_bytes(const problem *p, const gemm_swap_ab_tile *x); /* of shared memory */
/* The stages have room for the tile's accumulators, which reuse their memory. */
bool swap_ab_sums_fit(const problem *p, const gemm_swap_ab_tile *x);
/* The accumulators of a tile of more than swap_ab_rows_beside_a_warp rows fit the registers where `together` workgroups share a
 * multiprocessor. */
bool swap_ab_registers_fit(const gemm_swap_ab_tile *x, int together);
/* Whether results should pass through shared memory. */
bool swap_ab_stages_results(const problem *p, const gemm_swap_ab_tile *x);
int swap_ab_resident(const problem *p, const gemm_swap_ab_tile *x); /* workgroups that share a multiprocessor: 1 or 2 */
/* Sets as many stages as fit if `together` workgroups share a multiprocessor: equally many for rows and weights, then more for weights. Not
 * more than a slice has k tiles, unless the accumulators need the memory. False: it does not fit. */
bool swap_ab_fill(const problem *p, int together, gemm_swap_ab_tile *x);

/* ---- many rows (gen/program/swap_ab_rows.c): more than 64, or more than 128 if they begin at L2 lines, for which gemm_swap_ab.c was timed
 * up to 128 */
enum { swap_ab_most_rows = 8192 };
bool swap_ab_many_rows(const problem *p);
bool swap_ab_choose(const problem *p, const program *by, gemm_swap_ab_tile *best); /* false: no tile fits */
void swap_ab_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d);
#endif
