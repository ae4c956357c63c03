/* In: a launch and those behind it. Out: members of its last phase's spec struct, by which it prefetches into L2 the weights that the next
 * launch with weights reads first. DRAM is otherwise idle from its own last loads until that launch begins (docs/overlap.md). */
#ifndef TFGEN_GEN_NEXT_H
#define TFGEN_GEN_NEXT_H
#include "gen/emit/emit.h"

void emit_next(emission *e, writer *w, const launch *own);
#endif
