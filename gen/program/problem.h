/* In: a phase and a device model. Out: the problem that programs are asked about: the phase, its sizes and its work, computed once and
 * immutable. Preferences of the user, a plan's text or wisdom are not part of it: they are the planner's (gen/plan/tile.h). */
#ifndef TFGEN_GEN_PROBLEM_H
#define TFGEN_GEN_PROBLEM_H
#include "gen/base/work.h"
#include "gen/gen.h"
#include "ir/graph/segments.h"

typedef struct problem {
    arena *a;
    const ir_graph *ir;
    const ir_phase *phase;
    const ir_op *product;   /* the phase's first; NULL: none */
    const ir_op *attention; /* its attention, attention_partial or attention_combine; NULL: none */
    const device_model *device;
    const target_info *target; /* the device's */
    phase_extent space;
    const work *work;
    /* How a product's packed columns are ordered; NULL: no order fits its epilogue. An empty list for other phases. */
    const segment_list *segments;
    long long packed_n; /* packed columns */
} problem;

problem problem_of(arena *a, const ir_graph *ir, const ir_phase *phase, const device_model *device);
problem plan_problem(arena *a, const plan *p, const ir_phase *phase); /* of a phase of the plan */

long long problem_rows(const problem *p);         /* rows of the phase's space at the plan's own dims; of a matmul: per matrix */
long long problem_head(const problem *p);         /* head size of its attention's queries and keys; of a combine's result */
long long problem_value_head(const problem *p);   /* head size of its values and its result */
long long problem_longest_head(const problem *p); /* the larger of both */
long long problem_queries(const problem *p);      /* queries per sequence */
bool problem_sums_rows(const problem *p);         /* its epilogue stores partial sums of rows */
#endif
