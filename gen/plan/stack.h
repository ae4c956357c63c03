/* Finds, in the graph of one layer of a stack, the output that becomes the next layer's input, and adds buffers for it to the plan. Refuses
 * (code_unsupported) graphs in which the output or the input is ambiguous, and plans that a stack's launch cannot run. */
#ifndef TFGEN_GEN_STACK_H
#define TFGEN_GEN_STACK_H
#include "gen/gen.h"

/* The layer's output, and the input of the same shape and dtype, which receives the output of the layer before. */
stack_values stack_find(arena *a, const ir_graph *p);
/* Refuses what a stack cannot run: a layer must be a single launch of at least two phases, without a trace. */
void stack_check(arena *a, const ir_graph *p, const tuning *t);
/* Adds two scratches, in which the layers store their outputs alternately. */
void stack_add_turns(arena *a, plan *p, const launch *l);
#endif
