/* In: a launch, the one behind it, and the first of the plan's packed weights after those of the launch's own. Out: members of its spec
 * struct by which it asks for weights that the next one reads first, while the machine's memory has nothing else to do: when its own last
 * loads are issued, up to when the next one has begun (docs/overlap.md). Refuses nothing. */
#ifndef TFGEN_GEN_NEXT_H
#define TFGEN_GEN_NEXT_H
#include "gen/emit/emit.h"

void emit_next(emission *e, writer *w, const launch *own, int pack);
#endif
