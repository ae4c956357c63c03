/* In: a graph with kernels. Out: the producer of each value, and its readers, directly or through views. */
#include "ir/graph/views.h"

static void note_reader(graph_index *x, ir_phase *phase, const ir_value *v)
{
    if (x->reader[v->id] && x->reader[v->id] != phase) x->read_widely[v->id] = true;
    x->reader[v->id] = phase;
}

static void note_op(graph_index *x, ir_phase *phase, const ir_op *op)
{
    const ir_value *makers[most_makers];
    ir_value *used[24];
    for (int k = 0; k < op->output_count; k++) x->maker[op->outputs[k]->id] = phase;
    const int n = op_is_view(op) ? 0 : op_operands(op, used, 24);
    for (int k = 0; k < n; k++)
        for (int m = value_makers(used[k], makers) - 1; m >= 0; m--) note_reader(x, phase, makers[m]);
}

bool graph_is_16_bit(const ir_graph *p)
{
    if (p->index) return p->index->is_16_bit;
    for (int i = 0; i < p->value_count; i++) {
        const ir_value *v = p->values[i];
        if (v->type == dtype_f32 && (v->output || v->kind == value_input || v->kind == value_param || v->kind == value_state)) return false;
    }
    return p->type != dtype_f32;
}

const graph_index *graph_index_make(arena *a, const ir_graph *p)
{
    const size_t n = (size_t)p->value_count + 1;
    graph_index *x = arena_alloc(a, sizeof *x);
    *x = (graph_index){arena_alloc(a, n * sizeof *x->maker), arena_alloc(a, n * sizeof *x->reader),
                         arena_alloc(a, n * sizeof *x->read_widely), graph_is_16_bit(p)};
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            for (int j = 0; j < phase->op_count; j++) note_op(x, phase, phase->ops[j]);
        }
    return x;
}
