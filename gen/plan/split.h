/* In: the fused graph of a plan, a choice made for each phase. Out: the same; where the chosen program splits the keys of an attention over
 * a cache (flash-decoding), two kernels: one stores a partial result per split, the next combines them. */
#ifndef TFGEN_GEN_SPLIT_H
#define TFGEN_GEN_SPLIT_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void split_keys(editor *e);
/* True if `of` stores partials of an attention that the phase still computes whole. */
bool split_is_wanted(const problem *p, const program *of);
#endif
