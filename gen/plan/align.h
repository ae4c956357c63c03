/* In: the fused graph of a plan, with a program chosen for each phase. Out: the same graph with 16-byte aligned rows of operands where the
 * programs need them: the value is stored with padded rows, or copied. A of a matmul that is stored as [K, M] is copied as [M, K] if the
 * program reads only that. */
#ifndef TFGEN_GEN_ALIGN_H
#define TFGEN_GEN_ALIGN_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void align_operands(editor *e);
/* True if `of` needs rows of operands at multiples of 16 bytes and some are not. */
bool alignment_is_wanted(const problem *p, const program *of);
bool rows_of_a_are_wanted(const problem *p, const program *of); /* A is [K, M], and `of` reads only [M, K] */
#endif
