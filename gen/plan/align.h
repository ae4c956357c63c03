/* In: the fused graph of a plan, a choice made for each phase. Out: the same, with operands of each product that needs it in rows that are
 * multiples of 16 bytes apart: padded where it is made, or copied; and A of a matmul that is [K, M] copied as [M, K] where the program
 * reads rows alone. */
#ifndef TFGEN_GEN_ALIGN_H
#define TFGEN_GEN_ALIGN_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void align_operands(editor *e);
/* True if `of` needs rows of operands at multiples of 16 bytes and they are not. */
bool alignment_is_wanted(const problem *p, const program *of);
bool rows_of_a_are_wanted(const problem *p, const program *of); /* A is [K, M], and `of` reads rows alone */
#endif
