/* In: a plan at its present dims, and the int32 data that says how many keys attention sees. Out: what each launch has to do at least:
 * operations (ir/program/operations.h) and the bytes of each tensor, counted from the IR alone, so that no tile or padding of the plan
 * makes the floor look higher. */
#ifndef TFGEN_GEN_WORK_H
#define TFGEN_GEN_WORK_H
#include "gen/gen.h"
#include "ir/program/operations.h"

/* A value that crosses a launch's boundary. Each byte of it is counted once, however often the kernel asks for it. */
typedef struct tensor_work {
    const ir_value *value;
    double read, written;
} tensor_work;

typedef struct work {
    double products, others; /* as in operations */
    double read, written;    /* sums of the tensors; params as the spec has them */
    tensor_work *tensors;    /* reads in the order of the ops, then writes; of a sum of works none */
    int tensor_count;
} work;

work launch_work(arena *a, const plan *p, const launch *l, integer_source *integers, void *context);
/* Of a phase that has no launch yet: as if it were a kernel of its own, without partial sums. */
work phase_work(arena *a, const ir_program *p, const ir_phase *phase);
double work_read(const work *w, const ir_value *v); /* bytes of v that it reads; 0: none */
work work_add(const work *x, const work *y);
#endif
