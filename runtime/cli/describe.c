/* In: graphs and kernels; a device's error text. Out: the names of the ops that a kernel computes; the error with the place in the spec of
 * the kernel that it names. */
#define _GNU_SOURCE
#include "runtime/cli/trial.h"
#include "runtime/cli/plan_words.h"
#include "ir/graph/views.h"
#include <stdlib.h>
#include <string.h>

/* "rmsnorm linear x3 rope x2": each kind of a marked op once, at its first place. */
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

/* True for a concat that fusion made of the inputs of a sum of products, and that the spec does not have. */
static bool is_row_of_inputs(const ir_graph *graph, const ir_op *op)
{
    return op->kind == op_concat && graph && graph->ops[op->origin]->kind != op_concat;
}

/* Origin of the second linear of a sum of products, found by its weight; -1: none. */
static int second_origin(const ir_graph *graph, const ir_op *op)
{
    const ir_value *weight = op->attributes.continued;
    for (int i = 0; graph && weight && i < graph->op_count; i++)
        if (graph->ops[i]->kind == op_linear && strcmp(graph->ops[i]->inputs[1]->name, weight->name) == 0) return i;
    return -1;
}

void kernel_origins(const ir_graph *graph, const ir_kernel *k, int count, bool *marked)
{
    for (int p = 0; p < k->phase_count; p++)
        for (int i = 0; i < k->phases[p]->op_count; i++) {
            const ir_op *op = k->phases[p]->ops[i];
            if (op_is_copy(op) || op->origin >= count || is_row_of_inputs(graph, op)) continue;
            marked[op->origin] = true;
            const int second = second_origin(graph, op);
            if (second >= 0) marked[second] = true;
        }
}

const char *kernel_ops(arena *a, const ir_graph *graph, const ir_kernel *k)
{
    int own = 0, n = 0;
    for (int p = 0; p < k->phase_count; p++) own += k->phases[p]->op_count;
    const int count = graph ? graph->op_count : own;
    bool *marked = arena_alloc(a, ((size_t)count + 1) * sizeof *marked);
    ir_op **ops = arena_alloc(a, ((size_t)own + 1) * sizeof *ops);
    for (int p = 0; p < k->phase_count; p++)
        for (int i = 0; i < k->phases[p]->op_count; i++) {
            if (!graph) marked[n] = !op_is_copy(k->phases[p]->ops[i]);
            ops[n++] = k->phases[p]->ops[i];
        }
    if (graph) kernel_origins(graph, k, count, marked);
    return names_of(a, graph ? graph->ops : ops, count, marked);
}

static position place_of(const ir_kernel *k)
{
    for (int p = 0; p < k->phase_count; p++)
        for (int i = 0; i < k->phases[p]->op_count; i++)
            if (k->phases[p]->ops[i]->at.line) return k->phases[p]->ops[i]->at;
    return (position){0};
}

static const packed_weight *pack_named(const plan *p, const char *name)
{
    for (int i = 0; i < p->pack_count; i++)
        if (strcmp(p->packs[i].name, name) == 0) return &p->packs[i];
    return NULL;
}

void bail_if_a_kernel_stopped(arena *a, tfgen_code code, const ir_graph *graph, const plan *p, const char *said)
{
    const size_t first = strcspn(said, "\n"), head = strcspn(said, ":\n");
    const char *name = arena_strndup(a, said, head), *log = said + first + (said[first] != 0);
    const launch *l = launch_named(p, name);
    const packed_weight *w = l ? NULL : pack_named(p, name);
    if (!l && !w) return;
    const ir_kernel *k = l ? l->kernel : w->kernel;
    const char *ops = kernel_ops(a, graph && graph->kernel_count ? NULL : graph, k);
    bail_with_log(a, code, place_of(k), log, "the device stopped in %s, which %s %s%.*s", name, l ? "computes" : "packs weights for", ops,
                  (int)(first - head), said + head);
}
