/* In: the program of a plan whose phases have their choices. Out: the same, with the first operand of each product that wants it in rows
 * that are multiples of 16 bytes apart: from the start, or by a copy. */
#ifndef TFGEN_GEN_ALIGN_H
#define TFGEN_GEN_ALIGN_H
#include "gen/program/program.h"
#include "ir/program/edit.h"

void align_operands(editor *e);
/* `of` needs rows of the first operand at multiples of 16 bytes, and they are not. */
bool alignment_is_wanted(const problem *p, const program *of);
#endif
