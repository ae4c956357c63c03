/* In: a graph that is a layer of a stack. Out: what each layer takes from the one before it. Refuses (code_unsupported) graphs of which the
 * next layer would not know what to take, and what a stack's launch does not have. */
#ifndef TFGEN_GEN_STACK_H
#define TFGEN_GEN_STACK_H
#include "gen/gen.h"

/* The layer's output, and the input of the same shape and dtype, which is the output of the layer before. */
stack_values stack_find(arena *a, const ir_graph *p);
/* Refuses kernels that a stack cannot run layer by layer: all phases, at least two, are those of one launch. */
void stack_check(arena *a, const ir_graph *p, const tuning *t);
/* Adds the scratches for what the layers hand on, in turn. */
void stack_add_turns(arena *a, plan *p, const launch *l);
#endif
