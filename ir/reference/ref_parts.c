/* In: one run of the reference. Out: helpers for its files: unit roundoffs, axes, sums, threads. */
#define _GNU_SOURCE
#include "ir/reference/ref_parts.h"
#include "ir/base/processors.h"
#include "ir/graph/half.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A sampled run takes the first group, the last, and four spread evenly between them. */
bool ref_takes_group(const ref_state *r, size_t index, size_t rows)
{
    enum { taken = 6 };
    const size_t groups = (rows + ref_row_group - 1) / ref_row_group;
    if (!r->rules || !r->rules->sampled || groups <= taken) return true;
    const size_t i = (index * (taken - 1) + groups - 2) / (groups - 1); /* the first sample at or after index */
    return i * (groups - 1) / (taken - 1) == index;
}

double ref_unit(dtype t) { return t == dtype_bf16 ? 0x1p-8 : t == dtype_f16 ? 0x1p-11 : t == dtype_f32 ? REF_UNIT : 0; }

double ref_least(dtype t) { return t == dtype_f16 ? 0x1p-25 : REF_LEAST; }

ref_form ref_form_of(const ref_state *r, const ir_op *op)
{
    return r->rules && r->rules->form ? r->rules->form(r->rules->context, op) : ref_form_definition;
}

double ref_form_error(op_kind kind, ref_form form)
{
    static const double ulps[op_count][2] = {
#define FORM(op, exact, quick) [op_##op] = {exact, quick},
#include "ir/op.def"
    };
    return 2 * REF_UNIT * ulps[kind][form == ref_form_quick];
}

bool ref_fail(ref_state *r, const ir_op *op, const char *why)
{
    if (op)
        snprintf(r->message, r->message_size, "reference: %s %%%s: %s", op_table[op->kind].name, op->outputs[0]->name,
                 why);
    else
        snprintf(r->message, r->message_size, "reference: %s", why);
    return false;
}

const ref_tensor *ref_of(const ref_state *r, const ir_value *v) { return &r->tensors[v->id]; }
ref_tensor *ref_out(ref_state *r, const ir_op *op) { return &r->tensors[op->outputs[0]->id]; }
double ref_error(const ref_tensor *t, size_t i) { return t->error ? t->error[i] : 0; }

/* Root of the sum of squares, with the sign of the larger. */
double ref_joined(double x, double y) { return copysign(hypot(x, y), fabs(x) > fabs(y) ? x : y); }

ref_rows ref_rows_of(const ref_state *r, const ir_value *v, size_t heads)
{
    const bool cache = v->kind == value_state || (v->def && v->def->kind == op_kv_append);
    return (ref_rows){(size_t)ref_axis(r, v, cache ? 2 : 1), heads, cache};
}

bool ref_exact(const ref_tensor *t)
{
    for (size_t i = 0; t->error && i < t->count; i++)
        if (t->error[i] != 0) return false;
    return true;
}

long long ref_axis(const ref_state *r, const ir_value *v, int axis)
{
    const ref_shape *s = ref_shape_of(r, v);
    if (axis < 0) axis += s->rank;
    return axis < 0 || axis >= s->rank ? 1 : s->size[axis];
}

bool ref_is_stored(const ref_state *r, const ir_value *v)
{
    if (v->kind != value_result || !r->rules || !r->rules->stored) return true;
    return r->rules->stored(r->rules->context, v);
}

void ref_overflow(dtype t, double *value, double *error)
{
    const double limit = dtype_largest(t) * (1 + ref_unit(t)), bound = ref_sigmas * *error;
    if (!isfinite(*value) || !(fabs(*value) + bound >= limit)) return;
    const bool sure = fabs(*value) - bound >= limit;
    if (sure) *value = copysign(INFINITY, *value);
    *error = sure ? 0 : INFINITY;
}

/* ---- sums */
void ref_sum_add(ref_sum *s, double term, double error)
{
    s->value += term;
    s->block += term;
    s->partial_squares += s->block * s->block;
    s->term_squares += term * term;
    s->input_squares += error * error;
    s->repeats += s->count > 0 && term == s->last && term != 0;
    s->last = term;
    if (++s->count % REF_CHAIN != 0 || s->whole) return;
    s->partial_squares += s->value * s->value;
    s->block = 0;
}

/* K terms in random order, in m = K/L chains of L: the squared partial sums of a chain add up to L/3 of its sum's square and L/6 of its
 * terms' squares; the squared sums of all chains add up to y^2/m + sum t^2; the m sums are then added as one more chain. */
ref_chains ref_chains_of(double n, bool whole)
{
    const double L = whole ? n : fmin(n, REF_CHAIN), m = L > 0 ? n / L : 0;
    return (ref_chains){m > 1 ? L / m / 3 + (m + 1) / 3 : n / 3, m > 1 ? L / 2 + m / 6 : n / 6};
}

double ref_repeated(size_t count, size_t repeats)
{
    if (repeats * 20 < count) return 0;
    return (double)count * (double)repeats / (ref_sigmas * ref_sigmas);
}

double ref_sum_rounding(const ref_sum *s)
{
    const ref_chains c = ref_chains_of(s->count > 1 ? (double)s->count - 1 : 0, s->whole);
    const double in_order = s->count > 1 ? s->partial_squares : 0;
    const double alike = ref_repeated(s->count, s->repeats) * s->value * s->value;
    return REF_UNIT * REF_UNIT * (fmax(in_order, c.of_value * s->value * s->value) + (c.of_terms + 1) * s->term_squares + alike);
}

double ref_sum_error(const ref_sum *s) { return s->input_squares + ref_sum_rounding(s); }

/* ---- threads */
typedef struct crew {
    size_t count, next;
    void (*work)(void *context, size_t i);
    void *context;
} crew;

static void *work_along(void *argument)
{
    crew *c = argument;
    for (;;) {
        const size_t i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);
        if (i >= c->count) return NULL;
        c->work(c->context, i);
    }
}

void ref_parallel(size_t count, void (*work)(void *context, size_t i), void *context)
{
    enum { most = 63 };
    pthread_t others[most];
    crew c = {count, 0, work, context};
    const int cores = processor_count();
    size_t started = 0;
    while (started < most && (int)started + 1 < cores && started + 1 < count &&
           pthread_create(&others[started], NULL, work_along, &c) == 0)
        started++;
    work_along(&c);
    for (size_t i = 0; i < started; i++) pthread_join(others[i], NULL);
}
