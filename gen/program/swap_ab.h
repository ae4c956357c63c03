/* Tiles of products on wgmma with swapped operands (gen/program/gemm_swap_ab.c): their registers and shared memory, and the choice of a
 * tile for many rows. */
#ifndef TFGEN_GEN_SWAP_AB_H
#define TFGEN_GEN_SWAP_AB_H
#include "gen/program/products.h"

/* swap_ab_rows_beside_a_warp: the most rows of a tile that a single warp loads; for more, a warpgroup does */
enum { swap_ab_element_bytes = 2 /* of both operands in shared memory */, swap_ab_column_step = 32, swap_ab_rows_beside_a_warp = 128 };

int swap_ab_threads(int m, int n);               /* per workgroup, for a tile of m rows and n columns */
int swap_ab_members(const gemm_swap_ab_tile *x); /* workgroups that multicast to each other */
int swap_ab_rows_loaded(const problem *p, const gemm_swap_ab_tile *x); /* rows of A in a stage: m, rounded up to whole loads */
int swap_ab_column_step_of(const problem *p); /* n must be a multiple of it: swap_ab_column_step, doubled if B is [K, N] */
long long swap_ab_bytes(const problem *p, const gemm_swap_ab_tile *x); /* shared memory per workgroup */
long long swap_ab_clusters(const problem *p, const gemm_swap_ab_tile *x); /* clusters of a launch, each counted once for all slices of K */
/* Whether the stages are large enough for the tile's sums, which are written over them before the epilogue. */
bool swap_ab_sums_fit(const problem *p, const gemm_swap_ab_tile *x);
/* For a tile of more than swap_ab_rows_beside_a_warp rows, or with a tail: whether a thread's registers hold its accumulators, and those at
 * launch the results of each wgmma, if `together` workgroups share a multiprocessor. */
bool swap_ab_registers_fit(const problem *p, const gemm_swap_ab_tile *x, int together);
/* Whether results should pass through shared memory. */
bool swap_ab_stages_results(const problem *p, const gemm_swap_ab_tile *x);
int swap_ab_resident(const problem *p, const gemm_swap_ab_tile *x); /* workgroups that share a multiprocessor: 1 or 2 */
/* Sets x's stages to as many as fit if `together` workgroups share a multiprocessor: first equally many for rows and weights, then more for
 * weights, but no more than a slice has k tiles unless the tile's sums need the room. False: the tile does not fit. */
bool swap_ab_fill(const problem *p, int together, gemm_swap_ab_tile *x);

/* ---- many rows (gen/program/swap_ab_rows.c; gen/program/bits16.c) */
/* The multiprocessors, in percent, that clusters of four workgroups and more can occupy at once. On an H200 120 of 132: clusters of 4 and 8
 * that have 120 workgroups take one round, with 128 two. */
enum { swap_ab_seats = 91 };
/* Where rows of A begin: at L2 lines (0), at sectors (1), elsewhere (2). m: rows of the tile. */
int swap_ab_beginning_of_rows(const problem *p, int m);
long long swap_ab_workgroups(const problem *p, const gemm_swap_ab_tile *x); /* of a launch */
/* Whether the stores of a tile overlap little: a matmul loads nothing before the previous launch has ended, so with few rows or stages its
 * stores are not hidden (fitted to 25 matmuls). */
bool swap_ab_stores_are_exposed(const problem *p, const gemm_swap_ab_tile *x);
/* The factor by which multicast lowers a cost: 1 for one workgroup, of_two for two, of_four for more. */
double swap_ab_shared(int workgroups, double of_two, double of_four);
/* What each part of a tail's tile after the first adds to the cycles in which its parts meet: a share of those cycles per result of the
 * tile. Fitted to products of 65 to 3072 rows on an H200. */
static const double swap_ab_tail_part = 1.45 / 38400;
/* The rows of a tile if `tiles` row tiles share all rows evenly, in multiples of 8. 0: no tile may have so few or so many, or fewer tiles
 * of that size suffice. */
int swap_ab_rows_of_tile(const problem *p, long long tiles);
enum { swap_ab_most_rows = 8192 }; /* with more rows other programs are preferred if the epilogue computes */
/* True for matmuls, and for linears of more rows than gemm_swap_ab.c chooses tiles for: 64, or 128 if rows begin at L2 lines or K is longer
 * than was timed. */
bool swap_ab_many_rows(const problem *p);
bool swap_ab_choose(const problem *p, const program *by, gemm_swap_ab_tile *best); /* by: gemm_swap_ab_program. False: no tile fits */
void swap_ab_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d);

/* ---- a search for the tile of least predicted time (gen/program/swap_ab_search.c) */
typedef struct swap_ab_search {
    const problem *p;
    const program *by; /* predicts times */
    gemm_swap_ab_tile *best;
    double least; /* predicted seconds that a tile must undercut */
} swap_ab_search;

double swap_ab_seconds(const problem *p, const program *by, const gemm_swap_ab_tile *x);
/* Makes x s->best if it is predicted to take less than s->least. */
void swap_ab_compare(swap_ab_search *s, const gemm_swap_ab_tile *x);
/* Compares x, with as many stages as fit if `together` workgroups share a multiprocessor, but at most most_stages. */
void swap_ab_try(swap_ab_search *s, const gemm_swap_ab_tile *x, int together, int most_stages);
typedef struct swap_ab_shapes {
    int k, least_m, most_n, step; /* n in steps, from 64 columns */
} swap_ab_shapes;
/* Calls `try` with each shape: k, m for each number of row tiles, and n, with their threads and tail = 1, but not with n for which fewer
 * columns suffice. */
void swap_ab_try_shapes(swap_ab_search *s, const swap_ab_shapes *of, void (*try)(swap_ab_search *s, gemm_swap_ab_tile x));

/* ---- persistent workgroups (gen/program/persistent.c) */
/* Completes *d, which has the cost of a launch with tile x as if its workgroups were not persistent. k_tiles: of a tile. */
void swap_ab_persistent_cost(const problem *p, const gemm_swap_ab_tile *x, double k_tiles, cost_descriptor *d);
/* Replaces *best by a tile with persistent workgroups if that is predicted faster. by: gemm_swap_ab_program. */
void swap_ab_choose_persistent(const problem *p, const program *by, gemm_swap_ab_tile *best);
#endif
