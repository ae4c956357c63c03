/* In: values of a drawing. Out: one op on them, with estimates of its result's largest magnitude and lower bound. Callers pass valid
 * operands only. The estimates are rough and on the safe side: they keep f16 finite and divisors away from 0. */
#include "runtime/cli/random/random_draw.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct reach { double size, least; } reach;

static double larger(double x, double y) { return x > y ? x : y; }
static double smaller(double x, double y) { return x < y ? x : y; }

static reach unary_reach(op_kind kind, double size, double least)
{
    const double highest = size;
    switch (kind) {
    case op_neg: return (reach){size, -size};
    case op_exp: return (reach){exp(highest), exp(larger(least, -size))};
    case op_log: return (reach){larger(fabs(log(least)), fabs(log(highest + 1))), log(least)};
    case op_sqrt: return (reach){sqrt(highest), sqrt(least)};
    case op_rsqrt: return (reach){1 / sqrt(least), 1 / sqrt(highest)};
    case op_square: return (reach){size * size, least > 0 ? least * least : 0};
    case op_sin:
    case op_cos:
    case op_tanh: return (reach){1, -1};
    case op_sigmoid: return (reach){1, 0};
    case op_relu: return (reach){size, larger(least, 0)};
    case op_silu:
    case op_gelu_erf:
    case op_gelu_tanh:
    case op_mish:
    case op_quick_gelu:
    case op_hardswish: return (reach){size, larger(least, 0) > 0 ? least / 2 : -0.4};
    case op_abs: return (reach){size, larger(least, 0)};
    case op_sign:
    case op_erf: return (reach){1, -1};
    case op_floor:
    case op_ceil:
    case op_round: return (reach){size + 1, least - 1};
    case op_exp2: return (reach){exp2(highest), exp2(larger(least, -size))};
    case op_expm1: return (reach){exp(highest), larger(least, -1)};
    case op_log1p: return (reach){larger(log1p(highest), -log1p(least)), log1p(least)};
    case op_softplus: return (reach){size + 1, 0};
    case op_selu: return (reach){1.1 * size + 1, larger(1.1 * least, -1.8)};
    case op_hardsigmoid: return (reach){1, 0};
    default: return (reach){size, least};
    }
}

int put_unary(drawing *d, op_kind kind, int x)
{
    const random_value v = *value_at(d, x);
    const reach r = unary_reach(kind, v.size, v.least);
    random_op *op = op_begin(d, kind);
    op_in(op, x);
    return op_out(d, op, v.shape, v.rank, random_spec_type, r.size, r.least);
}

static reach binary_reach(op_kind kind, const reach *x, const reach *y)
{
    switch (kind) {
    case op_add: return (reach){x->size + y->size, x->least + y->least};
    case op_sub: return (reach){x->size + y->size, x->least - y->size};
    case op_mul: return (reach){x->size * y->size, x->least >= 0 && y->least >= 0 ? x->least * y->least : -x->size * y->size};
    case op_div: return (reach){x->size / y->least, x->least >= 0 ? x->least / y->size : -x->size / y->least};
    case op_max: return (reach){larger(x->size, y->size), larger(x->least, y->least)};
    case op_pow: return (reach){larger(pow(x->size, y->size), pow(x->least, -y->size)), 0}; /* x > 0 */
    case op_leaky_relu: return (reach){x->size * larger(1, y->size), smaller(x->least, x->least * y->size)};
    case op_elu: return (reach){larger(x->size, y->size), smaller(x->least, -y->size)};
    default: return (reach){larger(x->size, y->size), smaller(x->least, y->least)};
    }
}

/* The broadcast shape of x and y; axes are matched from the right. Returns its rank. */
static int stretched(const random_value *x, const random_value *y, random_axis *shape)
{
    const int rank = x->rank > y->rank ? x->rank : y->rank;
    for (int i = 1; i <= rank; i++) {
        const random_axis *a = i <= x->rank ? &x->shape[x->rank - i] : NULL, *b = i <= y->rank ? &y->shape[y->rank - i] : NULL;
        shape[rank - i] = !a || (b && a->value == 1 && !a->dynamic) ? *b : *a;
    }
    return rank;
}

int put_binary(drawing *d, op_kind kind, int x, int y)
{
    random_axis shape[max_rank];
    const random_value a = *value_at(d, x), b = *value_at(d, y);
    const reach r = binary_reach(kind, &(reach){a.size, a.least}, &(reach){b.size, b.least});
    const int rank = stretched(&a, &b, shape);
    random_op *op = op_begin(d, kind);
    op_in(op, x);
    op_in(op, y);
    return op_out(d, op, shape, rank, random_spec_type, r.size, r.least);
}

int put_scalar(drawing *d, op_kind kind, int x, const char *number, bool number_first)
{
    const random_value v = *value_at(d, x);
    double value = 0;
    sscanf(number, "%lf", &value);
    const reach of_value = {v.size, v.least}, of_number = {fabs(value), value};
    const reach r = number_first ? binary_reach(kind, &of_number, &of_value) : binary_reach(kind, &of_value, &of_number);
    random_op *op = op_begin(d, kind);
    if (number_first) op_number(op, number);
    op_in(op, x);
    if (!number_first) op_number(op, number);
    return op_out(d, op, v.shape, v.rank, random_spec_type, r.size, r.least);
}

int put_clamp(drawing *d, int x, const char *low, int high)
{
    const random_value v = *value_at(d, x), limit = *value_at(d, high);
    random_op *op = op_begin(d, op_clamp);
    op_in(op, x);
    op_number(op, low);
    op_in(op, high);
    return op_out(d, op, v.shape, v.rank, random_spec_type, larger(larger(v.size, limit.size), 2),
                  smaller(smaller(v.least, limit.least), -2));
}

/* where(condition, x, y); condition and y broadcast to x; y < 0: the constant 0.5. */
int put_where(drawing *d, int condition, int x, int y)
{
    const random_value v = *value_at(d, x), other = y < 0 ? v : *value_at(d, y);
    random_op *op = op_begin(d, op_where);
    op_in(op, condition);
    op_in(op, x);
    if (y < 0) op_number(op, "0.5");
    else op_in(op, y);
    return op_out(d, op, v.shape, v.rank, random_spec_type, larger(larger(v.size, other.size), 0.5),
                  smaller(smaller(v.least, other.least), 0.5));
}

int put_reduce(drawing *d, op_kind kind, int x)
{
    random_value v = *value_at(d, x);
    const double n = (double)v.shape[v.rank - 1].value;
    v.shape[v.rank - 1] = axis_number(1);
    const reach r = kind == op_row_sum     ? (reach){v.size * n, v.least * n}
                    : kind == op_row_sumsq ? (reach){v.size * v.size * n, v.least > 0 ? v.least * v.least * n : 0}
                                           : (reach){v.size, v.least};
    random_op *op = op_begin(d, kind);
    op_in(op, x);
    return op_out(d, op, v.shape, v.rank, random_spec_type, r.size, r.least);
}

/* The axis as written in the spec: half of the time as a negative number, counted from the end. */
static int written_axis(drawing *d, int axis, int rank) { return draw_chance(d, 50) ? axis - rank : axis; }

int put_axis_reduce(drawing *d, op_kind kind, int x, int axis, bool keeps)
{
    random_value v = *value_at(d, x);
    const double n = (double)v.shape[axis].value;
    const int rank = v.rank, written = written_axis(d, axis, rank);
    v.shape[axis] = axis_number(1);
    if (!keeps) memmove(v.shape + axis, v.shape + axis + 1, (size_t)(--v.rank - axis) * sizeof *v.shape);
    random_op *op = op_begin(d, kind);
    op_in(op, x);
    op_say(op, "axis", "%d", written);
    if (keeps) op_say(op, "keepdim", "true");
    return op_out(d, op, v.shape, v.rank, random_spec_type, kind == op_sum ? v.size * n : v.size, kind == op_sum ? v.least * n : v.least);
}

int put_permute(drawing *d, int x, const int *axes)
{
    random_axis shape[max_rank];
    const random_value v = *value_at(d, x);
    char words[64] = "[";
    for (int i = 0; i < v.rank; i++) {
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%d", i ? ", " : "", written_axis(d, axes[i], v.rank));
        shape[i] = v.shape[axes[i]];
    }
    random_op *op = op_begin(d, op_permute);
    op_in(op, x);
    op_say(op, "axes", "%s]", words);
    return op_out(d, op, shape, v.rank, v.type, v.size, v.least);
}

int put_cast(drawing *d, int x, dtype to)
{
    const random_value v = *value_at(d, x);
    random_op *op = op_begin(d, op_cast);
    op_in(op, x);
    op_say(op, "to", "%s", dtype_name(to));
    return op_out(d, op, v.shape, v.rank, to, v.size, v.least > 0 ? v.least * 0.99 : v.least);
}

/* ---- products */
/* An existing weight of this shape, to test shared params; -1: none. */
static int shared_weight(drawing *d, const random_axis *shape)
{
    for (int i = 0; i < d->s->op_count; i++) {
        const random_op *op = &d->s->ops[i];
        if (op->kind != op_linear) continue;
        const random_value *w = value_at(d, op->in[1].value);
        if (axis_same(&w->shape[0], &shape[0]) && axis_same(&w->shape[1], &shape[1])) return op->in[1].value;
    }
    return -1;
}

int put_linear(drawing *d, int x, const random_axis *to, bool bias)
{
    random_value v = *value_at(d, x);
    const bool in_out = draw_chance(d, 20);
    const random_axis from = v.shape[v.rank - 1], shape[2] = {in_out ? from : *to, in_out ? *to : from};
    int w = draw_chance(d, 8) ? shared_weight(d, shape) : -1, b = -1;
    if (w < 0) w = make_param(d, shape, 2);
    if (bias) b = make_param(d, to, 1);
    v.shape[v.rank - 1] = *to;
    random_op *op = op_begin(d, op_linear);
    op_in(op, x);
    op_in(op, w);
    if (bias) op_in(op, b);
    if (in_out || draw_chance(d, 3)) op_say(op, "layout", "%s", in_out ? "in_out" : "out_in");
    return op_out(d, op, v.shape, v.rank, random_spec_type, v.size * 1.5 + 0.5, -v.size * 1.5 - 0.5);
}

int put_matmul(drawing *d, int x, int y, bool transpose, bool transpose_a)
{
    const random_value a = *value_at(d, x), b = *value_at(d, y);
    const double depth = (double)a.shape[a.rank - (transpose_a ? 2 : 1)].value, size = a.size * b.size * (sqrt(depth) + 1);
    random_value out = a.rank < b.rank ? b : a;
    for (int i = 3; i <= a.rank; i++) /* batches: an axis of 1 goes with any other */
        if (a.shape[a.rank - i].dynamic || a.shape[a.rank - i].value != 1) out.shape[out.rank - i] = a.shape[a.rank - i];
    out.shape[out.rank - 2] = a.shape[a.rank - (transpose_a ? 1 : 2)];
    out.shape[out.rank - 1] = b.shape[b.rank - (transpose ? 2 : 1)];
    random_op *op = op_begin(d, op_matmul);
    op_in(op, x);
    op_in(op, y);
    if (transpose || draw_chance(d, 10)) op_say(op, "transpose", "%s", transpose ? "true" : "false");
    if (transpose_a || draw_chance(d, 5)) op_say(op, "transpose_a", "%s", transpose_a ? "true" : "false");
    return op_out(d, op, out.shape, out.rank, random_spec_type, size, -size);
}

/* ---- moves */
int put_reshape(drawing *d, int x, const random_axis *shape, int rank)
{
    const random_value v = *value_at(d, x);
    char words[96] = "[";
    for (int i = 0; i < rank; i++) snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? ", " : "", shape[i].text);
    random_op *op = op_begin(d, op_reshape);
    op_in(op, x);
    op_say(op, "shape", "%s]", words);
    return op_out(d, op, shape, rank, v.type, v.size, v.least);
}

int put_split(drawing *d, int x, const random_axis *sizes, int count, int *outs)
{
    random_value v = *value_at(d, x);
    char words[96] = "[";
    for (int i = 0; i < count; i++) snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? ", " : "", sizes[i].text);
    random_op *op = op_begin(d, op_split);
    op_in(op, x);
    op_say(op, "sizes", "%s]", words);
    for (int i = 0; i < count; i++) {
        v.shape[v.rank - 1] = sizes[i];
        outs[i] = op_out(d, op, v.shape, v.rank, v.type, v.size, v.least);
    }
    return outs[0];
}

int put_concat(drawing *d, const int *xs, int count)
{
    random_value v = *value_at(d, xs[0]);
    reach r = {v.size, v.least};
    char sum[96] = "";
    long long columns = 0;
    random_op *op = op_begin(d, op_concat);
    for (int i = 0; i < count; i++) {
        const random_axis *last = last_axis(d, xs[i]);
        op_in(op, xs[i]);
        columns += last->value;
        snprintf(sum + strlen(sum), sizeof sum - strlen(sum), "%s%s", i ? "+" : "", last->text);
        r.size = larger(r.size, value_at(d, xs[i])->size), r.least = smaller(r.least, value_at(d, xs[i])->least);
    }
    v.shape[v.rank - 1] = axis_write(columns, false, "%s", sum);
    return op_out(d, op, v.shape, v.rank, v.type, r.size, r.least);
}

/* ---- norms and rope */
int put_rmsnorm(drawing *d, int x)
{
    const random_value v = *value_at(d, x);
    static const char *const eps[] = {"1.0e-5", "1.0e-6", "1.0e-12", "1.0e-2"};
    const int w = draw_chance(d, 92) ? make_param(d, &v.shape[v.rank - 1], 1) : -1;
    random_op *op = op_begin(d, op_rmsnorm);
    op_in(op, x);
    if (w >= 0) op_in(op, w);
    if (draw_chance(d, 60)) op_say(op, "eps", "%s", DRAW_OF(d, eps));
    if (w >= 0 && draw_chance(d, 25)) op_say(op, "unit_offset", "true");
    return op_out(d, op, v.shape, v.rank, random_spec_type, 5, -5);
}

int put_layernorm(drawing *d, int x)
{
    const random_value v = *value_at(d, x);
    const random_axis *columns = &v.shape[v.rank - 1];
    static const char *const eps[] = {"1.0e-5", "1.0e-6", "1.0e-3"};
    const int w = draw_chance(d, 92) ? make_param(d, columns, 1) : -1, b = w >= 0 && draw_chance(d, 60) ? make_param(d, columns, 1) : -1;
    random_op *op = op_begin(d, op_layernorm);
    op_in(op, x);
    if (w >= 0) op_in(op, w);
    if (b >= 0) op_in(op, b);
    if (draw_chance(d, 60)) op_say(op, "eps", "%s", DRAW_OF(d, eps));
    if (w >= 0 && draw_chance(d, 12)) op_say(op, "unit_offset", "true");
    return op_out(d, op, v.shape, v.rank, random_spec_type, 5, -5);
}

int put_softmax(drawing *d, int x)
{
    const random_value v = *value_at(d, x);
    random_op *op = op_begin(d, op_softmax);
    op_in(op, x);
    return op_out(d, op, v.shape, v.rank, random_spec_type, 1, 0);
}

int put_l2norm(drawing *d, int x)
{
    const random_value v = *value_at(d, x);
    random_op *op = op_begin(d, op_l2norm);
    op_in(op, x);
    if (draw_chance(d, 30)) op_say(op, "eps", "%s", draw_chance(d, 50) ? "1.0e-6" : "0.5");
    return op_out(d, op, v.shape, v.rank, random_spec_type, 1, -1);
}

static void say_longrope(drawing *d, random_op *op, long long rotary)
{
    static const char *const factors[] = {"1", "1.5", "4.25"};
    enum { longest_list = 24 };
    char list[8 * longest_list] = "";
    if (rotary / 2 > longest_list) return;
    for (long long i = 0; i < rotary / 2; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", DRAW_OF(d, factors));
    op_say(op, "scaling", "{type: longrope, factors: [%s]}", list);
}

static void say_scaling(drawing *d, random_op *op, long long rotary)
{
    switch (draw_below(d, 6)) {
    case 0: op_say(op, "scaling", "{type: linear, factor: %s}", draw_chance(d, 50) ? "4" : "2.5"); break;
    case 1:
        op_say(op, "scaling", "{type: llama3, factor: 8, low_freq: 1, high_freq: 4, original: %d}", draw_chance(d, 50) ? 8192 : 64);
        break;
    case 2: op_say(op, "scaling", "{type: dynamic, factor: 2, original: 64, length: %d}", draw_chance(d, 50) ? 256 : 32); break;
    case 3:
        if (draw_chance(d, 50)) op_say(op, "scaling", "{type: yarn, factor: 4, original: 64}");
        else op_say(op, "scaling", "{type: yarn, factor: 32, original: 4096, beta_fast: 16, beta_slow: 2, truncate: false}");
        break;
    case 4: say_longrope(d, op, rotary); break;
    default: op_say(op, "scaling", "{type: proportional, share: %s}", draw_chance(d, 50) ? "0.25" : "0.5"); break;
    }
}

int put_rope(drawing *d, int x, const random_axis *heads, long long head_size, int at)
{
    const random_value v = *value_at(d, x);
    static const char *const bases[] = {"500000", "1000000", "100", "10000"};
    random_op *op = op_begin(d, op_rope);
    op_in(op, x);
    op_say(op, "heads", "%s", heads->text);
    op_say(op, "pairing", "%s", draw_chance(d, 60) ? "half" : "interleaved");
    if (draw_chance(d, 60)) op_say(op, "theta", "%s", DRAW_OF(d, bases));
    long long rotary = head_size / 2 * 2;
    const bool part = head_size > 2 && draw_chance(d, 20);
    if (part) rotary = 2 + 2 * (long long)draw_below(d, (int)head_size / 2);
    if (part || rotary < head_size) op_say(op, "rotary", "%lld", rotary);
    if (draw_chance(d, 30)) say_scaling(d, op, rotary);
    if (draw_chance(d, 12)) op_say(op, "attention_factor", "%s", draw_chance(d, 50) ? "1.25" : "0.8");
    if (at >= 0) op_name(op, "at", at);
    return op_out(d, op, v.shape, v.rank, random_spec_type, v.size * 1.5, -v.size * 1.5);
}
