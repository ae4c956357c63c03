/* In: a value x of a drawing. Out: what people write with it: activations, norms (by the op, or by hand), residuals, feed-forward parts,
 * elementwise chains with every form of broadcasting, reductions, moves, products. Returns x if a part does not fit. */
#include "runtime/cli/random/random_draw.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { small = 12 }; /* values below this may be squared, multiplied and summed without overflow in f16 */

int draw_gentle(drawing *d, int x)
{
    if (value_at(d, x)->size <= small) return x;
    if (draw_chance(d, 50)) return put_unary(d, op_tanh, x);
    return value_at(d, x)->size < 1e4 && draw_chance(d, 50) ? put_scalar(d, op_mul, x, "0.01", false) : put_rmsnorm(d, x);
}

/* ---- activations */
int draw_activation(drawing *d, int x)
{
    static const op_kind kinds[] = {op_silu, op_gelu_erf, op_gelu_tanh, op_relu, op_sigmoid, op_tanh};
    static const op_kind rare[] = {op_mish, op_quick_gelu, op_selu, op_hardsigmoid, op_hardswish, op_softplus};
    x = draw_gentle(d, x);
    switch (draw_below(d, 16)) {
    case 12:
    case 13: return put_unary(d, DRAW_OF(d, rare), x);
    case 14: return put_scalar(d, op_leaky_relu, x, draw_chance(d, 50) ? "0.01" : "0.2", false);
    case 15: return put_scalar(d, op_elu, x, draw_chance(d, 50) ? "1" : "0.5", false);
    case 0: return put_unary(d, op_square, put_unary(d, op_relu, x));                      /* Primer, Nemotron */
    case 1: return put_binary(d, op_mul, x, put_unary(d, op_sigmoid, put_scalar(d, op_mul, x, "1.702", false))); /* quick gelu */
    case 2: /* mish */
        if (value_at(d, x)->size > 8) return put_unary(d, op_silu, x);
        return put_binary(d, op_mul, x,
                          put_unary(d, op_tanh, put_unary(d, op_log, put_scalar(d, op_add, put_unary(d, op_exp, x), "1", false))));
    case 3: return put_scalar(d, op_min, put_scalar(d, op_max, x, "-1", false), "1", false); /* clipped */
    default: return put_unary(d, DRAW_OF(d, kinds), x);
    }
}

/* ---- norms */
static int hand_rmsnorm(drawing *d, int x)
{
    const int mean = draw_chance(d, 50) ? put_reduce(d, op_row_mean, put_unary(d, op_square, x))
                                        : put_scalar(d, op_mul, put_reduce(d, op_row_sumsq, x), "0.02", false);
    int scale = put_scalar(d, op_add, mean, draw_chance(d, 50) ? "1.0e-5" : "0.01", false);
    value_at(d, scale)->least = 0.2; /* for normal data, where no row is all zeros */
    scale = put_unary(d, op_rsqrt, scale);
    int y = put_binary(d, op_mul, x, scale);
    value_at(d, y)->size = 8, value_at(d, y)->least = -8;
    const random_axis columns = *last_axis(d, x);
    return draw_chance(d, 75) ? put_binary(d, op_mul, y, make_param(d, &columns, 1)) : y;
}

static int hand_layernorm(drawing *d, int x)
{
    const random_axis columns = *last_axis(d, x);
    const int centred = put_binary(d, op_sub, x, put_reduce(d, op_row_mean, x));
    const int variance = put_scalar(d, op_add, put_reduce(d, op_row_mean, put_unary(d, op_square, centred)), "0.1", false);
    value_at(d, variance)->least = 0.1;
    int y = draw_chance(d, 50) ? put_binary(d, op_mul, centred, put_unary(d, op_rsqrt, variance))
                               : put_binary(d, op_div, centred, put_unary(d, op_sqrt, variance));
    value_at(d, y)->size = 8, value_at(d, y)->least = -8;
    if (draw_chance(d, 80)) y = put_binary(d, op_mul, y, make_param(d, &columns, 1));
    return draw_chance(d, 50) ? put_binary(d, op_add, y, make_param(d, &columns, 1)) : y;
}

static int hand_softmax(drawing *d, int x)
{
    const int e = put_unary(d, op_exp, put_binary(d, op_sub, x, put_reduce(d, op_row_max, x)));
    value_at(d, e)->size = 1, value_at(d, e)->least = 0;
    const int sum = put_reduce(d, op_row_sum, e);
    value_at(d, sum)->least = 1;
    const int y = put_binary(d, op_div, e, sum);
    value_at(d, y)->size = 1;
    return y;
}

/* Norms need some columns: with one, x / rms(x) is a quotient of roundings. */
static bool has_rows(drawing *d, int x) { return last_axis(d, x)->value >= 4; }

int draw_norm(drawing *d, int x)
{
    static const int weights[] = {30, 25, 12, 8, 13, 12, 6};
    x = draw_gentle(d, x);
    const int form = draw_weighted(d, weights, 7);
    if (form >= 4 && (!has_rows(d, x) || value_at(d, x)->size > 30)) return put_rmsnorm(d, x);
    switch (form) {
    case 0: return put_rmsnorm(d, x);
    case 1: return put_layernorm(d, x);
    case 2: return put_softmax(d, x);
    case 3: return put_l2norm(d, x);
    case 4: return hand_rmsnorm(d, x);
    case 5: return hand_layernorm(d, x);
    default: return hand_softmax(d, x);
    }
}

/* ---- two operands */
int draw_sum(drawing *d, int x, int y)
{
    if (!same_shape(d, x, y)) return y;
    if (draw_chance(d, 10)) y = put_scalar(d, op_mul, y, "0.5", false);
    if (draw_chance(d, 6)) { /* a gate of each column, as in gated residuals */
        const random_axis columns = *last_axis(d, y);
        y = put_binary(d, op_mul, y, make_param(d, &columns, 1));
    }
    return draw_chance(d, 80) ? put_binary(d, op_add, x, y) : put_binary(d, op_add, y, x);
}

/* An existing value that broadcasts to x. */
static int present_operand(drawing *d, int x)
{
    const random_value *v = value_at(d, x);
    for (int tries = 0; tries < 12; tries++) {
        const int y = draw_below(d, d->s->value_count);
        const random_value *w = value_at(d, y);
        bool fits = w->type != dtype_i32 && w->kind != value_state && !w->cache && w->rank <= v->rank && w->size < small;
        for (int i = 1; fits && i <= w->rank; i++) {
            const random_axis *a = &w->shape[w->rank - i];
            fits = axis_same(a, &v->shape[v->rank - i]) || (a->value == 1 && !a->dynamic);
        }
        if (fits) return y;
    }
    return -1;
}

/* A new input or param that broadcasts to x: some axes 1 or left out. */
static int new_operand(drawing *d, int x)
{
    random_axis shape[max_rank];
    const random_value v = *value_at(d, x);
    const int from = draw_below(d, 3) == 0 ? 0 : draw_below(d, v.rank);
    bool dynamic = false;
    for (int i = from; i < v.rank; i++) {
        shape[i - from] = draw_chance(d, 25) ? axis_number(1) : v.shape[i];
        dynamic = dynamic || shape[i - from].dynamic;
    }
    return dynamic || draw_chance(d, 30) ? make_input(d, shape, v.rank - from) : make_param(d, shape, v.rank - from);
}

static op_kind pick_binary(drawing *d, double size_x, double size_y, double least_y)
{
    static const op_kind kinds[] = {op_add, op_sub, op_mul, op_max, op_min, op_div};
    const op_kind kind = DRAW_OF(d, kinds);
    if (kind == op_div && (least_y < 0.05 || size_x / least_y > 60)) return op_mul;
    return kind == op_mul && size_x * size_y > 400 ? op_add : kind;
}

static int draw_pair(drawing *d, int x)
{
    int y = draw_chance(d, 60) ? present_operand(d, x) : -1;
    if (y < 0) y = new_operand(d, x);
    if (y == x && draw_chance(d, 60)) return put_binary(d, draw_chance(d, 50) ? op_add : op_mul, x, x);
    const op_kind kind = pick_binary(d, value_at(d, x)->size, value_at(d, y)->size, value_at(d, y)->least);
    if (kind != op_div && draw_chance(d, 25)) return put_binary(d, kind, y, x);
    return put_binary(d, kind, x, y);
}

/* An op of [..., 1] and [N], where both operands are broadcast. */
static int draw_outer(drawing *d, int x)
{
    if (last_axis(d, x)->value != 1 || last_axis(d, x)->dynamic) return draw_pair(d, x);
    random_axis columns = axis_columns(d);
    if (value_elements(d, x) * columns.value > d->most_elements) return draw_pair(d, x);
    return put_binary(d, draw_chance(d, 50) ? op_mul : op_add, x, make_param(d, &columns, 1));
}

static int draw_with_number(drawing *d, int x)
{
    static const char *const numbers[] = {"0.5", "2", "-1", "0.1", "1", "-0.75", "3.0e-2"};
    static const op_kind kinds[] = {op_add, op_sub, op_mul, op_max, op_min, op_div};
    const op_kind kind = DRAW_OF(d, kinds);
    const char *number = DRAW_OF(d, numbers);
    if (kind == op_div && value_at(d, x)->least > 0.05 && draw_chance(d, 50)) return put_scalar(d, op_div, x, "2", true);
    if (kind == op_div) {
        const int y = put_scalar(d, op_div, x, "4", false);
        value_at(d, y)->least = -value_at(d, y)->size;
        return y;
    }
    return put_scalar(d, kind, x, number, kind != op_max && draw_chance(d, 30));
}

/* A ternary op: where, with a condition that broadcasts to x, or clamp. */
static int draw_choice(drawing *d, int x)
{
    const int other = draw_chance(d, 60) ? present_operand(d, x) : new_operand(d, x);
    if (other < 0 || draw_chance(d, 30)) return put_clamp(d, x, "-2", other < 0 ? x : other);
    if (draw_chance(d, 30)) return put_where(d, other, x, -1);
    const int condition = present_operand(d, x);
    return put_where(d, condition < 0 ? x : put_unary(d, op_relu, condition), x, other);
}

/* An op that needs positive operands, with x made positive first. */
static int draw_guarded(drawing *d, int x)
{
    static const op_kind kinds[] = {op_log, op_sqrt, op_rsqrt, op_log1p};
    static const char *const exponents[] = {"2", "3", "0.5", "-1", "1.5"};
    if (value_at(d, x)->least < 0.05) x = put_scalar(d, op_add, put_unary(d, draw_chance(d, 70) ? op_square : op_sigmoid, x), "0.5", false);
    if (value_at(d, x)->size <= 12 && draw_chance(d, 30)) return put_scalar(d, op_pow, x, DRAW_OF(d, exponents), false);
    return put_unary(d, DRAW_OF(d, kinds), x);
}

int draw_elementwise(drawing *d, int x)
{
    static const op_kind kinds[] = {op_neg, op_square, op_sin, op_cos, op_tanh, op_sigmoid, op_silu, op_gelu_erf, op_gelu_tanh, op_relu};
    static const op_kind rare[] = {op_abs, op_sign, op_floor, op_ceil, op_round, op_erf}, powers[] = {op_exp, op_exp, op_exp2, op_expm1};
    static const int weights[] = {30, 8, 8, 30, 6, 16, 10, 8};
    x = draw_gentle(d, x);
    switch (draw_weighted(d, weights, 8)) {
    case 6: return put_unary(d, DRAW_OF(d, rare), x);
    case 7: return draw_choice(d, x);
    case 0: return put_unary(d, DRAW_OF(d, kinds), x);
    case 1: return value_at(d, x)->size <= 5 ? put_unary(d, DRAW_OF(d, powers), x) : put_unary(d, op_neg, x);
    case 2: return draw_guarded(d, x);
    case 3: return draw_pair(d, x);
    case 4: return draw_outer(d, x);
    default: return draw_with_number(d, x);
    }
}

int draw_chain(drawing *d, int x, int length)
{
    const int first = x;
    for (int i = 0; i < length && has_room(d); i++) {
        if (i && draw_chance(d, 12)) draw_elementwise(d, x); /* a branch */
        x = draw_elementwise(d, x);
    }
    if (length > 1 && draw_chance(d, 30) && same_shape(d, first, x)) x = draw_sum(d, draw_gentle(d, first), x);
    return x;
}

/* ---- values used several times */
static int draw_doubling(drawing *d, int x)
{
    const int times = 1 + draw_below(d, 6);
    for (int i = 0; i < times && has_room(d) && value_at(d, x)->size < 1000; i++) x = put_binary(d, op_add, x, x);
    return x;
}

static int draw_squaring(drawing *d, int x)
{
    const int times = 1 + draw_below(d, 3);
    for (int i = 0; i < times && has_room(d) && value_at(d, x)->size < 30; i++) x = put_binary(d, op_mul, x, x);
    return x;
}

/* One value with 2 to 50 users, and the sum of their results. */
static int draw_fan(drawing *d, int x)
{
    const int users = 2 + draw_below(d, draw_chance(d, 70) ? 6 : 49);
    int sum = x;
    for (int i = 0; i < users && has_room(d); i++) {
        char number[16];
        snprintf(number, sizeof number, "0.%02d", 1 + i);
        const int user = draw_chance(d, 80) ? put_scalar(d, op_mul, x, number, false) : put_unary(d, op_tanh, x);
        sum = put_binary(d, op_add, sum, user);
    }
    return sum;
}

static int draw_diamond(drawing *d, int x)
{
    const int times = 1 + draw_below(d, 3);
    for (int i = 0; i < times && has_room(d); i++) {
        x = draw_gentle(d, x);
        const int left = draw_chance(d, 50) ? x : draw_activation(d, x);
        const int right = draw_chance(d, 40) ? draw_norm(d, x) : draw_activation(d, x);
        if (!same_shape(d, left, right)) return left;
        x = put_binary(d, draw_chance(d, 70) ? op_add : op_mul, left, right);
    }
    return x;
}

int draw_reuse(drawing *d, int x)
{
    x = draw_gentle(d, x);
    switch (draw_below(d, 4)) {
    case 0: return draw_doubling(d, x);
    case 1: return draw_squaring(d, x);
    case 2: return draw_fan(d, x);
    default: return draw_diamond(d, x);
    }
}

/* Reduces a static axis of x and drops it, or keeps it with extent 1; if kept, the result may be broadcast and added to x. */
static int reduce_axis(drawing *d, int x)
{
    static const op_kind kinds[] = {op_sum, op_mean, op_amax, op_amin};
    op_kind kind = DRAW_OF(d, kinds);
    const random_value v = *value_at(d, x);
    const int axis = draw_below(d, v.rank);
    const bool last = axis == v.rank - 1, keeps = v.rank == 1 || (last && v.shape[axis - 1].dynamic) || draw_chance(d, 50);
    if (v.shape[axis].dynamic) return x;
    if (kind == op_sum && v.size * (double)v.shape[axis].value > 3000) kind = op_mean;
    const int r = draw_gentle(d, put_axis_reduce(d, kind, x, axis, keeps));
    return keeps && value_at(d, r)->size < small && draw_chance(d, 50) ? put_binary(d, op_add, x, r) : r;
}

int draw_reduction(drawing *d, int x)
{
    if (draw_chance(d, 30)) return reduce_axis(d, draw_gentle(d, x));
    static const op_kind kinds[] = {op_row_sum, op_row_mean, op_row_max, op_row_min, op_row_sumsq};
    op_kind kind = DRAW_OF(d, kinds);
    x = draw_gentle(d, x);
    const random_value v = *value_at(d, x);
    const double n = (double)v.shape[v.rank - 1].value;
    if ((kind == op_row_sum && v.size * n > 3000) || (kind == op_row_sumsq && v.size * v.size * n > 20000)) kind = op_row_mean;
    int r = put_reduce(d, kind, x);
    if (draw_chance(d, 25)) return r;
    if (draw_chance(d, 40)) r = draw_elementwise(d, r);
    r = draw_gentle(d, r);
    if (last_axis(d, r)->value != 1) return r;
    return put_binary(d, pick_binary(d, v.size, value_at(d, r)->size, value_at(d, r)->least), x, r);
}

/* ---- products */
/* A second operand for x of this shape. At random one of its batch axes is 1, or all are left out; without batch axes it may get a batch of
 * 2. */
static int batched_operand(drawing *d, const random_value *x, const random_axis *shape)
{
    random_axis own[max_rank];
    const int batches = x->rank - 2;
    memcpy(own, shape, sizeof own);
    if (batches && draw_chance(d, 20)) return make_value(d, value_input, own + batches, 2, x->type);
    if (!batches && draw_chance(d, 15)) {
        own[0] = axis_number(2), own[1] = shape[0], own[2] = shape[1];
        return make_value(d, value_input, own, 3, x->type);
    }
    if (batches && draw_chance(d, 20)) own[draw_below(d, batches)] = axis_number(1);
    return make_value(d, value_input, own, x->rank, x->type);
}

/* A product whose first operand is x transposed, i.e. stored as [..., K, M]. */
static int draw_transposed_product(drawing *d, int x)
{
    const random_value v = *value_at(d, x);
    random_axis to = axis_columns(d), shape[max_rank];
    const long long depth = v.shape[v.rank - 2].value, others = value_elements(d, x) / depth;
    const bool transpose = draw_chance(d, 50);
    while (to.value > 1 && (others * to.value > d->most_elements || others * depth * to.value > 16 * d->most_elements))
        to = axis_number(to.value / 2);
    memcpy(shape, v.shape, sizeof shape);
    shape[v.rank - 2] = transpose ? to : v.shape[v.rank - 2];
    shape[v.rank - 1] = transpose ? v.shape[v.rank - 2] : to;
    return put_matmul(d, x, batched_operand(d, &v, shape), transpose, true);
}

int draw_product(drawing *d, int x)
{
    x = draw_gentle(d, x);
    const random_value v = *value_at(d, x);
    const long long rows = value_elements(d, x) / v.shape[v.rank - 1].value;
    random_axis to = axis_columns(d), shape[max_rank];
    while (to.value > 1 && rows * to.value > d->most_elements) to = axis_number(to.value / 2);
    const long long leading = v.rank < 2 ? 1 : rows / v.shape[v.rank - 2].value, inner = v.shape[v.rank - 1].value;
    if (v.rank < 2 || draw_chance(d, 70)) {
        const int y = put_linear(d, x, &to, draw_chance(d, 40));
        if (draw_chance(d, 15)) put_linear(d, x, &to, draw_chance(d, 40)); /* a second product of the same input */
        return y;
    }
    const bool fixed = !v.shape[v.rank - 2].dynamic;
    if (draw_chance(d, 40) && fixed && v.size < 5) {
        const bool gram = draw_chance(d, 30) && leading * inner * inner <= d->most_elements; /* x^T x, else x x^T */
        return put_matmul(d, x, x, !gram, gram);
    }
    if (draw_chance(d, 25) && fixed) return draw_transposed_product(d, x);
    const bool transpose = draw_chance(d, 50);
    /* limits the second operand, of which every batch has its own */
    while (to.value > 1 && leading * inner * to.value > 16 * d->most_elements) to = axis_number(to.value / 2);
    memcpy(shape, v.shape, sizeof shape);
    shape[v.rank - 2] = transpose ? to : v.shape[v.rank - 1];
    shape[v.rank - 1] = transpose ? v.shape[v.rank - 1] : to;
    return put_matmul(d, x, batched_operand(d, &v, shape), transpose, false);
}

int draw_mlp(drawing *d, int x, const random_axis *to)
{
    const random_axis out = *to;
    random_axis width = axis_columns(d);
    const bool bias = draw_chance(d, 30);
    const long long rows = value_elements(d, x) / last_axis(d, x)->value;
    while (width.value > 1 && rows * width.value > d->most_elements) width = axis_number(width.value / 2);
    int h;
    if (draw_chance(d, 40)) {
        h = draw_activation(d, put_linear(d, x, &width, bias));
    } else if (draw_chance(d, 70)) {
        const int gate = put_linear(d, x, &width, bias), up = put_linear(d, x, &width, bias);
        h = put_binary(d, op_mul, draw_activation(d, gate), up);
    } else { /* one product of both, as Phi-3 stores it */
        const random_axis both = axis_write(2 * width.value, false, "2*%s", width.text), sizes[2] = {width, width};
        int parts[2];
        put_split(d, put_linear(d, x, &both, bias), sizes, 2, parts);
        h = put_binary(d, op_mul, draw_activation(d, parts[0]), parts[1]);
    }
    return put_linear(d, draw_gentle(d, h), &out, bias);
}

/* ---- moves */
static int move_split(drawing *d, int x)
{
    const random_axis columns = *last_axis(d, x);
    random_axis sizes[4];
    int outs[4], count = 2 + draw_below(d, 3);
    if (columns.value < count) return x;
    long long left = columns.value;
    for (int i = 0; i < count; i++) {
        const long long rest = count - 1 - i, even = columns.value / count;
        long long part = !rest ? left : columns.value % count == 0 && draw_chance(d, 70) ? even : 1 + draw_below(d, (int)(left - rest));
        if (part > left - rest) part = left - rest;
        sizes[i] = axis_number(part);
        left -= part;
    }
    put_split(d, x, sizes, count, outs);
    const int y = outs[draw_below(d, count)], z = outs[draw_below(d, count)];
    if (y != z && same_shape(d, y, z)) return put_binary(d, draw_chance(d, 50) ? op_mul : op_add, y, z);
    return draw_chance(d, 50) ? draw_elementwise(d, y) : y;
}

static int move_concat(drawing *d, int x)
{
    int xs[5] = {x}, count = 1;
    const random_value v = *value_at(d, x);
    /* most: limits the size, as concats of concats grow */
    const long long most = 16 * d->most_elements, rows = value_elements(d, x) / v.shape[v.rank - 1].value;
    long long columns = v.shape[v.rank - 1].value;
    for (int tries = 0; tries < 24 && count < 4; tries++) {
        const int y = draw_below(d, d->s->value_count);
        const random_value *w = value_at(d, y);
        bool fits =
            w->type == v.type && w->rank == v.rank && w->kind != value_state && !w->cache && w->size < small && w->kind != value_param;
        for (int i = 0; fits && i < v.rank - 1; i++) fits = axis_same(&w->shape[i], &v.shape[i]);
        fits = fits && w->shape[v.rank - 1].value < 600 && (y != x || draw_chance(d, 15));
        if (!fits || rows * (columns + w->shape[v.rank - 1].value) > most) continue;
        columns += w->shape[v.rank - 1].value;
        xs[count++] = y;
    }
    if (count < 2) {
        random_axis shape[max_rank];
        memcpy(shape, v.shape, sizeof shape);
        shape[v.rank - 1] = axis_columns(d);
        while (shape[v.rank - 1].value > 1 && rows * (columns + shape[v.rank - 1].value) > most)
            shape[v.rank - 1] = axis_number(shape[v.rank - 1].value / 2);
        xs[count++] = make_value(d, value_input, shape, v.rank, v.type);
    }
    if (draw_chance(d, 40)) xs[0] = xs[count - 1], xs[count - 1] = x;
    return put_concat(d, xs, count);
}

/* A reshape: splits or joins columns and heads, or leading axes. */
static int move_reshape(drawing *d, int x)
{
    random_axis shape[max_rank];
    const random_value v = *value_at(d, x);
    int rank = v.rank;
    memcpy(shape, v.shape, sizeof shape);
    const int at = draw_below(d, rank > 1 ? rank - 1 : 1);
    const bool joins = rank > 1 && draw_chance(d, 50) && !strpbrk(v.shape[at].text, "+-/*") && !strpbrk(v.shape[at + 1].text, "+-/*");
    if (joins && (at + 2 < rank || !v.shape[at].dynamic)) {
        shape[at] = axis_write(v.shape[at].value * v.shape[at + 1].value, v.shape[at].dynamic || v.shape[at + 1].dynamic, "%s*%s",
                               v.shape[at].text, v.shape[at + 1].text);
        memmove(shape + at + 1, v.shape + at + 2, (size_t)(rank - at - 2) * sizeof *shape);
        return put_reshape(d, x, shape, rank - 1);
    }
    if (rank == max_rank) return x;
    const int axis = draw_chance(d, 70) ? rank - 1 : draw_below(d, rank);
    static const long long parts[] = {2, 4, 8, 3, 1};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const long long part = parts[(i + (size_t)draw_below(d, 5)) % 5];
        if (v.shape[axis].dynamic ? part != 1 : v.shape[axis].value % part != 0) continue;
        memmove(shape + axis + 1, v.shape + axis, (size_t)(rank - axis) * sizeof *shape);
        const bool first = draw_chance(d, 50);
        shape[axis + !first] = axis_number(part);
        if (part > 1) shape[axis + first] = axis_number(v.shape[axis].value / part);
        if (shape[rank].dynamic) return x; /* columns are static */
        return put_reshape(d, x, shape, rank + 1);
    }
    return x;
}

/* Axes in any order whose last one is static. */
static int move_permute(drawing *d, int x)
{
    const random_value v = *value_at(d, x);
    int axes[max_rank];
    for (int i = 0; i < v.rank; i++) axes[i] = i;
    for (int i = v.rank - 1; i > 0; i--) {
        const int k = draw_below(d, i + 1), axis = axes[i];
        if (i == v.rank - 1 && v.shape[axes[k]].dynamic) continue;
        axes[i] = axes[k], axes[k] = axis;
    }
    return put_permute(d, x, axes);
}

int draw_move(drawing *d, int x)
{
    static const int weights[] = {30, 27, 15, 28};
    switch (draw_weighted(d, weights, 4)) {
    case 0: return move_split(d, x);
    case 1: return move_concat(d, x);
    case 2: return move_permute(d, x);
    default: return move_reshape(d, x);
    }
}
