/* Counts the least work of each launch of a plan: operations (ir/graph/operations.h), and the bytes of each tensor that must be read or
 * written. The IR alone is counted: tiles and padding do not add to it. int32 data (positions, lengths) decide how many keys an attention
 * sees. */
#ifndef TFGEN_GEN_WORK_H
#define TFGEN_GEN_WORK_H
#include "gen/gen.h"
#include "ir/graph/operations.h"

/* A value that a launch reads or writes. Each byte counts once, however often the kernel requests it. */
typedef struct tensor_work {
    const ir_value *value;
    double read, written;
} tensor_work;

typedef struct work {
    double products, others; /* operations of products; all other operations */
    double read, written;    /* bytes, summed over the tensors; of params the size in the spec, not that of packed weights */
    tensor_work *tensors;    /* in the order of the ops, the reads of each before its writes; NULL in the result of work_add() */
    int tensor_count;
} work;

/* The work at the plan's present dims. integers, called with `context`, returns the int32 data; NULL: attention sees the most keys. */
work launch_work(arena *a, const plan *p, const launch *l, integer_source *integers, void *context);
/* The work of a phase that has no launch yet, counted as if it were a kernel of its own and stored no partial sums. */
work phase_work(arena *a, const ir_graph *p, const ir_phase *phase);
double work_read(const work *w, const ir_value *v); /* bytes of v that the launch reads; 0: none */
work work_add(const work *x, const work *y);
#endif
