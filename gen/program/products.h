/* What programs of the family gemm share: how their tiles lie over rows and packed columns, and what is in the way of copying rows. */
#ifndef TFGEN_GEN_PRODUCTS_H
#define TFGEN_GEN_PRODUCTS_H
#include "gen/program/program.h"

/* Costs of products are counted in times that all of the weight is read: a program of few rows reads it once for 8 of them, and what other
 * programs take for a tile of any number of rows was, on the machines measured, worth between two and three readings. */
#define COST_OF_MATRIX_UNITS 2.5
#define COST_OF_REGISTER_TILES 2.9
#define COST_TOO_HIGH 1e9

/* What is in the way of any program that copies rows of A and of a packed weight as they lie in memory; NULL: nothing. */
const char *obstacle_to_rows(const tile_request *r);
const char *obstacle_to_16_bits(const tile_request *r, layer_kind layer); /* the same, or operands that are not both bf16 or both f16 */

/* rows, multiple, tile_rows and column_tiles of tiles of m rows and n packed columns. */
void products_geometry(const tile_request *r, int m, int n, launch *l);
int column_tiles(const tile_request *r, int n);

/* ---- register tiles: those of simt and few have the same fields, t->gemm_simt serves both */
bool register_tile_smaller(const tile_request *r, ir_tile *t);
void register_tile_geometry(const tile_request *r, const ir_tile *t, launch *l);
int register_tile_parts(const tile_request *r, const ir_tile *t);
#endif
