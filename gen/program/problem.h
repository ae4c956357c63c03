/* In: a phase and a device model. Out: the problem that programs are asked about: the phase, its sizes and its work, computed once and
 * immutable. Sizes are those of the dims that the plan is made for. Requests by the user, a plan's text or wisdom are not part of it: only
 * the planner knows them (gen/plan/tile.h). */
#ifndef TFGEN_GEN_PROBLEM_H
#define TFGEN_GEN_PROBLEM_H
#include "gen/base/work.h"
#include "gen/gen.h"
#include "ir/graph/segments.h"

typedef struct problem {
    arena *a;
    const ir_graph *ir;
    const ir_phase *phase;
    const ir_op *product;   /* the phase's first product; NULL: none */
    const ir_op *attention; /* its attention, attention_partial or attention_combine; NULL: none */
    const device_model *device;
    const target_info *target; /* the device's target */
    phase_extent space; /* rows and columns that the phase walks */
    const work *work;
    /* The order of a product's packed columns; NULL: no order fits its epilogue. Empty for other phases. */
    const segment_list *segments;
    long long packed_n; /* packed columns; 0: no product, or no order */
} problem;

problem problem_of(arena *a, const ir_graph *ir, const ir_phase *phase, const device_model *device);
problem plan_problem(arena *a, const plan *p, const ir_phase *phase); /* the problem of a phase of the plan */

long long problem_rows(const problem *p);         /* rows of the phase's space; of a matmul: per matrix */
long long problem_head(const problem *p);         /* columns of a head of queries and keys; of a combine phase: of its result */
long long problem_value_head(const problem *p);   /* columns of a head of values and of the result */
long long problem_longest_head(const problem *p); /* the larger of problem_head() and problem_value_head() */
long long problem_queries(const problem *p);      /* queries per sequence */
bool problem_sums_rows(const problem *p);         /* the epilogue stores partial sums of rows */
/* Bytes of dynamic shared memory that a workgroup has for the phase. In a launch with a loading warp (ir_graph.feeds) that is what the
 * launch's own needs leave. */
int shared_room_of_phase(const problem *p);
enum { fed_loaders = 128 }; /* threads of a launch with a loading warp beside those that compute (templates/frame/frame_fed.h) */
int fed_bytes(int phases, int fed); /* of a launch of so many phases, of which `fed` need a loading warp, beside its phases' memory */
#endif
