/* In: the graph of one layer of a stack. Out: the output of a layer that is the next layer's input, and the buffers for it. Refuses
 * (code_unsupported) graphs in which that output or input is ambiguous, and plans with features that a stack's launch lacks. */
#ifndef TFGEN_GEN_STACK_H
#define TFGEN_GEN_STACK_H
#include "gen/gen.h"

/* The layer's output, and the input of the same shape and dtype, which receives the output of the layer before. */
stack_values stack_find(arena *a, const ir_graph *p);
/* Refuses plans that a stack cannot run: a layer must be a single launch of at least two phases. */
void stack_check(arena *a, const ir_graph *p, const tuning *t);
/* Adds the two scratch buffers to which layers alternately store their outputs. */
void stack_add_turns(arena *a, plan *p, const launch *l);
#endif
