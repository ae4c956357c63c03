/* In: a launch and the one behind it. Out: members of its last phase's spec struct by which it asks for weights that the next one reads
 * first, while the machine's memory has nothing else to do: when its own last loads are issued, up to when the next one has begun
 * (docs/overlap.md). */
#ifndef TFGEN_GEN_NEXT_H
#define TFGEN_GEN_NEXT_H
#include "gen/emit/emit.h"

void emit_next(emission *e, writer *w, const launch *own);
#endif
