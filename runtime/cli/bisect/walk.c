/* In: runs of a plan (runtime/cli/trial.h). Out: for each value in memory how it parts from what it should be on the device's own inputs,
 * so that the first wrong one is where the fault is. Refuses what the device refuses. */
#include "runtime/cli/bisect/bisect.h"
#include <string.h>

/* ---- sums of rows */
static bool is_sum(const walk *w, const ir_op *op)
{
    if (op_table[op->kind].class != class_REDUCE || program_value(w->graph, op->outputs[0]->name)) return false;
    return program_value(w->graph, op->inputs[0]->name) && program_value(w->plan->program, op->outputs[0]->name);
}

static void list_sums(walk *w)
{
    const ir_program *lowered = w->graph->kernel_count ? w->graph : lower(w->a, w->graph);
    w->sums = arena_alloc(w->a, ((size_t)lowered->op_count + 1) * sizeof *w->sums);
    for (int i = 0; i < lowered->op_count; i++)
        if (is_sum(w, lowered->ops[i])) w->sums[w->sum_count++] = (row_sum){lowered->ops[i], NULL};
}

static void keep_numbers(walk *w, const ir_value *v, const double *numbers, size_t count)
{
    for (int i = 0; i < w->sum_count; i++) {
        if (strcmp(w->sums[i].op->inputs[0]->name, v->name) != 0) continue;
        w->sums[i].numbers = arena_alloc(w->a, (count + 1) * sizeof *numbers);
        memcpy(w->sums[i].numbers, numbers, count * sizeof *numbers);
    }
}

/* A graph of one op over numbers of f32, as the device adds them up. */
static const ir_program *sum_graph(arena *a, const ir_program *graph, const ir_op *op)
{
    ir_program *p = arena_alloc(a, sizeof *p);
    ir_op *only = arena_alloc(a, sizeof *only);
    *p = (ir_program){.name = graph->name, .type = dtype_f32, .dims = graph->dims, .value_count = 2, .op_count = 1};
    p->values = arena_alloc(a, 2 * sizeof(ir_value *)), p->ops = arena_alloc(a, sizeof(ir_op *));
    for (int i = 0; i < 2; i++) {
        ir_value *v = p->values[i] = arena_alloc(a, sizeof *v);
        *v = i ? *op->outputs[0] : *op->inputs[0];
        v->id = i, v->type = dtype_f32, v->kind = i ? value_result : value_input, v->def = i ? only : NULL;
    }
    *only = (ir_op){.kind = op->kind, .input_count = 1, .output_count = 1, .inputs = &p->values[0], .outputs = &p->values[1], .at = op->at};
    p->ops[0] = only;
    return p;
}

/* A stored value that the spec has no name for. */
static void note_unnamed(void *context, const ir_value *v, const double *got, const ref_tensor *const *data)
{
    walk *w = context;
    char message[512];
    for (int i = 0; i < w->sum_count; i++) {
        const row_sum *s = &w->sums[i];
        if (strcmp(s->op->outputs[0]->name, v->name) != 0) continue;
        const ir_value *x = program_value(w->graph, s->op->inputs[0]->name);
        const ref_tensor own = {.value = s->numbers, .count = (size_t)value_count(x, &w->graph->dims)};
        const ref_tensor *inputs[] = {s->numbers ? &own : data[x->id], NULL};
        ref_tensor sum = {0}, *results[] = {NULL, &sum};
        if (!inputs[0] || !ref_run(sum_graph(w->a, w->graph, s->op), inputs, false, NULL, results, message, sizeof message)) continue;
        w->list[w->count++] = parting_of(s->op->outputs[0], &w->graph->dims, &sum, got, w->what);
        ref_free(&sum);
    }
}

static void note_value(void *context, const ir_value *v, const ref_tensor *expected, const double *got)
{
    walk *w = context;
    w->list[w->count++] = parting_of(v, &w->graph->dims, expected, got, w->what);
    keep_numbers(w, v, got, expected->count);
}

/* ---- runs */
static void note_compiled(void *context, const char *kernel)
{
    const walk *w = context;
    if (w->bar) progress_step(w->bar, kernel);
}

trial_options walk_options(const bisection *b, walk *w)
{
    trial_options o = b->trial;
    w->what = b->what;
    list_sums(w);
    w->list = arena_alloc(w->a, ((size_t)w->graph->value_count * 2 + (size_t)w->sum_count + 1) * sizeof *w->list);
    o.judged = note_value, o.unnamed = note_unnamed, o.compiled = note_compiled, o.context = w;
    return o;
}

/* Of outputs end to end a run says which is beyond, not where; that stands behind all values. */
void walk_outputs(walk *w, const ir_program *graph, const trial_result *r)
{
    for (int i = 0; i < r->check_count; i++) {
        const trial_check *c = &r->checks[i];
        if (!c->end_to_end || c->good || w->what != bisect_diff) continue;
        for (int k = 0; k < graph->value_count; k++)
            if (graph->values[k]->output && strcmp(graph->values[k]->output, c->name) == 0)
                w->list[w->count++] = (parting){.value = graph->values[k],
                                                .end_to_end = true,
                                                .kind = c->ratio <= 1 ? parting_together : parting_beyond,
                                                .elements = c->count,
                                                .first = c->worst,
                                                .worst = c->worst,
                                                .bound = c->bound,
                                                .ratio = c->ratio,
                                                .worst_ratio = c->ratio,
                                                .spread = c->spread};
    }
}

static int order_of(const plan *p, const parting *found)
{
    const ir_value *v = program_value(p->program, found->value->name);
    for (int i = 0; v && i < p->program->op_count && !found->end_to_end; i++)
        if (p->program->ops[i] == v->def) return i;
    return p->program->op_count;
}

const parting *walk_first(const walk *w, const plan *p)
{
    const parting *first = NULL;
    for (int i = 0; i < w->count; i++)
        if (w->list[i].kind != parting_none && (!first || order_of(p, &w->list[i]) < order_of(p, first))) first = &w->list[i];
    return first;
}
