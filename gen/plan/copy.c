/* Contract: gen/plan/copy.h. */
#include "gen/plan/copy.h"
#include "gen/base/names.h"
#include "ir/graph/views.h"

/* If v is a view in phase `from`, moves it to phase `to`, after the views that it reads. */
static void move_view(editor *e, ir_phase *from, ir_phase *to, const ir_value *v)
{
    if (phase_index(from, v->def) < 0) return;
    for (int i = 0; i < v->def->input_count; i++) move_view(e, from, to, v->def->inputs[i]);
    v->def->role = role_prologue;
    edit_move_ops(e, from, phase_index(from, v->def), 1, to, to->op_count);
}

static void wait_for_makers(editor *e, ir_phase *phase, const ir_value *v)
{
    const ir_value *makers[most_makers];
    const int n = value_makers(v, makers);
    for (int i = 0; i < n; i++) edit_run_after(e, phase, edit_maker(e, makers[i]));
}

ir_op *edit_copy(editor *e, int k, ir_phase *reader, ir_value *v, const copy_request *q)
{
    ir_phase *phase = edit_add_phase(e, k, false, q->family, name_stem(e->b->a, q->copy->name), q->kernel);
    move_view(e, reader, phase, v);
    q->copy->at = reader->ops[0]->at;
    ir_op *op = build_op(e->b, q->op, reader->ops[0], q->copy, 1, v);
    op->role = role_body;
    edit_insert_op(e, phase, phase->op_count, op);
    wait_for_makers(e, phase, v);
    return op;
}
