/* In: elementwise ops and row reductions of a graph. Out: their values and errors. Refuses: operands that do not
 * broadcast.
 *
 * An elementwise result is off by what each operand's error does to it, and by its own rounding, a few u, which each function
 * states below. What an error e does is the largest of |f(x +- e) - f(x)| and of a sixth of |f(x +- 6 e) - f(x)|: an operand is
 * right as far as 6 e away (ref_sigmas), and where f is flat, has a kink or a pole, the step to there is more than 6 times that of e.
 * Of a product or quotient both errors together do more than each alone, which is all there is near 0. Where an operand's bound
 * reaches beyond the function's domain, or across its pole, the error is infinite. */
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdlib.h>

/* Written from the definitions; ir/op.def only names them. */
static double apply(op_kind kind, double x, double y)
{
    switch (kind) {
    case op_neg: return -x;
    case op_exp: return exp(x);
    case op_log: return log(x);
    case op_sqrt: return sqrt(x);
    case op_square: return x * x;
    case op_rsqrt: return 1 / sqrt(x);
    case op_sin: return sin(x);
    case op_cos: return cos(x);
    case op_tanh: return tanh(x);
    case op_sigmoid: return 1 / (1 + exp(-x));
    case op_silu: return x / (1 + exp(-x));
    case op_gelu_erf: return x * erfc(-x * 0.70710678118654752440) / 2;
    case op_gelu_tanh: return x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))) / 2;
    case op_relu: return x > 0 || isnan(x) ? x : 0;
    case op_add: return x + y;
    case op_sub: return x - y;
    case op_mul: return x * y;
    case op_div: return x / y;
    case op_max: return isnan(x) || isnan(y) ? NAN : x > y ? x : y;
    case op_min: return isnan(x) || isnan(y) ? NAN : x < y ? x : y;
    case op_cast: return x;
    default: return NAN;
    }
}

/* Size of a float32 evaluation's own error. Functions of exp round the argument of exp2 (|x| u), gelu's 1 + tanh or 1 +
 * erf cancels (so |x| u, not |y| u), and a device's functions are right to two units in the last place. */
static double rounding(op_kind kind, double x, double result)
{
    const double size = fabs(result);
    switch (kind) {
    case op_neg:
    case op_relu:
    case op_max:
    case op_min:
    case op_cast: return 0;
    case op_add:
    case op_sub:
    case op_mul:
    case op_square:
    case op_sqrt: return REF_UNIT * size;
    case op_div:
    case op_rsqrt:
    case op_log: return 2 * REF_UNIT * size;
    case op_exp: return (2 + fabs(x)) * REF_UNIT * size;
    case op_sigmoid: return (3 + fabs(x) * (1 - result)) * REF_UNIT * size;
    case op_silu: return (3 + (x < 0 ? -x : 0)) * REF_UNIT * size + (1 + fabs(x)) * REF_LEAST;
    case op_gelu_erf:
    case op_gelu_tanh: return 2 * REF_UNIT * fabs(x);
    case op_sin:
    case op_cos:
    case op_tanh: return 2 * REF_UNIT;
    default: return INFINITY; /* no op of a graph */
    }
}

/* Infinite where one is a number and the other is not. */
static double change(double from, double to)
{
    if (isnan(from) || isnan(to)) return isnan(from) && isnan(to) ? 0 : INFINITY;
    return from == to ? 0 : fabs(to - from);
}

/* Within its bound the operand may lie on either side of where the function ends or has a pole. */
static bool may_cross(op_kind kind, double x, double e, bool second)
{
    const double reach = ref_sigmas * e;
    switch (kind) {
    case op_log:
    case op_rsqrt:
    case op_sqrt: return x - reach < 0 && x + reach > 0;
    case op_div: return second && fabs(x) <= reach;
    default: return false;
    }
}

/* The larger of what +step and -step do to f. */
static double change_by(op_kind kind, double x, double step, double other, bool second, double f)
{
    const double up = second ? apply(kind, other, x + step) : apply(kind, x + step, other);
    const double down = second ? apply(kind, other, x - step) : apply(kind, x - step, other);
    return fmax(change(f, up), change(f, down));
}

static double sensitivity(op_kind kind, double x, double e, double other, bool second, double f)
{
    if (e == 0) return 0;
    if (isinf(e) || may_cross(kind, x, e, second)) return INFINITY;
    return fmax(change_by(kind, x, e, other, second, f), change_by(kind, x, ref_sigmas * e, other, second, f) / ref_sigmas);
}

static void one_element(op_kind kind, double x, double x_error, double y, double y_error, double *value, double *error)
{
    const double f = apply(kind, x, y), nearest = fabs(y) - ref_sigmas * y_error; /* of a divisor to 0 */
    const double other = kind == op_div && y_error != 0 && nearest > 0 ? nearest : y;
    const double by_x = sensitivity(kind, x, x_error, other, false, other == y ? f : apply(kind, x, other));
    const double by_y = sensitivity(kind, y, y_error, x, true, f);
    const double by_both = kind == op_mul && x_error != 0 && y_error != 0 ? ref_sigmas * x_error * y_error : 0;
    const double own = isfinite(f) ? rounding(kind, isfinite(x) ? x : 0, f) : 0;
    *value = f;
    *error = sqrt(by_x * by_x + by_y * by_y + by_both * by_both + own * own);
}

/* Steps of an operand along the axes of the result, 0 where it is stretched; axes are matched from the right. */
static bool find_steps(const ref_state *r, const ir_value *v, const ir_value *out, long long *steps)
{
    long long step = 1;
    for (int i = 1; i <= ref_rank(r, out); i++) {
        const long long size = i <= ref_rank(r, v) ? ref_axis(r, v, -i) : 1;
        if (size != 1 && size != ref_axis(r, out, -i)) return false;
        steps[ref_rank(r, out) - i] = size == 1 ? 0 : step;
        step *= size;
    }
    return ref_rank(r, v) <= ref_rank(r, out);
}

/* Moves to the next element of the result: index counts like an odometer. */
static void step_on(const ref_state *r, const ir_value *out, long long *index, const long long *const steps[2],
                    size_t at[2])
{
    for (int i = ref_rank(r, out) - 1; i >= 0; i--) {
        const long long size = ref_axis(r, out, i);
        for (int k = 0; k < 2; k++) at[k] += (size_t)steps[k][i];
        if (++index[i] < size) return;
        for (int k = 0; k < 2; k++) at[k] -= (size_t)(steps[k][i] * size);
        index[i] = 0;
    }
}

/* What a row's common number does to one element: of an operand that is stretched along the row, all of its error; of another, what is
 * common in it already. */
static double signed_change(op_kind kind, const ref_tensor *t, size_t at, bool stretched, double other, bool second, double f)
{
    const double step = stretched ? ref_error(t, at) : t->common ? t->common[at] : 0;
    if (step == 0 || !isfinite(step)) return 0;
    const double to = second ? apply(kind, other, t->value[at] + step) : apply(kind, t->value[at] + step, other);
    return isfinite(to - f) ? to - f : 0;
}

typedef struct operands {
    const ref_tensor *x, *y; /* y NULL: there is one */
    const long long *steps[2];
} operands;

static bool has_common(const ref_tensor *t, bool stretched) { return t && (t->common || (stretched && !ref_exact(t))); }

/* Two numbers of a row (x + m) * r are independent. */
static bool note_common(ref_state *r, const ir_op *op, const operands *o, ref_tensor *f)
{
    const ir_value *out = op->outputs[0];
    const int last = ref_rank(r, out) - 1;
    if (last < 0 || ref_axis(r, out, last) < 2) return true;
    const bool x_stretched = o->steps[0][last] == 0, y_stretched = o->y && o->steps[1][last] == 0;
    if (!has_common(o->x, x_stretched) && !has_common(o->y, y_stretched)) return true;
    f->common = calloc(f->count + 1, sizeof *f->common);
    if (!f->common) return ref_fail(r, op, "not enough memory");
    long long index[max_rank] = {0};
    size_t at[2] = {0, 0};
    for (size_t i = 0; i < f->count; i++) {
        const double x = o->x->value[at[0]], y = o->y ? o->y->value[at[1]] : 0;
        const double by_x = signed_change(op->kind, o->x, at[0], x_stretched, y, false, apply(op->kind, x, y));
        const double by_y = o->y ? signed_change(op->kind, o->y, at[1], y_stretched, x, true, apply(op->kind, x, y)) : 0;
        f->common[i] = ref_joined(by_x, by_y);
        step_on(r, out, index, o->steps, at);
    }
    return true;
}

bool ref_element(ref_state *r, const ir_op *op)
{
    const ir_value *out = op->outputs[0];
    const bool two = op->input_count == 2;
    const ref_tensor *x = ref_of(r, op->inputs[0]), *y = two ? ref_of(r, op->inputs[1]) : NULL;
    ref_tensor *f = ref_out(r, op);
    long long index[max_rank] = {0}, x_steps[max_rank] = {0}, y_steps[max_rank] = {0};
    const long long *const steps[2] = {x_steps, y_steps};
    size_t at[2] = {0, 0};
    if (!find_steps(r, op->inputs[0], out, x_steps) || (two && !find_steps(r, op->inputs[1], out, y_steps)))
        return ref_fail(r, op, "an operand does not broadcast to the result");
    for (size_t i = 0; i < f->count; i++) {
        one_element(op->kind, x->value[at[0]], ref_error(x, at[0]), two ? y->value[at[1]] : 0,
                    two ? ref_error(y, at[1]) : 0, &f->value[i], &f->error[i]);
        step_on(r, out, index, steps, at);
    }
    return note_common(r, op, &(operands){x, y, {x_steps, y_steps}}, f);
}

/* ---- reductions of rows */
static void row_extreme(const ref_tensor *x, size_t start, size_t columns, double sign, double *value, double *error)
{
    double best = -INFINITY, high = -INFINITY; /* no lower bound is further from the best than its own error */
    bool nan = false;
    for (size_t i = start; i < start + columns; i++) {
        const double v = sign * x->value[i], e = ref_error(x, i);
        nan |= isnan(v);
        if (v > best) best = v;
        if (v + e > high) high = v + e;
    }
    *value = nan ? NAN : sign * best;
    *error = isfinite(best) ? high - best : 0;
}

static void row_total(op_kind kind, const ref_tensor *x, size_t start, size_t columns, double *value, double *error)
{
    ref_sum s = {0};
    double squares = 0, common = 0; /* squares: of errors, which have one sign */
    for (size_t i = start; i < start + columns; i++) {
        const double v = x->value[i], e = ref_error(x, i);
        if (kind == op_row_sumsq) {
            ref_sum_add(&s, v * v, 2 * fabs(v) * e + ref_sigmas * e * e);
            squares += e * e;
        } else {
            ref_sum_add(&s, v, e);
        }
        if (x->common) common += (kind == op_row_sumsq ? 2 * v : 1) * x->common[i];
    }
    const double scale = kind == op_row_mean ? 1 / (double)columns : 1;
    const double own = kind == op_row_mean ? REF_UNIT * s.value : 0;
    *value = scale * s.value;
    /* the caller knows whether what was added is certain */
    *error = isfinite(s.value) ? scale * sqrt(ref_sum_error(&s) + own * own + squares * squares + common * common) : 0;
}

bool ref_reduce(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    ref_tensor *f = ref_out(r, op);
    const size_t columns = (size_t)ref_axis(r, op->inputs[0], -1);
    if (columns == 0 || f->count * columns != x->count)
        return ref_fail(r, op, "operand and result do not have the same rows");
    for (size_t i = 0; i < f->count; i++) {
        if (op->kind == op_row_max || op->kind == op_row_min)
            row_extreme(x, i * columns, columns, op->kind == op_row_max ? 1 : -1, &f->value[i], &f->error[i]);
        else
            row_total(op->kind, x, i * columns, columns, &f->value[i], &f->error[i]);
    }
    return true;
}
