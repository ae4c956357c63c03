/* Rewrites the fused graph of a plan, in which each phase has a program, by adding kernels of two kinds. One runs before a matmul on
 * wgmma_3xtf32 and writes one operand (operand_in_terms(), gen/program/products.h) as two TF32 numbers per element. The other runs before a
 * linear whose program multiplies rows as sums of bf16 numbers, and writes these numbers. */
#ifndef TFGEN_GEN_TERMS_H
#define TFGEN_GEN_TERMS_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void split_into_terms(editor *e);
/* True if program `of` reads an operand of the matmul as TF32 terms, and no kernel writes them yet. */
bool terms_are_wanted(const problem *p, const program *of);
/* True if program `of` reads rows of the linear as bf16 terms, and no kernel writes them yet. */
bool row_terms_are_wanted(const problem *p, const program *of);
#endif
