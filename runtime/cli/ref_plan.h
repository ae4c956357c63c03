/* In: a plan of a graph. Out: what it says about roundings, as ref_rules ask it. The reference judges whether what is
 * said is allowed. */
#ifndef TFGEN_CLI_REF_PLAN_H
#define TFGEN_CLI_REF_PLAN_H
#include "gen/gen.h"
#include "ir/reference/ref.h"

/* The ops are the graph's; the plan's are known by their position in the spec. */
ref_fold ref_plan_folded(const plan *p, const ir_program *graph, const ir_op *linear);
bool ref_plan_rounds_scores(const plan *p, const ir_op *attention);
bool ref_plan_splits(const plan *p, const ir_op *linear);
/* Quick wherever the plan may take quick forms: whatever is stored of the op's result is rounded to 16 bits. */
ref_form ref_plan_form(const plan *p, const ir_op *op);

/* What the plan may not do: a value in another dtype or shape than the graph's, a weight packed in another dtype. NULL: nothing. */
const char *ref_plan_wrong(arena *a, const plan *p, const ir_program *graph);
#endif
