/* In: values of one run. Out: for elements whose sign depends on rounding, samples of what elementwise ops compute if the element is
 * positive, negative or 0. Fails only if there is no memory.
 *
 * Example: the divisor of relu(d) / max(relu(d), tiny) has a bound that contains 0, but the quotient is always 0 or 1, depending on how d
 * was rounded. So an element near 0 from which a divisor, or the argument of a root or logarithm, may be computed is sampled over its
 * bound, and each sample goes through every elementwise op. If an op has a pole or an end of its domain within the operand's bound, the
 * error covers all samples. It stays infinite if two such elements meet in an op, or if a sample from inside the bound gives a result that
 * is not between those of 0 and of the bound's ends. */
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdlib.h>

static bool is_elementwise(const ir_op *op) { return op_table[op->kind].class == class_ELEMENT; }

void ref_note_choices(ref_state *r)
{
    for (int i = r->p->op_count - 1; i >= 0; i--) {
        const ir_op *op = r->p->ops[i];
        const bool crosses = op->kind == op_div || op->kind == op_log || op->kind == op_sqrt || op->kind == op_rsqrt || op->kind == op_pow;
        for (int k = 0; is_elementwise(op) && k < op->input_count; k++)
            r->may_cross[op->inputs[k]->id] |= crosses || r->may_cross[op->outputs[0]->id];
    }
}

static ref_sides *sides_of(ref_state *r, const ir_op *op, const ir_value *v)
{
    ref_sides **s = &r->sides[v->id];
    if (!*s) *s = calloc(1, sizeof **s);
    if (*s && !(*s)->slot) (*s)->slot = calloc(r->tensors[v->id].count + 1, sizeof *(*s)->slot);
    if (*s && (*s)->slot) return *s;
    ref_fail(r, op, "not enough memory");
    return NULL;
}

ref_side *ref_add_side(ref_state *r, const ir_op *op, const ir_value *v, size_t i)
{
    ref_sides *s = sides_of(r, op, v);
    if (!s) return NULL;
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 16;
        ref_side *list = realloc(s->list, room * sizeof *list);
        if (!list) ref_fail(r, op, "not enough memory");
        if (!list) return NULL;
        s->list = list, s->room = room;
    }
    s->slot[i] = (uint32_t)++s->count;
    return &s->list[s->count - 1];
}

const ref_side *ref_side_of(const ref_state *r, const ir_value *v, size_t i)
{
    const ref_sides *s = r->sides[v->id];
    return s && s->slot[i] ? &s->list[s->slot[i] - 1] : NULL;
}

/* Where in its bound sample k takes the element, as a fraction of the bound: 0, 1, -1, 0.01, -0.01, ... */
static double sample(int k)
{
    static const double part[] = {1, 1e-2, 1e-5, 1e-9, 1e-15, 1e-25};
    return k == 0 ? 0 : k % 2 ? part[(k - 1) / 2] : -part[(k - 1) / 2];
}

bool ref_begin_sides(ref_state *r, const ir_op *op, const ir_value *v)
{
    const ref_tensor *t = &r->tensors[v->id];
    if (!r->may_cross[v->id] || t->count >= UINT32_MAX) return true;
    for (size_t i = 0; i < t->count; i++) {
        const double reach = ref_sigmas * ref_error(t, i);
        if (!(reach > 0 && isfinite(reach) && fabs(t->value[i]) <= reach) || ref_side_of(r, v, i)) continue;
        ref_side *s = ref_add_side(r, op, v, i);
        if (!s) return false;
        s->origin = ((uint64_t)v->id << 32) + i;
        for (int k = 0; k < ref_samples; k++) s->at[k] = reach * sample(k);
    }
    return true;
}

/* Elements that choose() set to the device's numbers (error 0) lose their samples, and their shares of errors. */
static void forget_decided(ref_state *r, const ir_value *v, const bool *open)
{
    ref_tensor *t = &r->tensors[v->id];
    for (size_t i = 0; i < t->count; i++) {
        if (!open[i] || t->error[i] != 0) continue;
        if (r->sides[v->id]) r->sides[v->id]->slot[i] = 0;
        for (ref_share *s = t->shares; s; s = s->next) s->size[i] = 0;
    }
}

bool ref_let_choose(ref_state *r, const ir_op *op, const ir_value *v)
{
    ref_tensor *t = &r->tensors[v->id];
    if (!r->rules || !r->rules->choose || !ref_is_stored(r, v)) return true;
    bool *open = calloc(t->count + 1, sizeof *open), any = false;
    if (!open) return ref_fail(r, op, "not enough memory");
    for (size_t i = 0; i < t->count; i++) any |= open[i] = isinf(t->error[i]) || ref_side_of(r, v, i);
    if (any) r->rules->choose(r->rules->context, v, open, t), forget_decided(r, v, open);
    free(open);
    return true;
}

/* The largest distance of a sample from `from`. Infinite unless every sample is finite and lies between the results of 0 and of both ends.
 * */
double ref_farthest_side(const ref_side *s, double from)
{
    double low = s->at[0], high = s->at[0], farthest = 0;
    for (int k = 0; k < ref_samples; k++) {
        if (!isfinite(s->at[k])) return INFINITY;
        if (k < 3) low = fmin(low, s->at[k]), high = fmax(high, s->at[k]);
    }
    const double slack = 1e-6 * fmax(fabs(low), fabs(high));
    for (int k = 0; k < ref_samples; k++) {
        if (s->at[k] < low - slack || s->at[k] > high + slack) return INFINITY;
        farthest = fmax(farthest, fabs(s->at[k] - from));
    }
    return farthest;
}

void ref_forget_sides(ref_state *r, const ir_value *v)
{
    ref_sides *s = r->sides[v->id];
    if (!s) return;
    free(s->slot);
    free(s->list);
    free(s);
    r->sides[v->id] = NULL;
}
