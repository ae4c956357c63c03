/* In: graphs and kernels. Out: what a kernel computes, in words. */
#define _GNU_SOURCE
#include "runtime/cli/trial.h"
#include <stdlib.h>
#include <string.h>

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
