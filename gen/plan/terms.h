/* In: the fused graph of a plan, a choice made for each phase. Out: the same, with a kernel ahead of each matmul on 3xTF32 that writes one
 * of its operands (operand_in_terms() of gen/program/products.h) as two TF32 numbers per element, and one ahead of each linear whose rows
 * are multiplied as sums of bf16 numbers, which writes those. */
#ifndef TFGEN_GEN_TERMS_H
#define TFGEN_GEN_TERMS_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void split_into_terms(editor *e);
/* True if `of` needs an operand of a matmul as TF32 terms and has both as they are. */
bool terms_are_wanted(const problem *p, const program *of);
/* True if `of` needs the rows of a linear as terms in bf16 and has them as they are. */
bool row_terms_are_wanted(const problem *p, const program *of);
#endif
