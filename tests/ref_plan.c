/* In: a plan of a graph. Out: what it says about roundings; see tests/ref_plan.h. */
#include "tests/ref_plan.h"
#include "gen/layer.h"

static bool same_place(const ir_op *x, const ir_op *y)
{
    return x->kind == y->kind && x->at.line == y->at.line && x->at.column == y->at.column;
}

ref_fold ref_plan_folded(const plan *p, const ir_program *graph, const ir_op *linear)
{
    for (int i = 0; i < p->program->op_count; i++) {
        const ir_op *op = p->program->ops[i];
        if (!same_place(op, linear) || !op->attributes.fold) continue;
        return (ref_fold){true, op->attributes.fold_offset, program_value(graph, op->attributes.fold->name)};
    }
    return (ref_fold){0};
}

/* The instructions that the plan computes a graph's op with. Attention that became partial sums and their union is on none but simt. */
static layer_kind layer_at(const plan *p, const ir_op *op)
{
    for (int k = 0; k < p->program->kernel_count; k++) {
        const ir_kernel *kernel = p->program->kernels[k];
        for (int i = 0; i < kernel->phase_count; i++)
            for (int j = 0; j < kernel->phases[i]->op_count; j++)
                if (same_place(kernel->phases[i]->ops[j], op)) return layer_of(kernel->phases[i]);
    }
    return layer_simt;
}

bool ref_plan_rounds_scores(const plan *p, const ir_op *attention) { return layer_at(p, attention) != layer_simt; }
bool ref_plan_splits(const plan *p, const ir_op *linear) { return layer_at(p, linear) == layer_wgmma3; }
