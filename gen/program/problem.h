/* In: a phase of a program, a device model. Out: what programs are asked about: the phase, its sizes and its work, counted once. It does
 * not change, and holds nothing of what a user, a plan's text or wisdom wants: that is the planner's (gen/plan/tile.h). */
#ifndef TFGEN_GEN_PROBLEM_H
#define TFGEN_GEN_PROBLEM_H
#include "gen/base/work.h"
#include "gen/gen.h"
#include "ir/program/segments.h"

typedef struct problem {
    arena *a;
    const ir_program *program;
    const ir_phase *phase;
    const device_model *device;
    const target_info *target; /* its */
    phase_extent space;
    const work *work;
    /* Of a product: how its packed columns lie. NULL: no arrangement serves its epilogue. Of other phases: an empty list. */
    const segment_list *segments;
    long long packed_n; /* packed columns */
} problem;

problem problem_of(arena *a, const ir_program *program, const ir_phase *phase, const device_model *device);
problem plan_problem(arena *a, const plan *p, const ir_phase *phase); /* of a phase of the plan */

const ir_op *problem_product(const problem *p);   /* the first; NULL: none */
const ir_op *problem_attention(const problem *p); /* the attention, a part of one, or what combines them; NULL: none */
long long problem_rows(const problem *p);         /* of the phase's space, at the plan's own dims; of a matmul of each matrix */
long long problem_head(const problem *p);         /* elements of a head of its attention */
long long problem_queries(const problem *p);      /* of a sequence */
bool problem_sums_rows(const problem *p);         /* its epilogue stores partial sums of rows */
#endif
