/* In: a plan of a graph. Out: where the plan rounds, as the callbacks of ref_rules return it. The reference judges whether that is
 * allowed. */
#ifndef TFGEN_CLI_REF_PLAN_H
#define TFGEN_CLI_REF_PLAN_H
#include "gen/gen.h"
#include "ir/reference/ref.h"

/* `linear`, `attention` and `op` are the graph's ops; the plan's are matched by their position in the spec. */
ref_fold ref_plan_folded(const plan *p, const ir_graph *graph, const ir_op *linear);
bool ref_plan_rounds_scores(const plan *p, const ir_op *attention);
/* K of the other product that is summed with the linear's in one accumulator; 0: there is none. */
long long ref_plan_continued(const plan *p, const ir_op *linear);
bool ref_plan_splits(const plan *p, const ir_op *linear);
bool ref_plan_in_terms(const plan *p, const ir_op *linear); /* the plan writes an operand as a sum of bf16 numbers */
/* ref_form_quick if the plan may use short forms (FORM in ir/op.def): all that is stored of the op's result is rounded to 16 bits. */
ref_form ref_plan_form(const plan *p, const ir_op *op);

/* The plan's first violation: a value whose dtype or shape differs from the graph's, or a weight packed in another dtype. NULL: none. */
const char *ref_plan_wrong(arena *a, const plan *p, const ir_graph *graph);
#endif
