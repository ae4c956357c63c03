/* In: elementwise ops and row reductions of a graph. Out: their values and errors. Refuses: operands that do not
 * broadcast.
 *
 * An elementwise result is off by what each operand's error does to it, and by the error of the function that computes it
 * (FORM in ir/op.def, or below). What an error e does is the largest of |f(x +- e) - f(x)| and of a sixth of |f(x +- 6 e) - f(x)|: an
 * operand is right as far as 6 e away (ref_sigmas), and where f is flat, has a kink or a pole, the step to there is more than 6 times that
 * of e. Errors of two operands add as squares, but for what both have from one source (ref_sources.c): that moves them together. Of a
 * product or quotient both errors together do more than each alone, which is all there is near 0. Where an operand's bound reaches beyond
 * the function's domain, or across its pole, the error is infinite, unless it is
 * known what comes of either side (ref_sides.c). */
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
    case op_gelu_tanh: /* x (1 + tanh(a)) / 2, which cancels below 0 */
        return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
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

/* Size of the error of the definition's own evaluation in float32. Functions of exp round the argument of exp2 (|x| u), gelu's 1 + tanh
 * or 1 + erf cancels (so |x| u, not |y| u), and a device's functions are right to two units in the last place. */
static double definition_rounding(op_kind kind, double x, double result)
{
    const double size = fabs(result);
    switch (kind) {
    case op_div:
    case op_rsqrt:
    case op_log: return 2 * REF_UNIT * size;
    case op_exp: return (2 + fabs(x)) * REF_UNIT * size;
    case op_sigmoid: return (3 + fabs(x) * (1 - result)) * REF_UNIT * size;
    case op_silu: return (3 + (x < 0 ? -x : 0)) * REF_UNIT * size;
    case op_gelu_erf:
    case op_gelu_tanh: return 2 * REF_UNIT * fabs(x);
    case op_sin:
    case op_cos:
    case op_tanh: return 2 * REF_UNIT;
    default: return ref_form_error(kind, ref_form_exact) * size;
    }
}

/* What an evaluation adds. Of x times an exponential, the exponential may be flushed to 0. */
static double rounding(op_kind kind, ref_form form, double x, double result)
{
    const double flushed = kind == op_silu || (form == ref_form_quick && kind == op_gelu_tanh) ? (1 + fabs(x)) * REF_LEAST : 0;
    if (form == ref_form_definition) return definition_rounding(kind, x, result) + flushed;
    return ref_form_error(kind, form) * fabs(result) + flushed;
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

/* Of one operand: its value and error, how far the error moves the result at most, and its slope there, with its sign. */
typedef struct effect {
    double value, error, moves, slope;
} effect;

/* What the shares of two operands have in common, in sums over sources of products with one sign. A device need not round a value alike for
 * each op that reads it (it may contract a product and a sum), so of errors that cancel those of the source's own last rounding do not:
 * `common` leaves them out. */
typedef struct covariance {
    double plus, minus, common_plus, common_minus;
} covariance;

/* The part of a move that goes with the error, up and down: of a kink or a curve within reach, the rest is independent. */
static double central_slope(op_kind kind, const effect *x, double other, bool second)
{
    const double e = x->error, up = second ? apply(kind, other, x->value + e) : apply(kind, x->value + e, other);
    const double down = second ? apply(kind, other, x->value - e) : apply(kind, x->value - e, other);
    if (!(e > 0 && isfinite(x->moves) && isfinite(up) && isfinite(down))) return 0;
    const double most = x->moves / e, slope = (up - down) / (2 * e);
    return fmax(-most, fmin(slope, most));
}

/* What two operands do together beyond the squares of each. */
static double together(const effect *x, const effect *y, const covariance *c)
{
    const double slopes = x->slope * y->slope;
    return 2 * slopes * (slopes > 0 ? c->plus + c->common_minus : c->common_plus + c->minus);
}

/* In squares, without the result's own rounding. The larger of two numbers moves by no more than either of them. */
static double moved(op_kind kind, const effect *x, const effect *y, const covariance *c)
{
    const double by_x = x->moves * x->moves, by_y = y->moves * y->moves;
    if (kind == op_max || kind == op_min) return fmax(by_x, by_y);
    const double by_both = kind == op_mul && x->error != 0 && y->error != 0 ? ref_sigmas * x->error * y->error : 0;
    return fmax(0, by_x + by_y + together(x, y, c)) + by_both * by_both;
}

/* *inherited: what of the error is the operands'. */
static void one_element(op_kind kind, ref_form form, effect *x, effect *y, const covariance *c, double *value, double *error,
                        double *inherited)
{
    const double f = apply(kind, x->value, y->value), nearest = fabs(y->value) - ref_sigmas * y->error; /* of a divisor to 0 */
    const double other = kind == op_div && y->error != 0 && nearest > 0 ? nearest : y->value;
    x->moves = sensitivity(kind, x->value, x->error, other, false, other == y->value ? f : apply(kind, x->value, other));
    y->moves = sensitivity(kind, y->value, y->error, x->value, true, f);
    if (c) x->slope = central_slope(kind, x, y->value, false), y->slope = central_slope(kind, y, x->value, true);
    const double squares = moved(kind, x, y, c ? c : &(covariance){0});
    const double own = isfinite(f) ? rounding(kind, form, isfinite(x->value) ? x->value : 0, f) : 0;
    *value = f;
    *inherited = sqrt(squares);
    *error = sqrt(squares + own * own);
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

/* ---- sources of errors (ref_sources.c) */
/* One source of the result's errors, and the operands' shares of it. */
typedef struct meeting {
    ref_share *out;
    const ref_share *of[2];
} meeting;
enum { most_meetings = 2 * (ref_most_shares + 2) };

static bool stretches(const ref_state *r, const ir_value *out, const long long *steps)
{
    for (int i = 0; i < ref_rank(r, out); i++)
        if (steps[i] == 0 && ref_axis(r, out, i) > 1) return true;
    return false;
}

/* False after ref_fail(). An operand that is stretched is a source: its one number moves several elements. */
static bool find_meetings(ref_state *r, const ir_op *op, const long long *const steps[2], meeting *m, int *count)
{
    ref_tensor *f = ref_out(r, op);
    *count = 0;
    for (int k = 0; k < op->input_count; k++) {
        const bool stretched = stretches(r, op->outputs[0], steps[k]);
        if (stretched && !ref_make_source(r, op, op->inputs[k])) return false;
        for (const ref_share *s = ref_of(r, op->inputs[k])->shares; s; s = s->next) {
            int i = 0;
            while (i < *count && m[i].out->source != s->source) i++;
            if (i == *count) m[(*count)++] = (meeting){.out = ref_add_share(r, op, f, s->source)};
            if (!m[i].out) return false;
            m[i].of[k] = s;
            m[i].out->stretched |= s->stretched || stretched;
        }
    }
    return true;
}

static covariance covariance_of(const meeting *m, int count, const size_t at[2])
{
    covariance c = {0};
    for (int i = 0; i < count; i++) {
        const ref_share *x = m[i].of[0], *y = m[i].of[1];
        if (!x || !y || x->at[at[0]] != y->at[at[1]]) continue;
        const double both = x->size[at[0]] * y->size[at[1]], common = both * ref_common_part(x, at[0]);
        *(both > 0 ? &c.plus : &c.minus) += both;
        *(both > 0 ? &c.common_plus : &c.common_minus) += common;
    }
    return c;
}

static void pass_shares(const meeting *m, int count, const size_t at[2], const effect of[2], size_t i)
{
    for (int k = 0; k < count; k++)
        for (int side = 0; side < 2; side++) {
            const ref_share *s = m[k].of[side];
            if (s) ref_put_share(m[k].out, i, of[side].slope * s->size[at[side]], s->at[at[side]]);
        }
}

/* ---- sides (ref_sides.c) */
/* Both operands' samples are of one number, and the other operand is certain beside it. */
static bool sides_agree(const ref_side *x, const ref_side *y, const effect of[2], double value, double error)
{
    if (x && y) return x->origin == y->origin;
    return of[x ? 1 : 0].error <= 0.01 * error || fabs(value) > ref_sigmas * error;
}

/* What the result is on each side. Where it has a pole or an end within reach, though its operands have bounds, that is its bound: so that
 * the sum of nine such elements is within its own, however each was decided. */
static bool pass_sides(ref_state *r, const ir_op *op, const size_t at[2], const effect of[2], size_t i)
{
    const ref_side *x = ref_side_of(r, op->inputs[0], at[0]), *y = op->input_count > 1 ? ref_side_of(r, op->inputs[1], at[1]) : NULL;
    if (!x && !y) return true;
    ref_tensor *f = ref_out(r, op);
    ref_side *s = ref_add_side(r, op, op->outputs[0], i);
    if (!s) return false;
    s->origin = x ? x->origin : y->origin;
    const bool known = sides_agree(x, y, of, f->value[i], f->error[i]);
    for (int k = 0; k < ref_samples; k++)
        s->at[k] = known ? apply(op->kind, x ? x->at[k] : of[0].value, y ? y->at[k] : of[1].value) : NAN;
    if (isfinite(f->error[i]) || !isfinite(of[0].error) || !isfinite(of[1].error)) return true;
    const double value = isfinite(f->value[i]) ? f->value[i] : s->at[0], farthest = ref_farthest_side(s, value);
    if (!isfinite(farthest)) return true;
    f->value[i] = value, f->error[i] = fmax(farthest / 2, REF_UNIT * fabs(value));
    for (ref_share *share = f->shares; share; share = share->next) share->size[i] = 0; /* a slope says nothing of it */
    return true;
}

bool ref_element(ref_state *r, const ir_op *op)
{
    const ir_value *out = op->outputs[0];
    const bool two = op->input_count == 2;
    const ref_form form = ref_form_of(r, op);
    const ref_tensor *x = ref_of(r, op->inputs[0]), *y = two ? ref_of(r, op->inputs[1]) : NULL;
    ref_tensor *f = ref_out(r, op);
    long long index[max_rank] = {0}, x_steps[max_rank] = {0}, y_steps[max_rank] = {0};
    const long long *const steps[2] = {x_steps, y_steps};
    size_t at[2] = {0, 0};
    meeting meetings[most_meetings];
    int count;
    if (!find_steps(r, op->inputs[0], out, x_steps) || (two && !find_steps(r, op->inputs[1], out, y_steps)))
        return ref_fail(r, op, "an operand does not broadcast to the result");
    double *inherited = ref_keep_inherited(r, op);
    if (!inherited || !find_meetings(r, op, steps, meetings, &count)) return false;
    for (int k = 0; k < op->input_count; k++)
        if (!ref_begin_sides(r, op, op->inputs[k])) return false;
    for (size_t i = 0; i < f->count; i++) {
        effect of[2] = {{.value = x->value[at[0]], .error = ref_error(x, at[0])}};
        if (two) of[1] = (effect){.value = y->value[at[1]], .error = ref_error(y, at[1])};
        const covariance c = covariance_of(meetings, count, at);
        one_element(op->kind, form, &of[0], &of[1], count > 0 ? &c : NULL, &f->value[i], &f->error[i], &inherited[i]);
        pass_shares(meetings, count, at, of, i);
        if (!pass_sides(r, op, at, of, i)) return false;
        step_on(r, out, index, steps, at);
    }
    return true;
}

/* ---- reductions of rows */
/* Returns where the extreme is. */
static size_t row_extreme(const ref_tensor *x, size_t start, size_t columns, double sign, double *value, double *error)
{
    double best = -INFINITY, high = -INFINITY; /* no lower bound is further from the best than its own error */
    bool nan = false;
    size_t where = start;
    for (size_t i = start; i < start + columns; i++) {
        const double v = sign * x->value[i], e = ref_error(x, i);
        nan |= isnan(v);
        if (v > best) best = v, where = i;
        if (v + e > high) high = v + e;
    }
    *value = nan ? NAN : sign * best;
    *error = isfinite(best) ? high - best : 0;
    return where;
}

/* What each source does to a row's sum of terms whose derivatives are 1, or 2x, squared. Of a source that the whole row has in common it
 * is a share of the sum as well. */
static double row_shares(op_kind kind, const ref_tensor *x, size_t start, size_t columns, double scale, ref_tensor *f, size_t row)
{
    double squares = 0;
    for (const ref_share *s = x->shares; s; s = s->next)
        for (size_t i = start, end; i < start + columns; i = end) {
            double moved = 0;
            end = ref_share_run(s, i, start + columns);
            for (size_t k = i; k < end; k++) moved += (kind == op_row_sumsq ? 2 * x->value[k] : 1) * s->size[k];
            squares += moved * moved;
            if (end - i == columns) ref_put_share(ref_share_of(f, s->source), row, scale * moved, ref_run_at(s, i, end));
        }
    return squares;
}

static void row_total(op_kind kind, const ref_tensor *x, size_t start, size_t columns, ref_tensor *f, size_t row)
{
    ref_sum s = {0};
    double squares = 0; /* of errors, which have one sign */
    for (size_t i = start; i < start + columns; i++) {
        const double v = x->value[i], e = ref_error(x, i), own = x->shares ? sqrt(ref_own_square(x, i)) : e;
        if (kind == op_row_sumsq) {
            ref_sum_add(&s, v * v, 2 * fabs(v) * own + ref_sigmas * e * e);
            squares += e * e;
        } else {
            ref_sum_add(&s, v, own);
        }
    }
    const double scale = kind == op_row_mean ? 1 / (double)columns : 1;
    const double own = kind == op_row_mean ? REF_UNIT * s.value : 0, shared = row_shares(kind, x, start, columns, scale, f, row);
    f->value[row] = scale * s.value;
    /* the caller knows whether what was added is certain */
    f->error[row] = isfinite(s.value) ? scale * sqrt(ref_sum_error(&s) + own * own + squares * squares + shared) : 0;
}

bool ref_reduce(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    ref_tensor *f = ref_out(r, op);
    const size_t columns = (size_t)ref_axis(r, op->inputs[0], -1);
    if (columns == 0 || f->count * columns != x->count)
        return ref_fail(r, op, "operand and result do not have the same rows");
    if (!ref_copy_shares(r, op, x, f)) return false;
    for (size_t i = 0; i < f->count; i++) {
        if (op->kind != op_row_max && op->kind != op_row_min) {
            row_total(op->kind, x, i * columns, columns, f, i);
            continue;
        }
        const size_t at = row_extreme(x, i * columns, columns, op->kind == op_row_max ? 1 : -1, &f->value[i], &f->error[i]);
        for (const ref_share *s = x->shares; s; s = s->next) ref_put_share(ref_share_of(f, s->source), i, s->size[at], s->at[at]);
    }
    return true;
}
