/* In: the fused graph of a plan, with a program chosen for each phase. Out: the same graph, with sums of squares of rows moved into the
 * product that reads the rows, if its program accumulates them while it loads A (input_sums of ir/reason.def). The phase that computed
 * them before no longer does unless other phases read them, and is removed if it computed nothing else. */
#ifndef TFGEN_GEN_SUMS_H
#define TFGEN_GEN_SUMS_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void take_sums(editor *e);
/* True if the phase reads a sum of squares of A's rows that `of` could accumulate while it loads them. */
bool row_sums_are_wanted(const problem *p, const program *of);
#endif
