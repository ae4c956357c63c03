/* Rewrites the fused graph of a plan, in which each phase has a program. An attention whose program splits the keys (flash-decoding)
 * becomes two kernels: the first stores a partial result per split, the second combines these. */
#ifndef TFGEN_GEN_SPLIT_H
#define TFGEN_GEN_SPLIT_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void split_keys(editor *e);
/* True if program `of` stores partial results and the phase has an attention that is not split yet. */
bool split_is_wanted(const problem *p, const program *of);
#endif
