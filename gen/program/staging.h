/* Whether a product's results can pass through shared memory, to be stored in pieces of 16 bytes (smem_epilogue=1,
 * templates/gemm/staged.h). */
#ifndef TFGEN_GEN_STAGING_H
#define TFGEN_GEN_STAGING_H
#include "gen/emit/gemm.h"
#include "gen/program/products.h"

/* Why the phase's results cannot pass through shared memory; NULL: they can. loads_rows: the program's epilogue may load whole rows from
 * memory. Rotated pairs, and segments with two outputs, do not make pieces of 16 bytes. */
const char *staging_obstacle(const problem *p, bool loads_rows);
/* 8 if rows of all results begin at multiples of 8 elements (16 bytes). Else the largest of 4, 2 and 1 of which the beginnings and the
 * lengths of all rows are multiples. */
int results_unit(const problem *p);
bool product_is_rounded(const problem *p); /* the epilogue does nothing but round products, all to one type of 16 bits, and store them */
#endif
