/* In: a launch of several phases. Out: which earlier phases each one waits for, and a proof that these waits suffice. */
#ifndef TFGEN_GEN_ORDER_H
#define TFGEN_GEN_ORDER_H
#include "gen/gen.h"

/* Fills `awaits` of each phase: the phases that it depends on (ir_phase.after), and earlier phases with which it shares memory that one of
 * the two writes, such as another piece of a concat. Phases for which another one in the list already waits are left out. In a
 * stack also fills `awaits_before` of each phase that otherwise waits for none: the phases for which no other phase waits. */
void order_set(arena *a, const ir_graph *p, launch *l);
/* What is wrong with the waits; NULL: nothing. Proves from what the ops read and write, not from ir_phase.after, that every phase waits
 * only for earlier ones (so all waits end), and that of two phases that access the same memory, one of which writes it, the later waits,
 * directly or through others, for the earlier. In a stack every phase must also wait, directly or through others, for every phase of the
 * layer before; so layers can share the workspace, and marks count on from layer to layer. */
const char *order_fault(arena *a, const ir_graph *p, const launch *l);
#endif
