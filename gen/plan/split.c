/* Contract: gen/plan/split.h. A split attention becomes attention_partial, which stores for each split, query and head the unnormalised
 * output, the largest score and the sum of exponentials, in f32. An attention_combine in the next kernel reduces these to the attention's
 * result. */
#include "gen/plan/split.h"
#include "gen/plan/choice.h"
#include "ir/graph/reason.h"

bool split_is_wanted(const problem *p, const program *of)
{
    return of->partials && phase_op(p->phase, op_attention);
}

/* Turns the attention into one that stores partials; returns the op that combines them into its former result. */
static ir_op *split_op(builder *b, ir_op *op)
{
    ir_value *out = op->outputs[0], *q = op->inputs[0];
    const long long heads = op->attributes.heads;
    ir_value shape = {.rank = 4, .at = out->at};
    shape.shape[0] = q->shape[0], shape.shape[1] = q->shape[1];
    shape.shape[2] = extent_number(heads);
    shape.shape[3] = extent_number(attention_value_size(op) + 2);
    ir_value *part = build_value(b, arena_printf(b->a, "%s.part", out->name), dtype_f32, &shape);
    op->kind = op_attention_partial;
    op->outputs[0] = part;
    part->def = op;
    ir_op *combine = build_op(b, op_attention_combine, op, out, 1, part);
    combine->attributes.heads = heads;
    combine->role = role_body;
    return combine;
}

/* Views of the result move to the combine, and phases that waited for the attention wait for the combine. */
static void split_phase(editor *e, int k, ir_phase *partial)
{
    const char *kernel = arena_printf(e->b->a, "%s_join", e->b->p->kernels[k]->name);
    ir_phase *combine = edit_add_phase(e, k, true, family_combine, "combine", kernel);
    ir_op *attention = phase_op(partial, op_attention), *joins = split_op(e->b, attention);
    edit_insert_op(e, combine, 0, joins);
    edit_add_note(e, reason_code(reason_splits_meet), joins->inputs[0], joins);
    const int first = phase_index(partial, attention->outputs[0]->def) + 1;
    edit_move_ops(e, partial, first, partial->op_count - first, combine, 1);
    edit_replace_phase(e, partial, combine);
    edit_run_after(e, combine, partial);
}

void split_keys(editor *e)
{
    const ir_graph *p = e->b->p;
    for (int k = 0; k < e->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            if (phase->choice->rewrites & rewrite_split_keys) split_phase(e, k, phase);
        }
}
