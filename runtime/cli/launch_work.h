/* In: a plan at its present dims, and the int32 data that says how many keys attention sees. Out: what each launch has to do at least:
 * arithmetic and bytes, counted from the IR alone, so that no tile or padding of the plan makes the floor look higher. */
#ifndef TFGEN_CLI_LAUNCH_WORK_H
#define TFGEN_CLI_LAUNCH_WORK_H
#include "gen/gen.h"

typedef struct work {
    double products; /* operations of linears, matmuls and attention's two products: a multiply and an add are two */
    double others;   /* one an element of every other op */
    double read, written; /* bytes of values that cross the launch's boundary, each once; params as the spec has them */
} work;

/* Data of an int32 input by its name, or NULL: then the largest it may be is taken. */
typedef const int *work_integers(void *context, const char *name);
work launch_work(arena *a, const plan *p, const launch *l, work_integers *integers, void *context);
#endif
