/* In: the fused graph of a plan, a choice made for each phase. Out: the same, with operands of each product that needs it in rows that are
 * multiples of 16 bytes apart: padded where it is made, or copied. */
#ifndef TFGEN_GEN_ALIGN_H
#define TFGEN_GEN_ALIGN_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void align_operands(editor *e);
/* True if `of` needs rows of operands at multiples of 16 bytes and they are not. */
bool alignment_is_wanted(const problem *p, const program *of);
#endif
