/* In: runs of a plan (runtime/cli/trial.h). Out: for each value in memory its difference from the reference on the device's own inputs, so
 * that the first wrong value locates the fault. Refuses what the device refuses. */
#include "runtime/cli/bisect/bisect.h"
#include "runtime/cli/trial_data.h"
#include <math.h>
#include <string.h>

/* ---- steps without a name in the spec */
static void add_step(walk *w, const ir_op *op) { w->steps[w->step_count++] = (unnamed_step){.op = op}; }

static bool is_sum(const walk *w, const ir_op *op)
{
    if (op_table[op->kind].class != class_REDUCE || graph_value(w->graph, op->outputs[0]->name)) return false;
    return graph_value(w->graph, op->inputs[0]->name) && graph_value(w->plan->ir, op->outputs[0]->name);
}

static void list_steps(walk *w)
{
    const ir_graph *lowered = w->graph->kernel_count ? w->graph : lower(w->a, w->graph), *planned = w->plan->ir;
    w->steps = arena_alloc(w->a, ((size_t)lowered->op_count + (size_t)planned->op_count + 1) * sizeof *w->steps);
    for (int i = 0; i < lowered->op_count; i++)
        if (is_sum(w, lowered->ops[i])) add_step(w, lowered->ops[i]);
    for (int i = 0; i < planned->op_count; i++)
        if (planned->ops[i]->kind == op_align || planned->ops[i]->kind == op_attention_combine) add_step(w, planned->ops[i]);
}

static double *copied(walk *w, const double *numbers, size_t count)
{
    double *out = data_numbers(w->a, (long long)count);
    memcpy(out, numbers, count * sizeof *out);
    return out;
}

static void keep_known(walk *w, const ir_value *v, const ref_tensor *expected, const double *got)
{
    for (int i = 0; i < w->step_count; i++) {
        unnamed_step *s = &w->steps[i];
        const bool joins = s->op->kind == op_attention_combine;
        if (strcmp((joins ? s->op->outputs : s->op->inputs)[0]->name, v->name) != 0) continue;
        s->known = (ref_tensor){.value = copied(w, joins ? expected->value : got, expected->count), .count = expected->count};
        if (joins && expected->error) s->known.error = copied(w, expected->error, expected->count);
    }
}

/* A graph with this op alone on an f32 operand, since the device sums in f32. */
static const ir_graph *sum_graph(arena *a, const ir_graph *graph, const ir_op *op)
{
    ir_graph *p = arena_alloc(a, sizeof *p);
    ir_op *only = arena_alloc(a, sizeof *only);
    *p = (ir_graph){.name = graph->name, .type = dtype_f32, .dims = graph->dims, .value_count = 2, .op_count = 1};
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

static void judge_sum(walk *w, const ir_op *op, const ref_tensor *x, const double *got)
{
    char message[512];
    const ref_tensor *inputs[] = {x, NULL};
    ref_tensor sum = {0}, *results[] = {NULL, &sum};
    if (!ref_run(sum_graph(w->a, w->graph, op), inputs, false, NULL, results, message, sizeof message)) return;
    w->list[w->count++] = mismatch_of(op->outputs[0], &w->graph->dims, &sum, got, w->what);
    ref_free(&sum);
}

/* Combines the `count` partials of a head to its element d. A partial consists of `size` elements, the largest score and the sum of
 * exponentials (templates/attention/decode.h). */
static double joined(const double *parts, int count, long long size, long long d)
{
    double largest = -INFINITY, sum = 0, o = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, parts[i * (size + 2) + size]);
    for (int i = 0; i < count; i++) {
        const double *part = parts + i * (size + 2), scale = largest > -INFINITY ? exp(part[size] - largest) : 0;
        o += part[d] * scale, sum += part[size + 1] * scale;
    }
    return sum > 0 ? o / sum : 0;
}

/* Judges an attention's partials by what they combine to, in float64, so that combining adds no error. */
static void judge_parts(walk *w, const unnamed_step *s, const ir_value *v, const double *parts)
{
    const ir_value *whole = graph_value(w->graph, s->op->outputs[0]->name);
    const long long size = value_columns(v) - 2;
    const int count = w->plan->partials[v->id];
    double *got = data_numbers(w->a, (long long)s->known.count);
    ir_value *named = arena_alloc(w->a, sizeof *named); /* the attention's elements, named as its partials */
    *named = *whole;
    named->name = v->name, named->output = NULL;
    for (long long i = 0; i < (long long)s->known.count; i++) got[i] = joined(parts + i / size * count * (size + 2), count, size, i % size);
    w->list[w->count++] = mismatch_of(named, &w->graph->dims, &s->known, got, w->what);
}

static void note_unnamed(void *context, const ir_value *v, const double *got, const ref_tensor *const *data)
{
    walk *w = context;
    for (int i = 0; i < w->step_count; i++) {
        const unnamed_step *s = &w->steps[i];
        const bool joins = s->op->kind == op_attention_combine;
        const ir_value *x = joins ? NULL : graph_value(w->graph, s->op->inputs[0]->name);
        const ref_tensor *known = s->known.value ? &s->known : x ? data[x->id] : NULL;
        if (!known || strcmp((joins ? s->op->inputs : s->op->outputs)[0]->name, v->name) != 0) continue;
        if (joins)
            judge_parts(w, s, v, got);
        else if (s->op->kind == op_align)
            w->list[w->count++] = mismatch_of(v, &w->graph->dims, known, got, w->what);
        else
            judge_sum(w, s->op, known, got);
    }
}

static void note_value(void *context, const ir_value *v, const ref_tensor *expected, const double *got)
{
    walk *w = context;
    w->list[w->count++] = mismatch_of(v, &w->graph->dims, expected, got, w->what);
    keep_known(w, v, expected, got);
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
    list_steps(w);
    w->list = arena_alloc(w->a, ((size_t)w->graph->value_count * 2 + (size_t)w->step_count + 1) * sizeof *w->list);
    o.judged = note_value, o.unnamed = note_unnamed, o.compiled = note_compiled, o.context = w;
    return o;
}

/* Appends outputs that are beyond their end-to-end bounds; a run tells which outputs, not where. */
void walk_outputs(walk *w, const ir_graph *graph, const trial_result *r)
{
    for (int i = 0; i < r->check_count; i++) {
        const trial_check *c = &r->checks[i];
        if (!c->end_to_end || c->verdict != trial_bad || w->what != bisect_diff) continue;
        for (int k = 0; k < graph->value_count; k++)
            if (graph->values[k]->output && strcmp(graph->values[k]->output, c->name) == 0)
                w->list[w->count++] = (mismatch){.value = graph->values[k],
                                                .end_to_end = true,
                                                .kind = c->ratio <= 1 ? mismatch_together : mismatch_beyond,
                                                .elements = c->count,
                                                .first = c->worst,
                                                .bound = c->bound,
                                                .ratio = c->ratio,
                                                .worst_ratio = c->ratio,
                                                .spread = c->spread};
    }
}

static int order_of(const plan *p, const mismatch *found)
{
    const ir_value *v = graph_value(p->ir, found->value->name);
    for (int i = 0; v && i < p->ir->op_count && !found->end_to_end; i++)
        if (p->ir->ops[i] == v->def) return i;
    return p->ir->op_count;
}

const mismatch *walk_first(const walk *w, const plan *p)
{
    const mismatch *first = NULL;
    for (int i = 0; i < w->count; i++)
        if (w->list[i].kind != mismatch_none && (!first || order_of(p, &w->list[i]) < order_of(p, first))) first = &w->list[i];
    return first;
}
