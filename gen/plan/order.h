/* Decides which earlier phases each phase of a launch waits for, and proves that these waits suffice. */
#ifndef TFGEN_GEN_ORDER_H
#define TFGEN_GEN_ORDER_H
#include "gen/gen.h"

/* Fills `awaits` of each phase with the phases that it depends on (ir_phase.after), and with earlier phases that access the same memory, if
 * either of the two writes there, such as another piece of a concat. A phase is left out if another one in the list already waits for it.
 * In a stack, also fills `awaits_before` of each phase that has no such waits, with all phases for which no other phase of the
 * layer waits. */
void order_set(arena *a, const ir_graph *p, launch *l);
/* What is wrong with the waits; NULL: nothing. The proof uses what the ops read and write, not ir_phase.after. It shows that every phase
 * waits only for earlier ones, so that all waits end. It shows that if two phases access the same memory and one of them writes it, the
 * later phase waits for the earlier, directly or through others. In a stack, every phase must also wait, directly or through others, for
 * every phase of the layer before; hence layers can share the workspace, and marks can count on from layer to layer. */
const char *order_fault(arena *a, const ir_graph *p, const launch *l);
#endif
