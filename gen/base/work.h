/* In: a plan at its present dims, and the int32 data (positions, lengths) that decide how many keys attention sees. Out: the least work of
 * each launch: operations (ir/graph/operations.h) and compulsory bytes of each tensor. Counted from the IR alone: tiles and padding do
 * not raise it. */
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
    double products, others; /* as in operations */
    double read, written;    /* bytes, sums over the tensors; params at the size the spec gives, not as packed */
    tensor_work *tensors;    /* in the order of the ops, for each its reads, then its writes; NULL in the result of work_add() */
    int tensor_count;
} work;

work launch_work(arena *a, const plan *p, const launch *l, integer_source *integers, void *context);
/* The work of a phase that has no launch yet: as a kernel of its own, without partial sums. */
work phase_work(arena *a, const ir_graph *p, const ir_phase *phase);
double work_read(const work *w, const ir_value *v); /* bytes of v that the launch reads; 0: none */
work work_add(const work *x, const work *y);
#endif
