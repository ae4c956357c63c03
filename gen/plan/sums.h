/* Rewrites the fused graph of a plan, in which each phase has a program. Sums of squares of rows, as norms need them, move into the product
 * that reads the rows, if its program can accumulate them while it loads A (input_sums of ir/reason.def). The phase that computed them
 * before drops them unless other phases read them too, and is removed if it computed nothing else. */
#ifndef TFGEN_GEN_SUMS_H
#define TFGEN_GEN_SUMS_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void take_sums(editor *e);
/* True if the phase reads a sum of squares of A's rows that program `of` could accumulate while it loads them. */
bool row_sums_are_wanted(const problem *p, const program *of);
#endif
