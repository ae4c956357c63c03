/* In: numbers that another framework computed for outputs and intermediates, by name. Out: the first value that differs from the spec's
 * result, computed from that framework's own numbers where the file has them. Refuses tensors of another shape, and files
 * without any value of the spec. */
#include "runtime/cli/bisect/bisect.h"
#include "runtime/cli/trial_data.h"
#include "runtime/data/safetensors.h"
#include <math.h>
#include <string.h>

typedef struct comparing {
    bisection *b;
    const safetensors *file;
    bool *used;  /* for each tensor of the file: whether it is a value of the spec */
    double *got; /* buffer with room for the file's numbers of the largest value */
    text between;
} comparing;

static const safetensors_tensor *tensor_of(const comparing *c, const ir_value *v)
{
    const safetensors_tensor *t = safetensors_find(c->file, v->name);
    return t || !v->output ? t : safetensors_find(c->file, v->output);
}

/* Equal shapes, ignoring axes of extent 1. */
static bool same_shape(const safetensors_tensor *t, const ir_value *v, const dim_table *dims)
{
    int at = 0;
    for (int i = 0; i < v->rank; i++) {
        const long long size = extent_value(&v->shape[i], dims);
        if (size == 1) continue;
        while (at < t->rank && t->shape[at] == 1) at++;
        if (at == t->rank || t->shape[at] != size) return false;
        at++;
    }
    while (at < t->rank && t->shape[at] == 1) at++;
    return at == t->rank;
}

static const char *shape_text(arena *a, const long long *shape, int rank)
{
    text t = {.a = a};
    for (int i = 0; i < rank; i++) text_printf(&t, "%s%lld", i ? "," : "", shape[i]);
    return t.data ? t.data : "";
}

static void need_shape(const comparing *c, const safetensors_tensor *t, const ir_value *v)
{
    const dim_table *dims = &c->b->graph->dims;
    long long shape[max_rank];
    arena *a = c->b->a;
    if (same_shape(t, v, dims)) return;
    for (int i = 0; i < v->rank; i++) shape[i] = extent_value(&v->shape[i], dims);
    bail(a, code_bad_input, (position){0}, "%s: %s is [%s], the spec's %%%s is [%s]", c->b->expected.file, t->name,
         shape_text(a, t->shape, t->rank), v->name, shape_text(a, shape, v->rank));
}

/* Frameworks compute a rope or a norm by several ops, each rounded to the dtype: allows one more rounding of an operand, as its error. */
static void allow_rounding(dtype type, ref_tensor *t)
{
    for (size_t i = 0; i < t->count && dtype_is_real(type); i++) t->error[i] = hypot(t->error[i], ref_unit(type) * fabs(t->value[i]));
}

static void compare_value(void *context, const ir_value *v, ref_tensor *r)
{
    comparing *c = context;
    expected_result *e = &c->b->expected;
    const safetensors_tensor *t = tensor_of(c, v);
    if (!t) {
        if (!e->first) text_printf(&c->between, "%s%s", c->between.size ? ", " : "", v->name);
        allow_rounding(v->type, r);
        return;
    }
    double *got = c->got;
    safetensors_read(c->file, t, got);
    mismatch *p = &e->list[e->given++];
    *p = mismatch_of(v, &c->b->graph->dims, r, got, bisect_diff);
    if (p->kind != mismatch_none && !e->first) {
        e->first = p;
        e->between = c->between.size ? arena_strdup(c->b->a, c->between.data) : NULL;
    } else if (!e->first) {
        c->between = (text){.a = c->b->a};
    }
    memcpy(r->value, got, r->count * sizeof *got);
    memset(r->error, 0, r->count * sizeof *r->error);
    allow_rounding(v->type, r);
}

/* Marks the file's tensors that are values of the spec, checks their shapes, and allocates room for the largest. Must precede the
 * run of the reference, during which nothing may bail: no arena owns the reference's memory. */
static void mark_used(comparing *c)
{
    long long most = 1;
    for (int i = 0; i < c->b->graph->value_count; i++) {
        const ir_value *v = c->b->graph->values[i];
        const safetensors_tensor *t = v->kind == value_result ? tensor_of(c, v) : NULL;
        if (!t) continue;
        need_shape(c, t, v);
        long long count = 1;
        for (int k = 0; k < t->rank; k++) count *= t->shape[k];
        if (count > most) most = count;
        for (size_t k = 0; k < safetensors_count(c->file); k++) c->used[k] |= safetensors_at(c->file, k) == t;
    }
    c->got = data_numbers(c->b->a, most);
}

/* Notes the file's tensors that the spec does not have; bails if it has no others. */
static void note_unknown(comparing *c)
{
    text t = {.a = c->b->a};
    size_t unknown = 0;
    mark_used(c);
    for (size_t i = 0; i < safetensors_count(c->file); i++)
        if (!c->used[i] && unknown++ < 8)
            text_printf(&t, "%s%s", t.size ? ", " : "", text_harmless(c->b->a, safetensors_at(c->file, i)->name));
    if (unknown > 8) text_printf(&t, " and %zu more", unknown - 8);
    c->b->expected.unknown = t.data;
    if (unknown == safetensors_count(c->file))
        bail(c->b->a, code_bad_input, (position){0}, "--expected: %s has no value of %s; it has %s", c->b->expected.file, c->b->path,
             t.data ? t.data : "nothing");
}

static bool always(void *context, const ir_op *op)
{
    (void)context;
    (void)op;
    return true;
}

static const ref_tensor **operands(bisection *b)
{
    const ref_tensor **given = arena_alloc(b->a, ((size_t)b->graph->value_count + 1) * sizeof *given);
    for (int i = 0; i < b->graph->value_count; i++) {
        const ir_value *v = b->graph->values[i];
        if (!data_is_given(v)) continue;
        ref_tensor *t = arena_alloc(b->a, sizeof *t);
        *t = b->trial.inputs[i];
        t->error = data_numbers(b->a, (long long)t->count);
        allow_rounding(v->type, t);
        given[i] = t;
    }
    return given;
}

/* The reference computes as a framework does: it rounds each op's result to the dtype of that result, and attention may round its
 * exponentials, too. */
void bisect_expected(bisection *b)
{
    arena *a = b->a;
    char message[512];
    comparing c = {.b = b, .file = safetensors_open(a, b->o->expected), .between = {.a = a}};
    const ref_rules rules = {.rounds_scores = always, .finished = compare_value, .sampled = b->sampled, .context = &c};
    b->expected = (expected_result){.file = b->o->expected, .list = arena_alloc(a, ((size_t)b->graph->value_count + 1) * sizeof(mismatch))};
    c.used = arena_alloc(a, safetensors_count(c.file) + 1);
    note_unknown(&c);
    ref_tensor **none = arena_alloc(a, ((size_t)b->graph->value_count + 1) * sizeof *none);
    if (!ref_run(b->graph, operands(b), true, &rules, none, message, sizeof message))
        bail(a, code_check_failed, (position){0}, "%s", message);
    b->found |= b->expected.first != NULL;
}
