/* In: the program of a plan whose phases have their choices. Out: the same, with sums of squares of rows in the body of the
 * product that reads the rows, where its program takes them meanwhile (input_sums of ir/reason.def); who made them before no longer does,
 * unless others need them. A phase that made nothing else is gone. */
#ifndef TFGEN_GEN_SUMS_H
#define TFGEN_GEN_SUMS_H
#include "gen/program/program.h"
#include "ir/program/edit.h"

void take_sums(editor *e);
/* `of` can take a sum that the phase reads from another while it loads the same rows. */
bool row_sums_are_wanted(const problem *p, const program *of);
#endif
