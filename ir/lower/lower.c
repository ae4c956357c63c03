/* In: a graph. Out: a graph of the same computation in elementwise ops, reductions, products, attention and moves (docs/fusion.md has a
 * table). An output that is an input, param, state or cache gets an op that copies it, as every output has memory of its own. The graph
 * that was read is not changed. */
#include "ir/graph/build.h"
#include <string.h>

typedef struct lowering {
    builder b;
    const ir_op *op; /* the op of the graph being lowered */
    ir_value *out;   /* its first output, in the new graph */
} lowering;

static ir_value *mapped(void *l, ir_value *v)
{
    return ((lowering *)l)->b.p->values[v->id];
}

static ir_value *in(lowering *l, int i)
{
    return mapped(l, l->op->inputs[i]);
}

static ir_op *emit(lowering *l, op_kind kind, ir_value *out, ir_value *x, ir_value *y)
{
    ir_op *op = build_op(&l->b, kind, l->op, out, y ? 2 : 1, x, y);
    build_add_op(&l->b, op);
    return op;
}

/* An intermediate named OUT.SUFFIX, f32, shaped as `like`. */
static ir_value *middle(lowering *l, op_kind kind, const char *suffix, const ir_value *like, ir_value *x, ir_value *y)
{
    ir_value *v = build_value(&l->b, arena_printf(l->b.a, "%s.%s", l->out->name, suffix), dtype_f32, like);
    v->at = l->op->at;
    emit(l, kind, v, x, y);
    return v;
}

/* A row statistic: shaped [..., 1]. */
static ir_value *statistic(lowering *l, op_kind kind, const char *suffix, ir_value *x, ir_value *y)
{
    ir_value row = *x;
    row.shape[row.rank - 1] = extent_number(1);
    return middle(l, kind, suffix, &row, x, y);
}

static ir_value *number(lowering *l, double value)
{
    return build_number(&l->b, value, l->op->at);
}

static ir_value *columns_of(lowering *l, const ir_value *x)
{
    return number(l, (double)value_columns(x));
}

/* The factor that a norm multiplies by: its weight, or 1 + weight with unit_offset. */
static ir_value *norm_weight(lowering *l)
{
    ir_value *w = in(l, 1);
    return l->op->attributes.unit_offset ? middle(l, op_add, "w1", w, w, number(l, 1)) : w;
}

/* 1 / sqrt(squares / columns of x + eps). */
static ir_value *norm_factor(lowering *l, const ir_value *x, ir_value *squares, const char *mean, const char *raised)
{
    ir_value *m = statistic(l, op_div, mean, squares, columns_of(l, x));
    ir_value *e = statistic(l, op_add, raised, m, number(l, l->op->attributes.eps));
    return statistic(l, op_rsqrt, "r", e, NULL);
}

static void lower_rmsnorm(lowering *l)
{
    ir_value *x = in(l, 0);
    ir_value *r = norm_factor(l, x, statistic(l, op_row_sumsq, "ss", x, NULL), "ms", "me");
    if (l->op->input_count == 1) {
        emit(l, op_mul, l->out, x, r);
        return;
    }
    ir_value *n = middle(l, op_mul, "n", x, x, r);
    emit(l, op_mul, l->out, n, norm_weight(l));
}

static void lower_layernorm(lowering *l)
{
    ir_value *x = in(l, 0);
    ir_value *s = statistic(l, op_row_sum, "s", x, NULL);
    ir_value *mu = statistic(l, op_div, "mu", s, columns_of(l, x));
    ir_value *c = middle(l, op_sub, "c", x, x, mu);
    ir_value *r = norm_factor(l, x, statistic(l, op_row_sumsq, "v", c, NULL), "vm", "ve");
    if (l->op->input_count == 1) {
        emit(l, op_mul, l->out, c, r);
        return;
    }
    ir_value *n = middle(l, op_mul, "n", x, c, r), *w = norm_weight(l);
    if (l->op->input_count == 2) {
        emit(l, op_mul, l->out, n, w);
        return;
    }
    ir_value *t = middle(l, op_mul, "t", x, n, w);
    emit(l, op_add, l->out, t, in(l, 2));
}

static void lower_l2norm(lowering *l)
{
    ir_value *x = in(l, 0);
    ir_value *ss = statistic(l, op_row_sumsq, "ss", x, NULL);
    ir_value *q = statistic(l, op_sqrt, "q", ss, NULL);
    ir_value *m = statistic(l, op_max, "m", q, number(l, l->op->attributes.eps));
    emit(l, op_div, l->out, x, m);
}

static void lower_softmax(lowering *l)
{
    ir_value *x = in(l, 0);
    ir_value *m = statistic(l, op_row_max, "m", x, NULL);
    ir_value *f = statistic(l, op_finite, "f", m, NULL);
    ir_value *d = middle(l, op_sub, "d", x, x, f);
    ir_value *e = middle(l, op_exp, "e", x, d, NULL);
    ir_value *s = statistic(l, op_row_sum, "s", e, NULL);
    emit(l, op_div_or_zero, l->out, e, s);
}

static void lower_row_mean(lowering *l)
{
    ir_value *x = in(l, 0);
    ir_value *s = statistic(l, op_row_sum, "s", x, NULL);
    emit(l, op_div, l->out, s, columns_of(l, x));
}

/* True if all axes of more than one element keep their order: the elements in memory then keep theirs, and the permute is a reshape. */
static bool keeps_order(const ir_value *x, const number_list *axes)
{
    double last = -1;
    for (int i = 0; i < axes->count; i++) {
        long long size = 0;
        if (extent_is_number(&x->shape[(int)axes->at[i]], &size) && size == 1) continue;
        if (axes->at[i] < last) return false;
        last = axes->at[i];
    }
    return true;
}

static void put_permute(lowering *l, ir_value *out, ir_value *x, number_list axes)
{
    const bool same = keeps_order(x, &axes);
    ir_op *op = emit(l, same ? op_reshape : op_permute, out, x, NULL);
    if (!same) op->attributes.axes = axes;
}

static void lower_permute(lowering *l) { put_permute(l, l->out, in(l, 0), l->op->attributes.axes); }

/* x with its axis `axis` as the last. */
static ir_value *with_axis_last(lowering *l, ir_value *x, int axis)
{
    double *axes = arena_alloc(l->b.a, (size_t)x->rank * sizeof *axes);
    ir_value shape = *x;
    for (int i = 0; i < x->rank; i++) {
        axes[i] = i + 1 == x->rank ? axis : i < axis ? i : i + 1;
        shape.shape[i] = x->shape[(int)axes[i]];
    }
    if (axis + 1 == x->rank) return x;
    ir_value *v = build_value(&l->b, arena_printf(l->b.a, "%s.p", l->out->name), x->type, &shape);
    v->at = l->op->at;
    put_permute(l, v, x, (number_list){axes, x->rank});
    return v;
}

static void reduce_rows(lowering *l, ir_value *x, ir_value *out)
{
    static const op_kind of[op_count] = {[op_sum] = op_row_sum, [op_mean] = op_row_sum, [op_amax] = op_row_max, [op_amin] = op_row_min};
    const op_kind kind = of[l->op->kind];
    if (l->op->kind == op_mean) emit(l, op_div, out, statistic(l, kind, "s", x, NULL), columns_of(l, x));
    else emit(l, kind, out, x, NULL);
}

/* x with all axes after `axis` merged into one, if its rows are shorter than a memory transaction and these axes are static; x itself
 * otherwise, and if the merged axis had more columns than kernels can count. */
static ir_value *with_long_rows(lowering *l, ir_value *x, int axis)
{
    enum { transaction = 128, most_columns = 1 << 30 };
    ir_value shape = *x;
    long long columns = 1, size;
    if (value_columns(x) * dtype_size(x->type) >= transaction || axis + 2 == x->rank) return x;
    for (int i = axis + 1; i < x->rank; i++) {
        if (!extent_is_number(&x->shape[i], &size)) return x;
        columns *= size;
    }
    if (columns > most_columns) return x;
    shape.rank = axis + 2, shape.shape[axis + 1] = extent_number(columns);
    ir_value *v = build_value(&l->b, arena_printf(l->b.a, "%s.l", l->out->name), x->type, &shape);
    v->at = l->op->at;
    emit(l, op_reshape, v, x, NULL);
    return v;
}

/* True if a reduction along the axis is best done by columns: it adds several elements, which do not lie side by side. */
static bool is_of_columns(const ir_value *x, int axis)
{
    long long columns = 1, size, terms = 1;
    extent_is_number(&x->shape[axis], &terms);
    for (int i = axis + 1; i < x->rank; i++) {
        if (!extent_is_number(&x->shape[i], &size)) return value_columns(x) > 1 && terms > 1;
        columns *= size;
    }
    return columns > 1 && terms > 1;
}

/* A reduction of an axis that is not the last, as a class COLUMNS op: neighbouring threads take neighbouring columns. */
static void reduce_columns(lowering *l, int axis)
{
    static const op_kind of[op_count] = {
        [op_sum] = op_column_sum, [op_amax] = op_column_max, [op_amin] = op_column_min};
    ir_value *x = with_long_rows(l, in(l, 0), axis), shape = *x, *out = l->out;
    long long terms = 1;
    extent_is_number(&x->shape[axis], &terms);
    shape.shape[axis] = extent_number(1);
    if (!value_same_shape(&shape, out)) {
        out = build_value(&l->b, arena_printf(l->b.a, "%s.r", l->out->name), l->out->type, &shape);
        out->at = l->op->at;
    }
    if (l->op->kind == op_mean) {
        ir_value *sum = middle(l, op_column_sum, "s", &shape, x, NULL);
        sum->def->attributes.axis = axis;
        emit(l, op_div, out, sum, number(l, (double)terms));
    } else
        emit(l, of[l->op->kind], out, x, NULL)->attributes.axis = axis;
    if (out != l->out) emit(l, op_reshape, l->out, out, NULL);
}

/* A sum, mean, amax or amin: by columns, or with the axis moved to the end, by rows. */
static void lower_reduced(lowering *l)
{
    const int axis = (int)l->op->attributes.axis;
    if (is_of_columns(in(l, 0), axis)) {
        reduce_columns(l, axis);
        return;
    }
    ir_value *x = with_axis_last(l, in(l, 0), axis), rows = *x;
    if (x == in(l, 0) && l->op->attributes.keepdim) {
        reduce_rows(l, x, l->out);
        return;
    }
    rows.shape[x->rank - 1] = extent_number(1);
    ir_value *r = build_value(&l->b, arena_printf(l->b.a, "%s.r", l->out->name), l->out->type, &rows);
    r->at = l->op->at;
    reduce_rows(l, x, r);
    emit(l, op_reshape, l->out, r, NULL);
}

static void lower_split(lowering *l)
{
    long long offset = 0;
    for (int i = 0; i < l->op->output_count; i++) {
        ir_value *out = mapped(l, l->op->outputs[i]);
        emit(l, op_slice, out, in(l, 0), NULL)->attributes.offset = offset;
        offset += value_columns(out);
    }
}

static void lower_plain(lowering *l)
{
    ir_op *op = arena_alloc(l->b.a, sizeof *op);
    *op = *l->op;
    op->inputs = arena_alloc(l->b.a, (size_t)op->input_count * sizeof *op->inputs);
    op->outputs = arena_alloc(l->b.a, sizeof *op->outputs);
    memcpy(op->inputs, l->op->inputs, (size_t)op->input_count * sizeof *op->inputs);
    op_map_operands(op, mapped, l);
    op->outputs[0] = l->out;
    build_add_op(&l->b, op);
    if (op->kind == op_kv_append) l->out->root = op->attributes.state, l->out->root_stride = value_columns(l->out);
}

static void lower_linear(lowering *l)
{
    ir_value *out = l->out;
    if (l->op->input_count == 2) {
        lower_plain(l);
        return;
    }
    ir_value *sum = middle(l, op_linear, "l", out, in(l, 0), in(l, 1));
    sum->def->attributes.layout = l->op->attributes.layout;
    emit(l, op_add, out, sum, in(l, 2));
}

/* True for a matrix times a vector if the matrix is large. lower_matrix_times_vector() may cost an extra kernel, for ops that the matmul's
 * epilogue could have run; beside a large matrix that hardly adds to the time. */
static bool is_matrix_times_vector(const ir_op *op)
{
    const long long least = 1 << 20;
    const ir_value *x = op->inputs[0], *out = op->outputs[0];
    long long rows;
    return value_columns(out) == 1 && !op->attributes.transpose_a && extent_is_number(&out->shape[out->rank - 2], &rows) && rows > 1 &&
           rows >= (least + value_columns(x) - 1) / value_columns(x);
}

/* NAME.SUFFIX shaped [..., rows, columns], with x's dtype; batch axes are x's. */
static ir_value *matrix(lowering *l, const char *suffix, const ir_value *x, long long rows, long long columns)
{
    ir_value shape = *x;
    shape.shape[x->rank - 2] = extent_number(rows), shape.shape[x->rank - 1] = extent_number(columns);
    ir_value *v = build_value(&l->b, arena_printf(l->b.a, "%s.%s", l->out->name, suffix), x->type, &shape);
    v->at = l->op->at;
    return v;
}

/* y = x * w as (w as a row) * x^T: programs for one row read each row of x once and multiply no padding. */
static void lower_matrix_times_vector(lowering *l)
{
    ir_value *x = in(l, 0), *w = in(l, 1), *out = l->out;
    long long rows = 0;
    extent_is_number(&out->shape[out->rank - 2], &rows);
    if (!l->op->attributes.transpose) {
        ir_value *row = matrix(l, "w", w, 1, value_columns(x));
        emit(l, op_reshape, row, w, NULL);
        w = row;
    }
    ir_value *product = matrix(l, "r", out, 1, rows);
    emit(l, op_matmul, product, w, x)->attributes.transpose = true;
    emit(l, op_reshape, out, product, NULL);
}

/* x reshaped to one matrix with the rows of all batches. */
static ir_value *flat(lowering *l, const char *suffix, const ir_value *x)
{
    ir_value shape = *x;
    shape.rank = 2, shape.shape[0] = value_rows(l->b.a, x), shape.shape[1] = extent_number(value_columns(x));
    ir_value *v = build_value(&l->b, arena_printf(l->b.a, "%s.%s", l->out->name, suffix), x->type, &shape);
    v->at = l->op->at;
    return v;
}

static bool has_one_matrix(const ir_value *v)
{
    long long n = 1;
    for (int i = 0; i + 2 < v->rank; i++)
        if (!extent_is_number(&v->shape[i], &n) || n != 1) return false;
    return true;
}

/* True if all batches share the second operand, and the rows of all batches of the first operand form one matrix in memory. */
static bool shares_second(const ir_op *op)
{
    const ir_value *x = op->inputs[0], *w = op->inputs[1];
    return !op->attributes.transpose_a && has_one_matrix(w) && (!has_one_matrix(x) || x->rank != w->rank);
}

/* If all batches share the second operand, their rows are multiplied as one matrix. */
static void lower_shared(lowering *l)
{
    ir_value *x = in(l, 0), *w = in(l, 1), *product = flat(l, "r", l->out), *rows = x;
    if (x->rank > 2) emit(l, op_reshape, rows = flat(l, "x", x), x, NULL);
    if (w->rank > 2) {
        ir_value *one = flat(l, "w", w);
        emit(l, op_reshape, one, w, NULL);
        w = one;
    }
    emit(l, op_matmul, product, rows, w)->attributes.transpose = l->op->attributes.transpose;
    emit(l, op_reshape, l->out, product, NULL);
}

static void lower_matmul(lowering *l)
{
    if (shares_second(l->op)) lower_shared(l);
    else if (is_matrix_times_vector(l->op)) lower_matrix_times_vector(l);
    else lower_plain(l);
}

static void lower_op(lowering *l)
{
    switch (l->op->kind) {
    case op_rmsnorm: lower_rmsnorm(l); break;
    case op_layernorm: lower_layernorm(l); break;
    case op_l2norm: lower_l2norm(l); break;
    case op_softmax: lower_softmax(l); break;
    case op_row_mean: lower_row_mean(l); break;
    case op_sum:
    case op_mean:
    case op_amax:
    case op_amin: lower_reduced(l); break;
    case op_permute: lower_permute(l); break;
    case op_split: lower_split(l); break;
    case op_linear: lower_linear(l); break;
    case op_matmul: lower_matmul(l); break;
    default: lower_plain(l); break;
    }
}

/* Emits an op that copies each output that is an input, param, state or the result of a kv_append. */
static void copy_outputs(lowering *l, int first_origin)
{
    int count = l->b.p->value_count;
    for (int i = 0; i < count; i++) {
        ir_value *v = l->b.p->values[i];
        bool written = v->kind == value_result && v->def->kind != op_kv_append;
        if (!v->output || written) continue;
        ir_op from = {.at = v->at, .origin = first_origin++};
        l->op = &from;
        ir_value *copy = build_value(&l->b, arena_printf(l->b.a, "%s.out", v->name), v->type, v);
        emit(l, op_cast, copy, v, NULL)->attributes.to = v->type;
        copy->output = v->output;
        v->output = NULL;
    }
}

ir_graph *lower(arena *a, const ir_graph *graph)
{
    lowering l = {.b = build_copy(a, graph, false)};
    for (int i = 0; i < graph->op_count; i++) {
        ir_op op = *graph->ops[i]; /* a graph read from text may lack origins, so they are set here: the op's index */
        op.origin = i;
        l.op = &op;
        l.out = mapped(&l, op.outputs[0]);
        lower_op(&l);
    }
    copy_outputs(&l, graph->op_count);
    ir_check(a, l.b.p, "lower");
    return l.b.p;
}
