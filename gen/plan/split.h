/* In: the fused graph of a plan, with a program chosen for each phase. Out: the same graph; an attention whose program splits the keys
 * (flash-decoding) becomes two kernels: one stores a partial result per split, the next combines them. */
#ifndef TFGEN_GEN_SPLIT_H
#define TFGEN_GEN_SPLIT_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void split_keys(editor *e);
/* True if `of` stores partial results and the phase has an attention that is not split yet. */
bool split_is_wanted(const problem *p, const program *of);
#endif
