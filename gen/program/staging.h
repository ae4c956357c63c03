/* Whether a product's results leave through shared memory, in pieces of 16 bytes (smem_epilogue=1, templates/gemm/staged.h). */
#ifndef TFGEN_GEN_STAGING_H
#define TFGEN_GEN_STAGING_H
#include "gen/emit/gemm.h"
#include "gen/program/products.h"

/* Why the phase's results cannot leave through shared memory (smem_epilogue=1); NULL: they can. loads_rows: its epilogue may load more than
 * row scalars. Rotated pairs, and segments with two outputs, do not make pieces of 16 bytes. */
const char *staging_obstacle(const problem *p, bool loads_rows);
/* Elements, such that rows of all results begin at multiples of them: 8 (16 bytes); else 4, 2 or 1, and then rows are also as long as a
 * multiple of them. */
int results_unit(const problem *p);
bool product_is_rounded(const problem *p); /* the epilogue does nothing but round products, all to one type of 16 bits, and store them */
#endif
