/* In: graphs and kernels. Out: what a kernel computes in words, what a graph costs. */
#define _GNU_SOURCE
#include "runtime/cli/trial.h"
#include <stdlib.h>
#include <string.h>

double graph_operations(const ir_program *graph)
{
    double total = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const ir_op *op = graph->ops[i];
        const ir_value *x = op->inputs[0], *y = op->outputs[0];
        const double out = (double)value_count(y, &graph->dims);
        if (op->kind == op_linear || op->kind == op_matmul) total += 2 * out * (double)value_columns(x);
        else if (op->kind == op_attention) { /* two products of each query with each key */
            const double width = (double)value_count(y, &graph->dims) / extent_value(&y->shape[0], &graph->dims) /
                                 extent_value(&y->shape[1], &graph->dims) / (double)op->attributes.heads;
            const double keys = (double)value_count(op->inputs[1], &graph->dims) / extent_value(&x->shape[0], &graph->dims) / width /
                                (double)op->attributes.kv_heads;
            total += 4 * out * keys;
        } else total += 8 * out;
    }
    return total;
}

/* "rmsnorm linear x3 rope x2": each kind once, where it is first; ops that are not marked are left out. */
static const char *names_of(arena *a, ir_op *const *ops, int count, bool *marked)
{
    text t = {.a = a};
    for (int i = 0; i < count; i++) {
        if (!marked[i]) continue;
        int same = 0;
        const op_kind kind = ops[i]->kind;
        for (int n = i; n < count; n++)
            if (marked[n] && ops[n]->kind == kind) same++, marked[n] = false;
        text_printf(&t, "%s%s", t.size ? " + " : "", op_table[kind].name);
        if (same > 1) text_printf(&t, " x%d", same);
    }
    return t.data ? t.data : "copy";
}

const char *kernel_ops(arena *a, const ir_program *graph, const ir_kernel *k)
{
    int own = 0, n = 0;
    for (int p = 0; p < k->phase_count; p++) own += k->phases[p]->op_count;
    const int count = graph ? graph->op_count : own;
    bool *marked = arena_alloc(a, ((size_t)count + 1) * sizeof *marked);
    ir_op **ops = arena_alloc(a, ((size_t)own + 1) * sizeof *ops);
    for (int p = 0; p < k->phase_count; p++)
        for (int i = 0; i < k->phases[p]->op_count; i++) {
            ir_op *op = k->phases[p]->ops[i];
            if (op->kind != op_align && (!graph || op->origin < count)) marked[graph ? op->origin : n] = true;
            ops[n++] = op;
        }
    return names_of(a, graph ? graph->ops : ops, count, marked);
}
