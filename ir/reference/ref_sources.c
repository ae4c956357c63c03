/* In: the values of one run. Out: each value's error split by the earlier values that cause it. Errors with a common cause (x + x, x * x,
 * x + f(x), a number that a whole row depends on) then add linearly with signs; only errors with different causes add as squares.
 * Fails only if there is no memory.
 *
 * A source is a value whose errors reach an element, or a sum, along several paths: several ops read it, it broadcasts, or the same op
 * computes it twice from the same values. A share gives, for each element of a tensor, the signed change if the source moves by its own
 * error: derivative times error. Elementwise ops, moves, row reductions, norms and rope pass shares on; products pass on those of a source
 * that a whole row depends on; softmax and attention pass none on. The rest of an error, without the shares, counts as independent of
 * everything else.
 *
 * A source of which only one live tensor has a share cannot meet itself again: the share is merged into that tensor's own error. So a chain
 * of any length carries one or two shares at a time. */
#include "ir/reference/ref_parts.h"
#include "ir/graph/scaling.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double square(double x) { return x * x; }

ref_share *ref_share_of(const ref_tensor *t, const ref_source *source)
{
    ref_share *s = t->shares;
    while (s && s->source != source) s = s->next;
    return s;
}

static void let_go(ref_source *s)
{
    if (--s->holders > 0) return;
    free(s->common);
    free(s);
}

static void free_share(ref_share *s)
{
    if (s->source) let_go(s->source);
    free(s->size);
    free(s->at);
    free(s);
}

/* Initialises s as a share in the source, with zeros for `count` elements. If source is NULL, s gets a new one. False: out of memory. */
static bool fill_share(ref_share *s, ref_source *source, size_t count)
{
    s->source = source ? source : calloc(1, sizeof *s->source);
    if (s->source) s->source->holders++;
    s->size = calloc(count + 1, sizeof *s->size);
    s->at = calloc(count + 1, sizeof *s->at);
    return s->source && s->size && s->at;
}

ref_share *ref_add_share(ref_state *r, const ir_op *op, ref_tensor *t, ref_source *source)
{
    ref_share *s = source ? ref_share_of(t, source) : NULL;
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (s && fill_share(s, source, t->count)) {
        s->next = t->shares;
        return t->shares = s;
    }
    if (s) free_share(s);
    ref_fail(r, op, "not enough memory");
    return NULL;
}

void ref_put_share(ref_share *s, size_t i, double size, uint32_t at)
{
    if (size == 0 || !isfinite(size)) return;
    if (s->size[i] != 0 && s->at[i] == at) s->size[i] += size;
    else if (fabs(size) > fabs(s->size[i])) s->size[i] = size, s->at[i] = at;
}

void ref_drop_share(ref_tensor *t, ref_share *s)
{
    ref_share **at = &t->shares;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    free_share(s);
}

void ref_forget_shares(ref_tensor *t)
{
    while (t->shares) ref_drop_share(t, t->shares);
}

bool ref_copy_shares(ref_state *r, const ir_op *op, const ref_tensor *x, ref_tensor *y)
{
    for (const ref_share *s = x->shares; s; s = s->next) {
        const bool again = ref_share_of(y, s->source) != NULL;
        ref_share *to = ref_add_share(r, op, y, s->source);
        if (!to) return false;
        to->stretched |= s->stretched || again;
    }
    return true;
}

static double shares_square(const ref_tensor *t, size_t i)
{
    double sum = 0;
    for (const ref_share *s = t->shares; s; s = s->next) sum += square(s->size[i]);
    return sum;
}

double ref_own_square(const ref_tensor *t, size_t i) { return fmax(0, square(ref_error(t, i)) - shares_square(t, i)); }

void ref_note_common(ref_tensor *to, const ref_tensor *from)
{
    size_t before = 1; /* numbers of the shares before s */
    free(to->common);
    to->common = NULL;
    for (const ref_share *s = from->shares; s; s = s->next) {
        size_t last = 0;
        if (s->stretched && !to->common) to->common = calloc(from->count + 1, sizeof *to->common);
        for (size_t i = 0; s->stretched && to->common && i < from->count; i++) {
            last = s->at[i] > last ? s->at[i] : last;
            if (fabs(s->size[i]) > fabs(to->common[i].change)) to->common[i] = (struct ref_common){s->size[i], before + s->at[i]};
        }
        before += last + 1;
    }
}

void ref_cover_shares(ref_tensor *t)
{
    for (size_t i = 0; t->shares && i < t->count; i++) {
        const bool known = isfinite(t->value[i]) && isfinite(t->error[i]);
        for (ref_share *s = t->shares; !known && s; s = s->next) s->size[i] = 0;
        if (known) t->error[i] = fmax(t->error[i], sqrt(shares_square(t, i)));
    }
}

/* ---- sources */
static ref_source *source_of(ref_state *r, const ir_value *v) { return r->sources[r->first[v->id]]; }

double ref_common_part(const ref_share *s, size_t i) { return s->source->common ? s->source->common[s->at[i]] : 0; }

double *ref_keep_inherited(ref_state *r, const ir_op *op)
{
    double **to = &r->inherited[op->outputs[0]->id];
    if (!*to) *to = calloc(ref_out(r, op)->count + 1, sizeof **to);
    if (!*to) ref_fail(r, op, "not enough memory");
    return *to;
}

/* Sets s->common: the fraction of v's squared own error (without shares) that v has from its operands. The rest is v's last rounding, which
 * may differ from reader to reader. */
static bool note_common(ref_state *r, const ir_op *op, const ir_value *v, ref_source *s)
{
    const ref_tensor *t = &r->tensors[v->id];
    const double *inherited = r->inherited[v->id];
    if (!inherited || s->common) return true;
    s->common = calloc(t->count + 1, sizeof *s->common);
    for (size_t i = 0; s->common && i < t->count; i++) {
        const double own = ref_own_square(t, i), common = square(inherited[i]) - shares_square(t, i);
        s->common[i] = own > 0 && isfinite(own) ? fmax(0, fmin(common / own, 1)) : 0;
    }
    return s->common || ref_fail(r, op, "not enough memory");
}

/* Makes v a source: its own errors become a share of it. No effect if it is one or is exact. */
bool ref_make_source(ref_state *r, const ir_op *op, const ir_value *v)
{
    ref_tensor *t = &r->tensors[v->id];
    if (r->is_source[v->id] || ref_exact(t) || t->count > UINT32_MAX) return true;
    r->is_source[v->id] = true;
    ref_share *s = ref_add_share(r, op, t, source_of(r, v));
    if (!s || !note_common(r, op, v, s->source)) return false;
    if (r->has_twin[r->first[v->id]] && !source_of(r, v)) r->sources[r->first[v->id]] = s->source, s->source->holders++;
    for (size_t i = 0; i < t->count; i++) {
        const double own = sqrt(ref_own_square(t, i));
        s->at[i] = (uint32_t)i;
        s->size[i] = isfinite(own) ? own : 0;
    }
    return true;
}

void ref_release_sources(ref_state *r)
{
    for (int i = 0; i < r->p->value_count; i++)
        if (r->sources[i]) let_go(r->sources[i]);
}

/* A product with one term per sum passes shares on as an elementwise op does. */
static bool hands_on_shares(const ref_state *r, const ir_op *op)
{
    const op_class class = op_table[op->kind].class;
    if (class == class_PRODUCT) return ref_axis(r, op->inputs[0], -1) == 1;
    return class != class_ATTENTION && class != class_APPEND && op->kind != op_softmax;
}

static bool same_attributes(const ir_attributes *x, const ir_attributes *y)
{
    return x->to == y->to && x->eps == y->eps && x->unit_offset == y->unit_offset && x->layout == y->layout &&
           x->transpose == y->transpose && x->heads == y->heads && x->kv_heads == y->kv_heads && x->rotary == y->rotary &&
           x->pairing == y->pairing && x->theta == y->theta && scaling_same(&x->scaling, &y->scaling) &&
           x->attention_factor == y->attention_factor && x->causal == y->causal && x->window == y->window && x->softcap == y->softcap &&
           numbers_same(&x->alibi, &y->alibi) &&
           x->scale == y->scale && x->lengths == y->lengths &&
           x->first == y->first && x->bias == y->bias && x->at == y->at && x->state == y->state;
}

/* True for two ops of the same kind with the same attributes on the same values: their results have the same errors. */
static bool are_twins(const ref_state *r, const ir_op *x, const ir_op *y)
{
    if (x->kind != y->kind || x->input_count != y->input_count || x->output_count != 1) return false;
    for (int k = 0; k < x->input_count; k++)
        if (r->first[x->inputs[k]->id] != r->first[y->inputs[k]->id]) return false;
    return same_attributes(ref_attributes(r, x), ref_attributes(r, y));
}

/* The hash bucket of op, which is that of its twins. */
static size_t alike_at(const ref_state *r, const ir_op *op)
{
    uint64_t hash = (uint64_t)op->kind;
    for (int k = 0; k < op->input_count; k++) hash = (hash ^ (uint64_t)r->first[op->inputs[k]->id]) * 0x9e3779b97f4a7c15u;
    return (hash >> 20) % ((size_t)r->p->value_count + 1);
}

void ref_note_op(ref_state *r, int index)
{
    const ir_op *op = r->p->ops[index];
    const int id = op->outputs[0]->id;
    int *const last = &r->alike[alike_at(r, op)], before = *last;
    r->alike_before[index] = before;
    *last = index + 1;
    for (int i = before; i && r->first[id] == id; i = r->alike_before[i - 1])
        if (are_twins(r, r->p->ops[i - 1], op)) r->first[id] = r->first[r->p->ops[i - 1]->outputs[0]->id], r->has_twin[r->first[id]] = true;
    for (int k = 0; hands_on_shares(r, op) && k < op->input_count; k++) r->uses[r->first[op->inputs[k]->id]]++;
}

static double total(const ref_tensor *t, const ref_share *s)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) sum += square(s->size[i]);
    return sum;
}

/* Drops shares that are zero, or of sources that no other tensor shares. Stretched ones stay: they correlate elements of this tensor. */
static void drop_useless(ref_tensor *t)
{
    for (ref_share *s = t->shares, *next; s; s = next) {
        next = s->next;
        if ((!s->stretched && s->source->holders == 1) || total(t, s) == 0) ref_drop_share(t, s);
    }
}

static ref_share *smallest_share(const ref_tensor *t)
{
    ref_share *smallest = t->shares;
    double least = INFINITY;
    for (ref_share *s = t->shares; s; s = s->next) {
        const double size = total(t, s);
        if (size < least) least = size, smallest = s;
    }
    return smallest;
}

/* Merges the smallest share with another that has the same element indices, or into the tensor's own error if there is none. */
static bool drop_smallest(ref_state *r, const ir_op *op, ref_tensor *t)
{
    ref_share *s = smallest_share(t), *other = t->shares, *both = NULL;
    while (other && (other == s || memcmp(other->at, s->at, t->count * sizeof *s->at) != 0)) other = other->next;
    if (other && !(both = ref_add_share(r, op, t, NULL))) return false;
    for (size_t i = 0; other && i < t->count; i++) both->size[i] = ref_joined(other->size[i], s->size[i]), both->at[i] = s->at[i];
    if (other) both->stretched = s->stretched || other->stretched, ref_drop_share(t, other);
    ref_drop_share(t, s);
    return true;
}

bool ref_settle_sources(ref_state *r, const ir_op *op)
{
    for (int k = 0; k < op->output_count; k++) {
        const ir_value *v = op->outputs[k];
        ref_tensor *t = &r->tensors[v->id];
        if (!t->value) continue; /* freed, as nothing reads it */
        drop_useless(t);
        int count = 0;
        for (const ref_share *s = t->shares; s; s = s->next) count++;
        for (; count > ref_most_shares; count--)
            if (!drop_smallest(r, op, t)) return false;
        if (r->uses[r->first[v->id]] > 1 && !ref_make_source(r, op, v)) return false;
    }
    return true;
}

/* ---- rows */
size_t ref_share_run(const ref_share *s, size_t first, size_t end)
{
    size_t i = first, known = end;
    for (; i < end; i++) {
        if (s->size[i] == 0) continue;
        if (known == end) known = i;
        if (s->at[i] != s->at[known]) break;
    }
    return i;
}

uint32_t ref_run_at(const ref_share *s, size_t first, size_t end)
{
    while (first + 1 < end && s->size[first] == 0) first++;
    return s->at[first];
}
