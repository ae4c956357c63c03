/* What programs of the family gemm share: how their tiles lie over rows and packed columns, and what is in the way of copying rows. */
#ifndef TFGEN_GEN_PRODUCTS_H
#define TFGEN_GEN_PRODUCTS_H
#include "gen/program/program.h"

/* What is in the way of any program that copies rows of A and of a packed weight as they lie in memory; NULL: nothing. */
const char *obstacle_to_rows(const problem *p);
const char *obstacle_to_16_bits(const problem *p, layer_kind layer); /* the same, or operands that are not both bf16 or both f16 */

/* rows, multiple, tile_rows and column_tiles of tiles of m rows and n packed columns. */
void products_geometry(const problem *p, int m, int n, tile_extents *to);
int column_tiles(const problem *p, int n);

/* How a product is cut up: tiles of m rows and n packed columns, k tiles of k along the length, parts of it, row tiles that go through all
 * columns together. */
typedef struct product_cut {
    int m, n, k, parts, group_m;
    int members; /* workgroups of a cluster that one tile is for */
    weight_numbers weights;
} product_cut;
/* Workgroups, bytes and operations of one. Tiles that run at once walk along the length together, so what they share comes from memory
 * once. What does not fit half of the last level of cache comes again for those that run next: columns for each group; a group's rows where
 * between two uses of them the columns that pass have no room beside them. */
void product_cost(const problem *p, const product_cut *cut, cost_descriptor *d);
bool joins_columns(const problem *p); /* the epilogue makes one number of two columns */
long long product_length(const problem *p);

typedef enum operand { operand_a, operand_b } operand; /* of a product: its inputs 0 and 1 */
/* Of an element, as a program of such weights reads it from memory; with its share of a scale. */
double operand_bytes(const problem *p, weight_numbers weights, operand which);
int piece_length(const problem *p, weight_numbers weights);       /* elements along k of a piece of its packed weight */
long long pieces_along(const problem *p, weight_numbers weights); /* of its packed weight, along k */

/* ---- register tiles, of simt and skinny: t->gemm_registers */
bool register_tile_smaller(const problem *p, ir_tile *t);
void register_tile_geometry(const problem *p, const ir_tile *t, tile_extents *to);
int register_tile_parts(const problem *p, const ir_tile *t);
#endif
