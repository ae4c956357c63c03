/* In: a graph without kernels. Out: the graph without ops whose results nothing uses, and without results and constants that no remaining
 * op makes or reads. A kv_append always stays, as it changes its state. Values get new ids. */
#include "ir/fuse/fuse.h"

static bool *live_values(arena *a, const ir_graph *p)
{
    bool *live = arena_alloc(a, ((size_t)p->value_count + 1) * sizeof *live);
    for (int i = 0; i < p->value_count; i++) live[i] = p->values[i]->output != NULL;
    for (int i = p->op_count - 1; i >= 0; i--) {
        ir_value *used[24];
        bool wanted = p->ops[i]->kind == op_kv_append;
        for (int k = 0; k < p->ops[i]->output_count; k++) wanted |= live[p->ops[i]->outputs[k]->id];
        int n = wanted ? op_operands(p->ops[i], used, 24) : 0;
        for (int k = 0; k < n; k++) live[used[k]->id] = true;
        for (int k = 0; k < p->ops[i]->output_count && wanted; k++) live[p->ops[i]->outputs[k]->id] = true;
    }
    return live;
}

int remove_dead_ops(arena *a, ir_graph *p)
{
    bool *live = live_values(a, p);
    int ops = 0, values = 0, before = p->op_count;
    for (int i = 0; i < p->op_count; i++)
        if (live[p->ops[i]->outputs[0]->id]) p->ops[ops++] = p->ops[i];
    p->op_count = ops;
    for (int i = 0; i < p->value_count; i++) {
        ir_value *v = p->values[i];
        bool kept = v->kind < value_constant || live[i]; /* declared values are the caller's interface */
        if (!kept) continue;
        v->id = values;
        p->values[values++] = v;
    }
    p->value_count = values;
    return before - ops;
}
