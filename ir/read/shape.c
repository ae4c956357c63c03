/* In: an op with its inputs and attributes. Out: shapes and dtypes of its results, and values for kv_heads,
 * rotary and scale where the spec gives none. Refuses: shapes that clash, naming both facts. One function for
 * each shape rule of ir/op.def; attention and caches: ir/read/shape_attention.c. */
#include "ir/read/shape.h"
#include <string.h>

typedef enum shape_rule {
    rule_SAME,
    rule_ROW,
    rule_AXIS,
    rule_NORM,
    rule_LINEAR,
    rule_MATMUL,
    rule_ATTENTION,
    rule_APPEND,
    rule_SPLIT,
    rule_CONCAT,
    rule_RESHAPE,
    rule_PERMUTE,
    rule_SLICE,
    rule_PARTIAL,
    rule_COMBINE
} shape_rule;

static const shape_rule rules[op_count] = {
#define OP(name, least, most, shape, class, help) [op_##name] = rule_##shape,
#include "ir/op.def"
};

static bool is_one(const extent *e)
{
    long long value;
    return extent_is_number(e, &value) && value == 1;
}

/* Axes are aligned at the right; an axis that is missing, or has extent 1, broadcasts. */
static bool broadcast_axis(op_draft *d, ir_value *out, int i)
{
    const extent *axis = NULL;
    int from = 0;
    for (int k = 0; k < d->op->input_count; k++) {
        const ir_value *x = d->op->inputs[k];
        const extent *e = i <= x->rank ? shape_axis(x, i) : NULL;
        if (!e || (axis && is_one(e))) continue;
        if (axis && !is_one(axis) && !extent_equal(axis, e))
            return shape_clash(d, d->in_at[k], "%s and %s do not match: axes are paired from the right, %s with %s",
                               shape_of(d, from), shape_of(d, k), graph_extent_text(d->r, axis), graph_extent_text(d->r, e));
        axis = e, from = k;
    }
    out->shape[out->rank - i] = *axis;
    return true;
}

static bool broadcast(op_draft *d, ir_value *out)
{
    out->rank = 0;
    for (int k = 0; k < d->op->input_count; k++)
        if (d->op->inputs[k]->rank > out->rank) out->rank = d->op->inputs[k]->rank;
    for (int i = 1; i <= out->rank; i++)
        if (!broadcast_axis(d, out, i)) return false;
    return true;
}

static bool shape_same(op_draft *d, ir_value *out)
{
    if (d->op->kind == op_rope) return shape_rope(d, out);
    if (d->op->input_count > 1) return broadcast(d, out);
    shape_set(out, d->op->inputs[0]);
    if (d->op->kind != op_cast) return true;
    out->type = d->op->attributes.to;
    if (dtype_is_real(out->type)) return true;
    return shape_clash(d, graph_attribute_at(d, "to"), "to: %s is for inputs only; there are %s", dtype_name(out->type),
                       dtype_names(d->r->a, true, ", ", ", "));
}

static bool shape_norm(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    for (int i = 1; i < d->op->input_count; i++) {
        const ir_value *w = d->op->inputs[i];
        if (w->rank != 1 || !extent_equal(&w->shape[0], shape_axis(x, 1)))
            return shape_clash(d, d->in_at[i], "%s has %lld columns, the %s %s should be [%lld]", shape_of(d, 0),
                               value_columns(x), i == 1 ? "weight" : "bias", shape_of(d, i), value_columns(x));
    }
    if (d->op->attributes.unit_offset && d->op->input_count == 1)
        return shape_clash(d, graph_attribute_at(d, "unit_offset"), "unit_offset: there is no weight to add 1 to");
    shape_set(out, x);
    return true;
}

static bool check_bias(op_draft *d, const extent *columns)
{
    const ir_value *b = d->op->inputs[2];
    if (b->rank == 1 && extent_equal(&b->shape[0], columns)) return true;
    return shape_clash(d, d->in_at[2], "makes %s columns, the bias %s should be [%s]", graph_extent_text(d->r, columns),
                       shape_of(d, 2), graph_extent_text(d->r, columns));
}

static bool shape_linear(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0], *w = d->op->inputs[1];
    bool in_out = d->op->attributes.layout == layout_in_out;
    long long columns;
    if (w->kind != value_param)
        return shape_clash(d, d->in_at[1], "the weight %%%s must be a param; matmul multiplies computed values",
                           w->name);
    if (w->rank != 2)
        return shape_clash(d, d->in_at[1], "the weight %s should have two axes, %s", shape_of(d, 1),
                           in_out ? "[in, out]" : "[out, in]");
    const extent *in = &w->shape[in_out ? 0 : 1], *to = &w->shape[in_out ? 1 : 0];
    if (!extent_equal(in, shape_axis(x, 1))) {
        bool other = extent_equal(to, shape_axis(x, 1));
        return shape_clash(d, d->in_at[1], "%%%s has %lld columns, %%%s %s takes %s (%s)%s", x->name, value_columns(x),
                           w->name, graph_shape_text(d->r, w), graph_extent_text(d->r, in),
                           in_out ? "[in, out]" : "[out, in]",
                           !other   ? ""
                           : in_out ? "; drop layout: in_out?"
                                    : "; is it layout: in_out?");
    }
    if (!extent_is_number(to, &columns))
        return shape_clash(d, d->in_at[1], "the weight %s makes %s columns; the number of columns may not be dynamic",
                           shape_of(d, 1), graph_extent_text(d->r, to));
    if (d->op->input_count == 3 && !check_bias(d, to)) return false;
    shape_set(out, x);
    out->shape[out->rank - 1] = *to;
    return true;
}

/* K, the summed axis of operand `which` (0 or 1), must be static, since kernels have loops of constant length over it. */
static bool check_depth(op_draft *d, int which, const extent *K, const char *shape)
{
    long long k;
    if (extent_is_number(K, &k)) return true;
    return shape_clash(d, d->in_at[which], "K of %s (%s), %s, is dynamic; the axis that is summed may not be", shape_of(d, which), shape,
                       graph_extent_text(d->r, K));
}

/* The i-th axis from the right; 1 beyond the left end. */
static extent axis_or_one(const ir_value *v, int i) { return i <= v->rank ? v->shape[v->rank - i] : extent_number(1); }

static bool extent_is_one(const extent *e)
{
    long long n;
    return extent_is_number(e, &n) && n == 1;
}

/* Batch axes of the result: those of both operands, aligned at the right; an axis that is missing, or has extent 1, broadcasts. */
static bool shape_batches(op_draft *d, const ir_value *a, const ir_value *b, ir_value *out)
{
    if (a->rank < 2 || b->rank < 2)
        return shape_clash(d, d->in_at[a->rank < 2 ? 0 : 1], "%s and %s should have at least two axes each", shape_of(d, 0),
                           shape_of(d, 1));
    shape_set(out, a->rank > b->rank ? a : b);
    for (int i = 3; i <= out->rank; i++) {
        const extent of_a = axis_or_one(a, i), of_b = axis_or_one(b, i);
        if (!extent_equal(&of_a, &of_b) && !extent_is_one(&of_a) && !extent_is_one(&of_b))
            return shape_clash(d, d->in_at[1], "%s and %s differ in the batch axis %d", shape_of(d, 0), shape_of(d, 1), out->rank - i);
        out->shape[out->rank - i] = extent_is_one(&of_a) ? of_b : of_a;
    }
    return true;
}

/* a [..., M, K] or [..., K, M], b [..., K, N] or [..., N, K] */
static bool shape_matmul(op_draft *d, ir_value *out)
{
    const ir_value *a = d->op->inputs[0], *b = d->op->inputs[1];
    const bool transpose = d->op->attributes.transpose, transpose_a = d->op->attributes.transpose_a;
    if (!shape_batches(d, a, b, out)) return false;
    const extent *K = shape_axis(a, transpose_a ? 2 : 1);
    if (!extent_equal(K, shape_axis(b, transpose ? 1 : 2)))
        return shape_clash(d, d->in_at[1], "%s has %s %s, %s takes %s (%s)", shape_of(d, 0), graph_extent_text(d->r, K),
                           transpose_a ? "rows" : "columns", shape_of(d, 1), graph_extent_text(d->r, shape_axis(b, transpose ? 1 : 2)),
                           transpose ? "[..., N, K]" : "[..., K, N]");
    if (!check_depth(d, 0, K, transpose_a ? "[..., K, M]" : "[..., M, K]")) return false;
    if (a->type != b->type)
        return shape_clash(d, d->in_at[1], "%%%s is %s and %%%s is %s; cast one of them", a->name, dtype_name(a->type),
                           b->name, dtype_name(b->type));
    out->shape[out->rank - 2] = *shape_axis(a, transpose_a ? 1 : 2);
    out->shape[out->rank - 1] = *shape_axis(b, transpose ? 2 : 1);
    return true;
}

static bool shape_split(op_draft *d)
{
    const ir_value *x = d->op->inputs[0];
    long long sum = 0, size = 0;
    for (int i = 0; i < d->list_count; i++) {
        extent_is_number(&d->list[i], &size);
        sum += size;
        ir_value *out = d->op->outputs[i];
        shape_set(out, x);
        out->shape[out->rank - 1] = d->list[i];
        out->type = x->type;
    }
    return sum == value_columns(x) || shape_clash(d, d->list_node->at, "the sizes add up to %lld, %s has %lld columns",
                                                  sum, shape_of(d, 0), value_columns(x));
}

static bool shape_concat(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    long long columns = 0;
    for (int i = 0; i < d->op->input_count; i++) {
        const ir_value *y = d->op->inputs[i];
        bool same = y->rank == x->rank;
        for (int k = 0; same && k + 1 < x->rank; k++) same = extent_equal(&x->shape[k], &y->shape[k]);
        if (!same)
            return shape_clash(d, d->in_at[i], "%s and %s differ before the last axis", shape_of(d, 0), shape_of(d, i));
        if (y->type != x->type)
            return shape_clash(d, d->in_at[i], "%%%s is %s and %%%s is %s; cast one of them", x->name,
                               dtype_name(x->type), y->name, dtype_name(y->type));
        columns += value_columns(y);
    }
    shape_set(out, x);
    out->shape[out->rank - 1] = extent_number(columns);
    out->type = x->type;
    return true;
}

static extent product(op_draft *d, const ir_value *v)
{
    extent all = extent_number(1);
    for (int i = 0; i < v->rank; i++) all = extent_multiply(d->r->a, d->op->at, all, v->shape[i]);
    return all;
}

static bool shape_reshape(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    out->rank = d->list_count;
    memcpy(out->shape, d->list, (size_t)d->list_count * sizeof *d->list);
    out->type = x->type;
    extent before = product(d, x), after = product(d, out);
    return extent_equal(&before, &after) ||
           shape_clash(d, d->list_node->at, "%s has %s elements, %s has %s", shape_of(d, 0),
                       graph_extent_text(d->r, &before), graph_shape_text(d->r, out), graph_extent_text(d->r, &after));
}

/* Negative axes count from the end. */
static bool shape_permute(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    const number_list given = d->op->attributes.axes;
    const position at = graph_attribute_at(d, "axes");
    double *axes = arena_alloc(d->r->a, (size_t)x->rank * sizeof *axes);
    bool taken[max_rank] = {false};
    if (given.count != x->rank)
        return shape_clash(d, at, "axes: has %d axes, %s has %d", given.count, shape_of(d, 0), x->rank);
    shape_set(out, x);
    out->type = x->type;
    for (int i = 0; i < given.count; i++) {
        const int axis = (int)given.at[i] + (given.at[i] < 0 ? x->rank : 0);
        if (axis < 0 || axis >= x->rank || taken[axis])
            return shape_clash(d, at, "axes: should have each axis of %s once, 0 to %d; %d %s", shape_of(d, 0), x->rank - 1,
                               (int)given.at[i], axis < 0 || axis >= x->rank ? "is none" : "is there twice");
        taken[axis] = true;
        axes[i] = axis;
        out->shape[i] = x->shape[axis];
    }
    d->op->attributes.axes.at = axes;
    return true;
}

/* The reduced axis gets extent 1 (keepdim) or is removed. */
static bool shape_reduced(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    ir_attributes *t = &d->op->attributes;
    const position at = graph_attribute_at(d, "axis");
    const long long axis = t->axis + (t->axis < 0 ? x->rank : 0);
    long long size;
    if (axis < 0 || axis >= x->rank)
        return shape_clash(d, at, "axis: %s has axes 0 to %d, not %lld", shape_of(d, 0), x->rank - 1, t->axis);
    t->axis = axis;
    if (!extent_is_number(&x->shape[axis], &size))
        return shape_clash(d, at, "axis: axis %lld of %s, %s, is dynamic; one that is reduced may not be", axis, shape_of(d, 0),
                           graph_extent_text(d->r, &x->shape[axis]));
    if (x->rank == 1 && !t->keepdim)
        return shape_clash(d, at, "axis: %s has no other axis; keepdim: true makes it [1]", shape_of(d, 0));
    shape_set(out, x);
    out->shape[axis] = extent_number(1);
    if (t->keepdim) return true;
    for (int i = (int)axis; i + 1 < x->rank; i++) out->shape[i] = x->shape[i + 1];
    out->rank = x->rank - 1;
    return true;
}

static bool infer(op_draft *d)
{
    ir_value *out = d->op->outputs[0];
    switch (rules[d->op->kind]) {
    case rule_SAME: return shape_same(d, out);
    case rule_NORM: return shape_norm(d, out);
    case rule_LINEAR: return shape_linear(d, out);
    case rule_MATMUL: return shape_matmul(d, out);
    case rule_ATTENTION: return shape_attention(d, out);
    case rule_APPEND: return shape_append(d, out);
    case rule_SPLIT: return shape_split(d);
    case rule_CONCAT: return shape_concat(d, out);
    case rule_RESHAPE: return shape_reshape(d, out);
    case rule_PERMUTE: return shape_permute(d, out);
    case rule_AXIS: return shape_reduced(d, out);
    case rule_ROW:
        shape_set(out, d->op->inputs[0]);
        out->shape[out->rank - 1] = extent_number(1);
        return true;
    case rule_SLICE:
    case rule_PARTIAL:
    case rule_COMBINE: break; /* op_in_spec() keeps them out */
    }
    return false;
}

void shape_infer(op_draft *d)
{
    if (!infer(d)) return;
    const bool reshape = d->op->kind == op_reshape, permute = d->op->kind == op_permute;
    for (int i = 0; i < d->op->output_count; i++)
        if (!graph_value_fits(d->r, d->op->outputs[i], d->name,
                              reshape   ? d->list_node->at
                              : permute ? graph_attribute_at(d, "axes")
                                        : d->op->outputs[i]->at))
            d->broken = true;
}
