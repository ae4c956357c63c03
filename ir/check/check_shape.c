/* In: ops with their operands. Out: returns if each op's attributes, dtypes and shapes agree. Refuses: the first op where they do not.
 * It shares no code with the reader's shape inference, so that either finds the other's mistakes. */
#include "ir/check/check.h"
#include "ir/graph/fields.h"
#include "ir/graph/format.h"
#include "ir/graph/scaling.h"
#include <limits.h>
#include <math.h>
#include <string.h>

static _Noreturn void clash(const checker *c, const ir_op *op, const char *what)
{
    rule_broken(c, op->at, "%s %%%s: %s", op_table[op->kind].name, op->outputs[0]->name, what);
}

static void need(const checker *c, const ir_op *op, bool holds, const char *what)
{
    if (!holds) clash(c, op, what);
}

static bool is_number(const extent *e, long long value)
{
    long long n;
    return extent_is_number(e, &n) && n == value;
}

static bool is_vector(const ir_value *v, long long columns)
{
    return v->rank == 1 && is_number(&v->shape[0], columns);
}

/* Axis i of v, counted from the last, which is 0; NULL if v has no such axis. */
static const extent *axis(const ir_value *v, int from_back)
{
    return from_back < v->rank ? &v->shape[v->rank - 1 - from_back] : NULL;
}

static void check_broadcast(const checker *c, const ir_op *op)
{
    const ir_value *out = op->outputs[0];
    int rank = 0;
    for (int k = 0; k < op->input_count; k++)
        if (op->inputs[k]->rank > rank) rank = op->inputs[k]->rank;
    need(c, op, out->rank == rank, "the result's rank differs from its operands'");
    for (int i = 0; i < rank; i++) {
        bool full = is_number(axis(out, i), 1);
        for (int k = 0; k < op->input_count; k++) {
            const extent *e = axis(op->inputs[k], i);
            if (!e) continue;
            need(c, op, extent_equal(e, axis(out, i)) || is_number(e, 1), "an operand does not broadcast to the result");
            full |= extent_equal(e, axis(out, i));
        }
        need(c, op, full, "an axis of the result is in no operand");
    }
}

static void check_align(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const bool turned = op->attributes.transpose && x->rank >= 2;
    need(c, op, x->type == y->type && (turned ? value_same_leading(x, y, 2) : value_same_shape(x, y)),
         "the result has another shape or dtype");
    need(c, op, !turned || (extent_equal(axis(y, 0), axis(x, 1)) && extent_equal(axis(y, 1), axis(x, 0))),
         "the result is not its operand's transpose");
    need(c, op, !y->root && y->root_stride && y->root_stride * dtype_size(y->type) % 16 == 0,
         "the result's rows are no multiple of 16 bytes");
}

static void check_terms(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const int columns = op->attributes.transpose ? 0 : 1;
    need(c, op, x->rank >= 2 && value_same_leading(x, y, 2) && x->type == dtype_f32 && y->type == dtype_f32,
         "the result has other batches or dtype");
    need(c, op, extent_equal(axis(y, 0), axis(x, columns)) && extent_equal(axis(y, 1), axis(x, 1 - columns)),
         "the result is not [..., N, K]");
    need(c, op, !y->root && y->root_stride == (value_columns(y) + 31) / 32 * 64, "the result's row stride is not the length of two terms");
}

static void check_bf16_terms(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const bool splits = x->type == dtype_f16 || x->type == dtype_f32;
    need(c, op, x->rank >= 1 && value_same_shape(x, y) && splits && y->type == dtype_bf16, "the result is not the operand's terms in bf16");
    need(c, op, !y->root && y->root_stride == format_row_of_terms(x->type, value_columns(y)),
         "the result's row stride is not the length of its terms");
}

static void check_row(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    need(c, op, x->rank >= 1 && value_same_leading(x, y, 1) && is_number(axis(y, 0), 1), "the result is not [..., 1]");
}

static void check_norm(const checker *c, const ir_op *op)
{
    need(c, op, op->inputs[0]->rank >= 1 && value_same_shape(op->inputs[0], op->outputs[0]), "the result is not shaped as the operand");
    for (int k = 1; k < op->input_count; k++)
        need(c, op, is_vector(op->inputs[k], value_columns(op->inputs[0])), "a weight is no vector over the last axis");
    need(c, op, !op->attributes.unit_offset || op->input_count > 1, "unit_offset without a weight");
}

static void check_rope(const checker *c, const ir_op *op)
{
    const ir_attributes *t = &op->attributes;
    const ir_value *x = op->inputs[0];
    need(c, op, value_same_shape(x, op->outputs[0]) && x->rank >= 2 && x->rank <= 4,
         "the result is not shaped as the operand, [B, S, H*hd] or [B, S, H, hd]");
    need(c, op, x->rank < 4 || is_number(&x->shape[2], t->heads), "the third axis is not the heads");
    need(c, op, x->rank == 4 || value_columns(x) % t->heads == 0, "heads do not divide the columns");
    long long size = x->rank == 4 ? value_columns(x) : value_columns(x) / t->heads;
    need(c, op, t->rotary >= 2 && t->rotary <= size && t->rotary % 2 == 0, "rotary is not even and within a head");
    if (t->at) need(c, op, x->rank >= 3 && extent_equal(&t->at->shape[0], &x->shape[0]), "at is not [B]");
}

/* The first weight multiplies the first columns of the operand x, the weight `continued`, if any, the remaining ones. */
static void check_weights(const checker *c, const ir_op *op, const ir_value *x, const ir_value *w)
{
    const ir_value *rest = op->attributes.continued;
    const bool out_in = op->attributes.layout == layout_out_in;
    if (!rest) {
        need(c, op, extent_equal(axis(x, 0), &w->shape[out_in]), "the operand's columns are not the weight's");
        return;
    }
    const bool params = rest->kind == value_param && w->kind == value_param;
    need(c, op, params && rest->type == w->type, "continued is no param of the weight's dtype");
    need(c, op, rest->rank == 2 && extent_equal(&rest->shape[!out_in], &w->shape[!out_in]),
         "continued does not compute the same columns of the result");
    long long first = 0, second = 0;
    const bool known = extent_is_number(&w->shape[out_in], &first) && extent_is_number(&rest->shape[out_in], &second);
    need(c, op, known && value_columns(x) == first + second, "the operand's columns are not those of both weights");
    need(c, op, !op->attributes.fold && op->input_count == 2, "a continued weight with a fold or a bias");
}

static void check_linear(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *w = op->inputs[1], *y = op->outputs[0];
    bool out_in = op->attributes.layout == layout_out_in;
    need(c, op, x->rank >= 1 && w->rank == 2 && value_same_leading(x, y, 1), "operand, weight and out do not fit");
    check_weights(c, op, x, w);
    need(c, op, extent_equal(axis(y, 0), &w->shape[!out_in]), "the result's columns are not the weight's");
    if (op->input_count == 3) need(c, op, is_vector(op->inputs[2], value_columns(y)), "the bias is no vector over the result's columns");
    if (op->attributes.fold) need(c, op, is_vector(op->attributes.fold, value_columns(x)), "fold is no vector over the operand's columns");
}

static void check_matmul(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *w = op->inputs[1], *y = op->outputs[0];
    const bool t = op->attributes.transpose, t_a = op->attributes.transpose_a;
    need(c, op, x->rank >= 2 && w->rank >= 2 && y->rank == (x->rank > w->rank ? x->rank : w->rank),
         "the operands need at least two axes each, and the result as many as the operand with more axes");
    need(c, op, x->type == w->type, "the operands differ in dtype");
    need(c, op, extent_equal(axis(x, t_a ? 1 : 0), axis(w, t ? 0 : 1)), "the operands differ in K, the axis that is summed");
    long long depth;
    need(c, op, extent_is_number(axis(x, t_a ? 1 : 0), &depth), "K, the axis that is summed, is dynamic");
    need(c, op, extent_equal(axis(y, 0), axis(w, t ? 1 : 0)) && extent_equal(axis(y, 1), axis(x, t_a ? 0 : 1)),
         "the result has other rows or columns");
    for (int i = 2; i < y->rank; i++) {
        const bool of_x = i < x->rank && extent_equal(axis(x, i), axis(y, i)), of_w = i < w->rank && extent_equal(axis(w, i), axis(y, i));
        need(c, op, (of_x || of_w) && (of_x || i >= x->rank || is_number(axis(x, i), 1)) &&
             (of_w || i >= w->rank || is_number(axis(w, i), 1)), "the batches differ");
    }
}

/* Head size of [B, S, H*hd] or [B, S, H, hd]. */
static long long head_size(const checker *c, const ir_op *op, const ir_value *x, long long heads)
{
    long long columns = value_columns(x);
    if (x->rank == 4) {
        need(c, op, is_number(&x->shape[2], heads), "the third axis is not the heads");
        return columns;
    }
    need(c, op, x->rank == 3 && columns % heads == 0, "an operand is not [B, S, H*hd] or [B, S, H, hd]");
    return columns / heads;
}

/* A view of a cache is not a cache: its readers see an activation. */
static bool is_cache(const ir_value *v)
{
    return v->kind == value_state || (v->def && v->def->kind == op_kv_append);
}

/* k: the keys or the values. Returns its head size. */
static long long check_keys(const checker *c, const ir_op *op, const ir_value *k)
{
    const ir_attributes *t = &op->attributes;
    const ir_value *q = op->inputs[0];
    need(c, op, k->rank >= 3 && extent_equal(&k->shape[0], &q->shape[0]), "keys or values have another batch");
    need(c, op, k->type == q->type, "queries, keys and values differ in dtype");
    if (!is_cache(k)) return head_size(c, op, k, t->kv_heads);
    need(c, op, k->rank == 4 && is_number(&k->shape[1], t->kv_heads), "the cache is not [B, KV, L, hd]");
    return value_columns(k);
}

/* The bias is [S, L], [heads, S, L] or [B, heads, S, L]; heads or B may be 1 instead: all heads or sequences then share it. */
static void check_bias(const checker *c, const ir_op *op)
{
    const ir_value *b = op->attributes.bias, *q = op->inputs[0];
    need(c, op, b->rank >= 2 && b->rank <= 4 && dtype_is_real(b->type) && (b->kind == value_input || b->kind == value_param),
         "the bias is not an input or param [S, L], [heads, S, L] or [B, heads, S, L]");
    need(c, op, extent_equal(&b->shape[b->rank - 2], &q->shape[1]), "the bias has other queries");
    need(c, op, b->rank < 3 || is_number(&b->shape[b->rank - 3], 1) || is_number(&b->shape[b->rank - 3], op->attributes.heads),
         "the bias has other heads");
    need(c, op, b->rank < 4 || is_number(&b->shape[0], 1) || extent_equal(&b->shape[0], &q->shape[0]), "the bias has another batch");
    need(c, op, value_columns(b) >= extent_high(value_tokens(op->inputs[1]), &c->p->dims), "the bias has fewer keys than there are");
}

/* True if y has the rows and heads of the queries q, and heads of `size` columns. q is [B, S, H, hd] or [B, S, H*hd]; y may be [B, S,
 * H*size] in either case, and [B, S, H, size] only if q has four axes. */
static bool has_rows_of(const ir_value *q, const ir_value *y, long long heads, long long size)
{
    return y->rank >= 3 && y->rank <= q->rank && extent_equal(&q->shape[0], &y->shape[0]) && extent_equal(&q->shape[1], &y->shape[1]) &&
           (y->rank == 3 || is_number(&y->shape[2], heads)) && value_columns(y) == (y->rank == 3 ? heads : 1) * size;
}

static void check_attention(const checker *c, const ir_op *op)
{
    const ir_attributes *t = &op->attributes;
    const ir_value *q = op->inputs[0], *k = op->inputs[1], *v = op->inputs[2], *y = op->outputs[0];
    bool cached = is_cache(k);
    const long long size = check_keys(c, op, v);
    need(c, op, check_keys(c, op, k) == head_size(c, op, q, t->heads), "heads of queries and keys differ in size");
    need(c, op, t->heads % t->kv_heads == 0, "kv_heads does not divide heads");
    need(c, op, cached == is_cache(v), "one of keys and values is a cache, the other is not");
    need(c, op, extent_equal(&k->shape[cached ? 2 : 1], &v->shape[cached ? 2 : 1]), "not as many keys as values");
    need(c, op, !t->at || cached, "at without a cache");
    need(c, op, !cached || t->at || t->lengths, "a cache without at or lengths");
    need(c, op, !t->alibi.count || t->alibi.count == t->heads, "alibi is not a slope for each head");
    for (int i = 0; i < t->alibi.count; i++) need(c, op, isfinite(t->alibi.at[i]), "a slope is not finite");
    if (op->input_count > 3)
        need(c, op, op->inputs[3]->kind == value_param && is_vector(op->inputs[3], t->heads),
             "sinks are not a param with one number per head");
    if (t->at) need(c, op, extent_equal(&t->at->shape[0], &q->shape[0]), "at is not [B]");
    if (t->lengths) need(c, op, extent_equal(&t->lengths->shape[0], &q->shape[0]), "lengths is not [B]");
    if (t->bias) check_bias(c, op);
    if (t->first) need(c, op, extent_equal(&t->first->shape[0], &q->shape[0]), "first is not [B]");
    if (op->kind == op_attention)
        need(c, op, has_rows_of(q, y, t->heads, size), "the result's batch, tokens or heads are not those of the queries");
    else
        need(c, op, y->rank == 4 && y->type == dtype_f32 && extent_equal(&y->shape[0], &q->shape[0]) &&
                 extent_equal(&y->shape[1], &q->shape[1]) && is_number(&y->shape[2], t->heads) &&
                 is_number(&y->shape[3], size + 2), "the result is not f32[B, S, H, hd+2]");
}

static void check_combine(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    need(c, op, x->rank == 4 && y->rank >= 3 && x->type == dtype_f32, "the operand is not f32[B, S, H, hd+2]");
    need(c, op, x->def && x->def->kind == op_attention_partial, "the operand is not of attention_partial");
    need(c, op, extent_equal(&x->shape[0], &y->shape[0]) && extent_equal(&x->shape[1], &y->shape[1]), "rows differ");
    need(c, op, is_number(&x->shape[2], op->attributes.heads), "heads differ");
    need(c, op, head_size(c, op, y, op->attributes.heads) == value_columns(x) - 2, "the result is not [B, S, H*hd]");
}

static void check_append(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *state = op->attributes.state;
    need(c, op, x->rank >= 3 && state->rank == 4 && value_same_shape(state, op->outputs[0]), "not [B, S, KV*hd] into [B, KV, L, hd]");
    need(c, op, state->kind == value_state, "the state is not declared as one");
    long long heads = 0;
    need(c, op, extent_is_number(&state->shape[1], &heads) && heads >= 1, "the state's heads are dynamic");
    need(c, op, head_size(c, op, x, heads) == value_columns(state), "head sizes differ");
    need(c, op, extent_equal(&x->shape[0], &state->shape[0]) && extent_equal(&op->attributes.at->shape[0], &x->shape[0]), "batches differ");
    need(c, op, state->type == op->outputs[0]->type, "the result has another dtype than its state");
}

static void check_slice(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    need(c, op, x->rank >= 1 && value_same_leading(x, y, 1) && x->type == y->type, "the result has other rows");
    need(c, op, op->attributes.offset <= value_columns(x) - value_columns(y), "the slice reaches beyond its operand");
}

static void check_split(const checker *c, const ir_op *op)
{
    long long sum = 0;
    for (int i = 0; i < op->output_count; i++) {
        need(c, op, op->inputs[0]->rank >= 1 && value_same_leading(op->inputs[0], op->outputs[i], 1), "a result has other rows");
        need(c, op, op->outputs[i]->type == op->inputs[0]->type, "a result has another dtype");
        sum += value_columns(op->outputs[i]);
    }
    need(c, op, sum == value_columns(op->inputs[0]), "the results do not add up to the operand");
}

static void check_concat(const checker *c, const ir_op *op)
{
    long long sum = 0;
    for (int i = 0; i < op->input_count; i++) {
        need(c, op, op->outputs[0]->rank >= 1 && value_same_leading(op->inputs[i], op->outputs[0], 1), "an operand has other rows");
        need(c, op, op->inputs[i]->type == op->outputs[0]->type, "dtypes differ");
        sum += value_columns(op->inputs[i]);
    }
    need(c, op, sum == value_columns(op->outputs[0]), "the operands do not add up to the result");
}

static void check_reshape(const checker *c, const ir_op *op)
{
    extent count[2];
    for (int k = 0; k < 2; k++) {
        const ir_value *v = k ? op->outputs[0] : op->inputs[0];
        count[k] = extent_multiply(c->a, op->at, value_rows(c->a, v), extent_number(value_columns(v)));
    }
    need(c, op, extent_equal(&count[0], &count[1]), "the result has another number of elements");
    need(c, op, op->inputs[0]->type == op->outputs[0]->type, "dtypes differ");
}

static void check_permute(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const number_list *axes = &op->attributes.axes;
    unsigned taken = 0;
    need(c, op, axes->count == x->rank && x->rank == y->rank, "axes are not as many as the operand's");
    for (int i = 0; i < axes->count; i++) {
        const double axis = axes->at[i];
        need(c, op, axis >= 0 && axis < x->rank && axis == floor(axis) && !(taken >> (int)axis & 1), "axes must have each axis once");
        taken |= 1u << (int)axis;
        need(c, op, extent_equal(&y->shape[i], &x->shape[(int)axis]), "the result is not shaped as the permuted operand");
    }
    need(c, op, x->type == y->type, "dtypes differ");
}

/* The result's shape is the operand's with extent 1 for the reduced axis, or without that axis. */
static void check_reduced(const checker *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const bool columns = op_table[op->kind].class == class_COLUMNS;
    const long long axis = op->attributes.axis, gone = op->attributes.keepdim || columns ? 0 : 1;
    need(c, op, !columns || axis + 1 < x->rank, "the axis is the last");
    need(c, op, !columns || value_columns(x) > 1, "the operand has one column");
    long long size;
    need(c, op, axis >= 0 && axis < x->rank && x->rank > gone, "there is no such axis");
    need(c, op, extent_is_number(&x->shape[axis], &size), "the axis is dynamic");
    need(c, op, y->rank == x->rank - gone && (gone || is_number(&y->shape[axis], 1)), "the result has another axis there");
    for (int i = 0; i < x->rank; i++)
        need(c, op, i == axis || extent_equal(&x->shape[i], &y->shape[i - (i > axis ? (int)gone : 0)]), "the result has other axes");
}

static void check_op_shape(const checker *c, const ir_op *op)
{
    switch (op->kind) {
    case op_row_mean: check_row(c, op); return;
    case op_softmax: case op_l2norm: case op_rmsnorm: case op_layernorm: check_norm(c, op); return;
    case op_rope: check_rope(c, op); return;
    case op_linear: check_linear(c, op); return;
    case op_matmul: check_matmul(c, op); return;
    case op_attention: case op_attention_partial: check_attention(c, op); return;
    case op_attention_combine: check_combine(c, op); return;
    case op_kv_append: check_append(c, op); return;
    case op_slice: check_slice(c, op); return;
    case op_split: check_split(c, op); return;
    case op_concat: check_concat(c, op); return;
    case op_reshape: check_reshape(c, op); return;
    case op_permute: check_permute(c, op); return;
    case op_sum: case op_mean: case op_amax: case op_amin: check_reduced(c, op); return;
    case op_align: check_align(c, op); return;
    case op_tf32_terms: check_terms(c, op); return;
    case op_bf16_terms: check_bf16_terms(c, op); return;
    default: break;
    }
    if (op_table[op->kind].class == class_REDUCE) check_row(c, op);
    else if (op_table[op->kind].class == class_COLUMNS) check_reduced(c, op);
    else check_broadcast(c, op);
}

/* A lower (`least`) or upper bound of e over the ranges of all dims: the sum of each term's bound. Saturates. */
static long long bound(const extent *e, const dim_table *dims, bool least)
{
    long long sum = 0;
    for (int i = 0; i < e->count; i++) {
        long long product = e->terms[i].factor;
        bool low = (product > 0) == least;
        for (int d = 0; d < dims->count; d++)
            for (int n = 0; dims->dims[d].dynamic && n < e->terms[i].power[dims->dims[d].slot]; n++)
                if (__builtin_mul_overflow(product, low ? dims->dims[d].low : dims->dims[d].high, &product))
                    return least ? -(1LL << 62) : 1LL << 62;
        if (__builtin_add_overflow(sum, product, &sum)) return least ? -(1LL << 62) : 1LL << 62;
    }
    return sum;
}

/* Sizes must be small enough that no later stage overflows, and the last axis static. */
static void check_value(const checker *c, const ir_value *v)
{
    long long n, elements = 1;
    for (int i = 0; i < v->rank; i++) {
        bool fixed = extent_is_number(&v->shape[i], &n);
        const long long low = fixed ? n : bound(&v->shape[i], &c->p->dims, true),
                        high = fixed ? n : bound(&v->shape[i], &c->p->dims, false);
        if (i + 1 == v->rank && !fixed && v->type != dtype_i32) rule_broken(c, v->at, "%%%s: the last axis is dynamic", v->name);
        if (low < 1) rule_broken(c, v->at, "%%%s: an axis may be below 1", v->name);
        if (high > 1LL << 31 || __builtin_mul_overflow(elements, high, &elements) || elements > 1LL << 40)
            rule_broken(c, v->at, "%%%s is too large", v->name);
    }
    if (v->kind == value_constant && v->rank) rule_broken(c, v->at, "a number has a shape");
    if (v->kind == value_constant && !isfinite(v->constant)) rule_broken(c, v->at, "a number is not finite");
}

void check_shapes(const checker *c)
{
    for (int i = 0; i < c->p->value_count; i++) check_value(c, c->p->values[i]);
    for (int i = 0; i < c->p->op_count; i++) check_op_shape(c, c->p->ops[i]);
}

static bool is_index(const ir_value *v)
{
    return v->type == dtype_i32 && v->rank == 1 && (v->kind == value_input || v->kind == value_param || v->kind == value_state);
}

static void check_indices(const checker *c, const ir_op *op)
{
    const ir_attributes *t = &op->attributes;
    need(c, op, !t->at || is_index(t->at), "at is not an i32[B] input, param or state");
    need(c, op, !t->lengths || is_index(t->lengths), "lengths is not an i32[B] input, param or state");
    need(c, op, !t->first || is_index(t->first), "first is not an i32[B] input, param or state");
    for (int k = 0; k < op->input_count; k++)
        need(c, op, op->inputs[k]->type != dtype_i32 || op->kind == op_cast, "an operand is i32");
}

/* The fields that an op kind takes, computed once per kind. */
typedef struct taken_fields {
    bool known, heads, kv_heads;
    unsigned bits;
} taken_fields;

static void check_numbers(const checker *c, const ir_op *op, const taken_fields *taken)
{
    const ir_attributes *t = &op->attributes;
    const double all[] = {t->eps, t->theta, t->softcap, t->scale, t->attention_factor};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) need(c, op, isfinite(all[i]), "an attribute is not finite");
    need(c, op, t->heads >= 0 && t->kv_heads >= 0 && t->window >= 0 && t->offset >= 0 && t->rotary >= 0, "an attribute is negative");
    need(c, op, t->window <= INT_MAX, "window is above 2147483647");
    if (taken->heads) need(c, op, t->heads >= 1 && t->heads <= 1 << 20, "heads is missing");
    if (taken->kv_heads) need(c, op, t->kv_heads >= 1 && t->kv_heads <= 1 << 20, "kv_heads is missing");
    if (op->kind == op_rope) need(c, op, t->theta > 0, "theta is not above 0");
    if (op->kind == op_rope) need(c, op, t->attention_factor >= 0, "attention_factor is negative");
    const char *fault = scaling_fault(&t->scaling, t->theta, t->rotary);
    need(c, op, !fault, fault);
}

static const taken_fields *taken_by(taken_fields *list, op_kind kind)
{
    taken_fields *t = &list[kind];
    if (!t->known) *t = (taken_fields){true, op_takes(kind, "heads"), op_takes(kind, "kv_heads"), fields_taken(kind)};
    return t;
}

static void check_taken(const checker *c, const ir_op *op, const taken_fields *taken)
{
    for (int f = 0; f < attribute_field_count; f++)
        if (!(taken->bits >> f & 1) && field_is_set(&op->attributes, &attribute_fields[f]))
            rule_broken(c, op->at, "%s %%%s has %s", op_table[op->kind].name, op->outputs[0]->name, attribute_fields[f].key);
}

void check_attributes(const checker *c)
{
    taken_fields list[op_count] = {{0}};
    for (int i = 0; i < c->p->op_count; i++) {
        const ir_op *op = c->p->ops[i];
        const op_info *info = &op_table[op->kind];
        const taken_fields *taken = taken_by(list, op->kind);
        need(c, op, op->input_count >= info->least_inputs && op->input_count <= info->most_inputs, "wrong number of operands");
        need(c, op, op->output_count == 1 || op->kind == op_split, "more than one result");
        check_taken(c, op, taken);
        if (op->kind == op_kv_append) need(c, op, op->attributes.at && op->attributes.state, "at or state is missing");
        if (op->kind == op_cast) need(c, op, op->attributes.to == op->outputs[0]->type, "the result has another dtype than `to`");
        else
            for (int k = 0; k < op->output_count; k++) need(c, op, op->outputs[k]->type != dtype_i32, "the result is i32");
        check_indices(c, op);
        check_numbers(c, op, taken);
    }
}
