/* What programs of the family gemm share: how tiles cover rows and packed columns, how many bytes they move, how operands are aligned. */
#ifndef TFGEN_GEN_PRODUCTS_H
#define TFGEN_GEN_PRODUCTS_H
#include "gen/program/program.h"

/* ---- obstacles: each function returns why a program cannot multiply the operands, as a clause; NULL: it can */
/* Rows of A and the packed weight must be copied as they are stored. The layer must multiply A's dtype, and `weights` allow a format of the
 * weight that needs one pass along K. */
const char *obstacle_to_16_bits(const problem *p, layer_kind layer, weight_numbers weights);
/* Tensor loads (TMA) must be able to load both operands; B is a packed weight or an operand of a matmul. */
const char *obstacle_to_boxes(const problem *p);
/* As obstacle_to_boxes(). Besides, both operands, or the bf16 terms as which they are copied, must have one 16-bit type that the layer
 * multiplies. */
const char *obstacle_to_16_bit_boxes(const problem *p, layer_kind layer, weight_numbers weights);
/* If `weights` needs A as bf16 terms, A must not be in a state, from which terms cannot be copied. */
const char *terms_obstacle(const problem *p, weight_numbers weights);
/* ---- operands */
bool matmul_is_across(const ir_op *product); /* B of a matmul is [..., K, N] */
bool a_begins_at_lines(const problem *p, weight_numbers weights); /* rows of A, as stored or in terms, begin at multiples of L2 lines */
long long row_pitch(const ir_value *v); /* bytes from row to row of an operand of a matmul, after gen/plan/align.c has aligned them */
bool lies_at_lines(const ir_value *v);  /* row_pitch() is a multiple of L2 lines (128 bytes) */
bool lies_at_sectors(const ir_value *v); /* row_pitch() is a multiple of sectors (32 bytes); else neighbouring rows share sectors */
bool reads_terms(const ir_op *product); /* an operand of the matmul was stored as TF32 terms (gen/plan/terms.h) */
long long product_matrices(const problem *p); /* matrices of a matmul; 1 for a linear */

/* Sets rows, multiple, tile_rows and column_tiles of *to for tiles of m rows and n packed columns. */
void products_geometry(const problem *p, int m, int n, tile_extents *to);
int column_tiles(const problem *p, int n); /* tiles of n packed columns */

/* A tiling: tiles of m rows, n packed columns and k along K; `split_k` slices of K; group_m row tiles that walk all columns together
 * (rasterisation). */
typedef struct product_cut {
    int m, n, k, split_k, group_m;
    int members; /* workgroups of a cluster, which computes one tile; 1: no clusters */
    weight_numbers weights;
} product_cut;
/* Sets workgroups, bytes and operations of *d. Tiles that run at the same time walk K together, so data that they share comes from DRAM
 * once. Operands that do not fit in half of the last-level cache are read again in later rounds: B for each group of row tiles, and a
 * group's rows of A if the columns read between two uses evict them. */
void product_cost(const problem *p, const product_cut *cut, cost_descriptor *d);
/* Cycles that reducing the slices of a tile takes (split-K); each: cycles per slice. */
double split_k_cycles(int slices, double each);
bool joins_columns(const problem *p); /* the epilogue combines pairs of columns (gate and up, rotated halves) */
long long product_length(const problem *p);
/* Longest K of a slice of 16-bit operands: warpgroup instructions truncate every addition, so longer sums lose too much accuracy. */
long long longest_sum(const problem *p);
bool loses_digits(const problem *p, int slices); /* with so few slices of K, f32 results would be too inaccurate */
int product_passes(const problem *p, weight_numbers weights); /* passes along K, one per pair of terms (weights_pairs()) */

typedef enum operand { operand_a, operand_b } operand; /* inputs 0 and 1 of a product */
/* Which operand gemm_wgmma_3xtf32 reads as TF32 terms: B, or A of a matmul if it is smaller, since terms take five times the traffic of the
 * operand. In the second case the program swaps the operands: rows of its tiles are columns of the result. */
operand operand_in_terms(const problem *p);
/* Bytes per element that a program reads from memory, the element's share of a scale included. */
double operand_bytes(const problem *p, weight_numbers weights, operand which);
int piece_length(const problem *p, weight_numbers weights);       /* elements along K in one piece of its packed weight */
/* For programs that read packed weights piece by piece: why a tile cannot have n columns; NULL: it can. */
const char *piece_columns_obstacle(const problem *p, int n);
/* Rows of a tile if `tiles` tiles share `rows` rows evenly; a multiple of `step`. */
long long even_tile_rows(long long rows, long long tiles, long long step);
long long pieces_along(const problem *p, weight_numbers weights); /* pieces of its packed weight along K */

/* ---- register tiles of simt and skinny (t->gemm_registers) */
bool register_tile_smaller(const problem *p, ir_tile *t);
void register_tile_geometry(const problem *p, const ir_tile *t, tile_extents *to);
int register_tile_partials(const problem *p, const ir_tile *t);
extent register_tile_scratch(const problem *p, const ir_tile *t);
double register_tile_meets(const gemm_registers_tile *x); /* cycles that reducing the slices of a tile takes (split-K) */
/* The largest split_k up to `most` with which the launch has at most `groups` workgroups and each slice at least one of K's `steps` steps.
 * Below 2: do not split. */
int register_tile_split(const problem *p, const gemm_registers_tile *x, int groups, int most, long long steps);
#endif
