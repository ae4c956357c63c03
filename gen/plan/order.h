/* In: a launch of several phases. Out: which earlier phases each one waits for, and a proof that these waits suffice. */
#ifndef TFGEN_GEN_ORDER_H
#define TFGEN_GEN_ORDER_H
#include "gen/gen.h"

/* Fills `awaits` of each phase: those that it depends on (ir_phase.after), and earlier ones that access the same memory where one of the
 * two writes, such as another piece of a concat; without those that others imply. */
void order_set(arena *a, const ir_graph *p, launch *l);
/* Why the waits do not order all accesses to memory, or may never end; NULL: they do. Looks at what the ops read and write, not at
 * ir_phase.after: every phase waits for earlier ones alone, and of two phases that access the same memory, one of which writes, the later
 * one waits, directly or not, for the earlier one. */
const char *order_fault(arena *a, const ir_graph *p, const launch *l);
#endif
