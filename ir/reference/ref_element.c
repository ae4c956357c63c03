/* In: elementwise ops and row reductions of a graph. Out: their values and errors. Refuses: operands that do not
 * broadcast.
 *
 * The error of an elementwise result consists of the effects of the operands' errors and of the error of the function itself (FORM in
 * ir/op.def, or below). The effect of an error e is the larger of |f(x +- e) - f(x)| and |f(x +- 6 e) - f(x)| / 6: a device's operand is
 * accepted up to 6 e away (ref_sigmas), and near a flat part, a kink or a pole of f, the change over 6 e can exceed 6 times that over e.
 * Effects of two operands add as squares, except for errors that both have from one source (ref_sources.c), which are correlated. Products
 * also count 6 e_x e_y, the largest term if both operands are near 0. For quotients, the effect of the dividend's error is that at the end
 * of the divisor's bound nearest to 0. If an operand's bound reaches beyond the function's domain, or across a pole, the error is infinite,
 * unless samples of the operand show what the results can be (ref_sides.c). */
#include "ir/graph/half.h"
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdlib.h>

enum { most_operands = 3 };

static double larger(double x, double y) { return isnan(x) || isnan(y) ? NAN : x > y ? x : y; }
static double smaller(double x, double y) { return isnan(x) || isnan(y) ? NAN : x < y ? x : y; }

/* Each op by its definition; shares no expression with the templates. */
static double apply(op_kind kind, const double of[most_operands])
{
    const double x = of[0], y = of[1], z = of[2];
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
    case op_gelu_tanh: /* x (1 + tanh(a)) / 2 without the cancellation at x < 0 */
        return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case op_relu: return x > 0 || isnan(x) ? x : 0;
    case op_add: return x + y;
    case op_sub: return x - y;
    case op_mul: return x * y;
    case op_div: return x / y;
    case op_max: return larger(x, y);
    case op_min: return smaller(x, y);
    case op_cast: return x;
    case op_abs: return fabs(x);
    case op_sign: return isnan(x) ? x : (x > 0) - (x < 0);
    case op_floor: return floor(x);
    case op_ceil: return ceil(x);
    case op_round: return nearbyint(x); /* ties to even: the default rounding mode */
    case op_erf: return erf(x);
    case op_exp2: return exp2(x);
    case op_expm1: return expm1(x);
    case op_log1p: return log1p(x);
    case op_softplus: return x > 40 ? x : log1p(exp(x));
    case op_mish: return x * tanh(x > 40 ? x : log1p(exp(x)));
    case op_quick_gelu: return x / (1 + exp(-1.702 * x));
    case op_selu: return 1.0507009873554804934 * (x > 0 ? x : 1.6732632423543772848 * expm1(x));
    case op_hardsigmoid: return smaller(larger(x + 3, 0), 6) / 6;
    case op_hardswish: return x * smaller(larger(x + 3, 0), 6) / 6;
    case op_pow: return pow(x, y);
    case op_leaky_relu: return x > 0 ? x : y * x;
    case op_elu: return x > 0 ? x : y * expm1(x);
    case op_clamp: return smaller(larger(x, y), z);
    case op_where: return x == 0 ? z : y;
    default: return NAN;
    }
}

/* Error of evaluating the definition in float32, with exact operands. Functions made of exp round the argument of exp2: |x| u. In gelu,
 * 1 + tanh or 1 + erf cancels, so the error is |x| u, not |y| u. A device's own functions are assumed accurate to two units in the last
 * place. */
static double definition_rounding(op_kind kind, double x, double y, double result)
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
    case op_tanh:
    case op_erf: return 2 * REF_UNIT;
    case op_exp2: return 2 * REF_UNIT * size;
    case op_expm1: return (2 + fabs(x)) * REF_UNIT * (size + 1); /* as exp(x) - 1, which cancels; log1p and softplus as log(1 + ...) */
    case op_log1p: return 2 * REF_UNIT * (size + 1);
    case op_softplus: return (3 + fabs(x) * (x < 0 ? exp(x) : 0)) * REF_UNIT * (size + 1);
    case op_mish: return 4 * REF_UNIT * fabs(x);
    case op_quick_gelu: return (4 + (x < 0 ? -1.702 * x : 0)) * REF_UNIT * size;
    case op_selu: return 4 * REF_UNIT * (size + (x > 0 ? 0 : 2));
    case op_elu: return x > 0 ? 0 : 4 * REF_UNIT * (size + fabs(y));
    case op_pow: return (4 + (size > 0 ? 2 * fabs(log(size)) : 0)) * REF_UNIT * size;
    default: return ref_form_error(kind, ref_form_exact) * size;
    }
}

/* Error of evaluating the op in `form`, with exact operands. Ops that multiply x by an exponential may lose it: a tiny one may be flushed
 * to 0. */
static double rounding(op_kind kind, ref_form form, double x, double y, double result)
{
    const bool product = kind == op_silu || kind == op_quick_gelu || kind == op_mish || (form == ref_form_quick && kind == op_gelu_tanh);
    const double flushed = product ? (1 + fabs(x)) * REF_LEAST : 0;
    if (form == ref_form_definition) return definition_rounding(kind, x, y, result) + flushed;
    return ref_form_error(kind, form) * fabs(result) + flushed;
}

/* |to - from|; infinite if exactly one is NaN, 0 if both are. */
static double change(double from, double to)
{
    if (isnan(from) || isnan(to)) return isnan(from) && isnan(to) ? 0 : INFINITY;
    return from == to ? 0 : fabs(to - from);
}

/* One operand of an element: its value and error; moves: the largest change of the result by that error; slope: the result's derivative by
 * this operand, with sign. */
typedef struct effect {
    double value, error, moves, slope;
} effect;

static double apply_to(op_kind kind, const effect of[most_operands])
{
    return apply(kind, (const double[most_operands]){of[0].value, of[1].value, of[2].value});
}

/* The result with `step` added to operand k. */
static double apply_moved(op_kind kind, const effect of[most_operands], int k, double step)
{
    double values[most_operands] = {of[0].value, of[1].value, of[2].value};
    values[k] += step;
    return apply(kind, values);
}

static bool is_whole(const effect *x) { return x->error == 0 && floor(x->value) == x->value; }

/* The bound of operand k contains a pole or an end of the function's domain. */
static bool may_cross(op_kind kind, const effect of[most_operands], int k)
{
    const double x = of[k].value, reach = ref_sigmas * of[k].error;
    switch (kind) {
    case op_log:
    case op_rsqrt:
    case op_sqrt: return x - reach < 0 && x + reach > 0;
    case op_log1p: return x - reach < -1 && x + reach > -1;
    case op_div: return k == 1 && fabs(x) <= reach;
    case op_pow: return k == 0 && fabs(x) <= reach && !(is_whole(&of[1]) && of[1].value >= 0);
    default: return false;
    }
}

/* The largest change of a sine or cosine f of x to a crest or a trough that is at most `step` away from x; 0: there is none. */
static double change_to_extreme(op_kind kind, double x, double step, double f)
{
    const double pi = 3.14159265358979323846, from_crest = fabs(remainder(kind == op_sin ? x - pi / 2 : x, 2 * pi));
    return fmax(from_crest <= step ? 1 - f : 0, pi - from_crest <= step ? 1 + f : 0);
}

/* The larger change of the result f when operand k moves by +step or -step; of a sine or cosine also by less, as f may return after a
 * period. */
static double change_by(op_kind kind, const effect of[most_operands], int k, double step, double f)
{
    const double ends = fmax(change(f, apply_moved(kind, of, k, step)), change(f, apply_moved(kind, of, k, -step)));
    return kind == op_sin || kind == op_cos ? fmax(ends, change_to_extreme(kind, of[k].value, step, f)) : ends;
}

static bool may_choose_either(const effect *condition)
{
    return condition->error != 0 && fabs(condition->value) <= ref_sigmas * condition->error;
}

/* op_where: operand k may be the one selected; an operand that is not selected has no effect, even if it is NaN. */
static bool may_be_taken(const effect of[most_operands], int k) { return may_choose_either(&of[0]) || (k == 1) == (of[0].value != 0); }

/* op_where: if the condition's bound contains 0, the device may select the other operand. Returns what that counts as an error. */
static double change_of_choice(const effect of[most_operands])
{
    const double c = fabs(of[0].value), e = of[0].error, all = change(of[1].value, of[2].value);
    return c <= e ? all : c <= ref_sigmas * e ? all / ref_sigmas : 0;
}

static double sensitivity(op_kind kind, const effect of[most_operands], int k)
{
    const double e = of[k].error, f = apply_to(kind, of);
    if (e == 0) return 0;
    if (kind == op_where && k > 0) return may_be_taken(of, k) ? e : 0;
    if (isinf(e) || may_cross(kind, of, k)) return INFINITY;
    if (kind == op_where && k == 0) return change_of_choice(of);
    return fmax(change_by(kind, of, k, e, f), change_by(kind, of, k, ref_sigmas * e, f) / ref_sigmas);
}

/* Covariance of two operands through common sources: sums of the positive (plus) and of the negative (minus) products of their shares. A
 * device may round a value differently for each op that reads it (it may contract a multiply and an add), so errors from a source's last
 * rounding cannot be trusted to cancel: common_plus and common_minus are the same sums without it. */
typedef struct covariance {
    double plus, minus, common_plus, common_minus;
} covariance;

/* Slope of the result by operand k: the central difference over the operand's error, at most moves / error. Near a kink `moves` is larger
 * than slope * error; the rest counts as an independent error. */
static double central_slope(op_kind kind, const effect of[most_operands], int k)
{
    const double e = of[k].error, up = apply_moved(kind, of, k, e), down = apply_moved(kind, of, k, -e);
    if (!(e > 0 && isfinite(of[k].moves) && isfinite(up) && isfinite(down))) return 0;
    const double most = of[k].moves / e, slope = (up - down) / (2 * e);
    return fmax(-most, fmin(slope, most));
}

/* The cross term of two correlated operands, to be added to the sum of their squared effects. */
static double together(const effect *x, const effect *y, const covariance *c)
{
    const double slopes = x->slope * y->slope;
    return 2 * slopes * (slopes > 0 ? c->plus + c->common_minus : c->common_plus + c->minus);
}

/* Squared effect of all operands, without the result's own rounding. A max, min or clamp changes by no more than the operand that changes
 * most; op_where adds the effects of its condition and of both alternatives. */
static double moved(op_kind kind, const effect of[most_operands], const covariance *c)
{
    const double by_x = of[0].moves * of[0].moves, by_y = of[1].moves * of[1].moves, by_z = of[2].moves * of[2].moves;
    if (kind == op_max || kind == op_min || kind == op_clamp) return fmax(fmax(by_x, by_y), by_z);
    if (kind == op_where) return by_x + by_y + by_z;
    const double by_both = kind == op_mul && of[0].error != 0 && of[1].error != 0 ? ref_sigmas * of[0].error * of[1].error : 0;
    return fmax(0, by_x + by_y + together(&of[0], &of[1], c)) + by_both * by_both;
}

/* Sets `to` to the operands at which an error of the first one has the largest effect: a quotient's divisor is taken at the end of its
 * bound nearest to 0. */
static void seen_by_first(op_kind kind, const effect of[most_operands], effect to[most_operands])
{
    for (int k = 0; k < most_operands; k++) to[k] = of[k];
    const double nearest = fabs(of[1].value) - ref_sigmas * of[1].error;
    if (kind == op_div && of[1].error != 0 && nearest > 0) to[1].value = nearest;
}

/* Computes one element: its value, its error, and in *inherited the part of the error that comes from the operands. */
static void one_element(op_kind kind, ref_form form, effect of[most_operands], int count, const covariance *c, double *value, double *error,
                        double *inherited)
{
    const double f = apply_to(kind, of);
    effect first[most_operands];
    seen_by_first(kind, of, first);
    for (int k = 0; k < count; k++) of[k].moves = sensitivity(kind, k ? of : first, k);
    for (int k = 0; c && k < count; k++) of[k].slope = central_slope(kind, of, k);
    const double squares = moved(kind, of, c ? c : &(covariance){0});
    const double own = isfinite(f) ? rounding(kind, form, isfinite(of[0].value) ? of[0].value : 0, of[1].value, f) : 0;
    *value = f;
    *inherited = sqrt(squares);
    *error = sqrt(squares + own * own);
}

/* Strides of an operand along the axes of the result, in elements; 0 along axes that broadcast. Axes are aligned at the right. False: the
 * operand does not broadcast to the result. */
static bool find_strides(const ref_state *r, const ir_value *v, const ir_value *out, long long *strides)
{
    long long step = 1;
    for (int i = 1; i <= ref_rank(r, out); i++) {
        const long long size = i <= ref_rank(r, v) ? ref_axis(r, v, -i) : 1;
        if (size != 1 && size != ref_axis(r, out, -i)) return false;
        strides[ref_rank(r, out) - i] = size == 1 ? 0 : step;
        step *= size;
    }
    return ref_rank(r, v) <= ref_rank(r, out);
}

typedef struct walk { /* through the result's elements */
    long long index[max_rank], strides[most_operands][max_rank];
    size_t at[most_operands]; /* in each operand */
} walk;

/* Moves to the next element of the result, last axis fastest. */
static void advance(const ref_state *r, const ir_value *out, walk *w)
{
    for (int i = ref_rank(r, out) - 1; i >= 0; i--) {
        const long long size = ref_axis(r, out, i);
        for (int k = 0; k < most_operands; k++) w->at[k] += (size_t)w->strides[k][i];
        if (++w->index[i] < size) return;
        for (int k = 0; k < most_operands; k++) w->at[k] -= (size_t)(w->strides[k][i] * size);
        w->index[i] = 0;
    }
}

/* ---- sources of errors (ref_sources.c) */
/* One source of the result's errors, and the operands' shares of it. */
typedef struct meeting {
    ref_share *out;
    const ref_share *of[most_operands];
} meeting;
enum { most_meetings = most_operands * (ref_most_shares + 2) };

static bool stretches(const ref_state *r, const ir_value *out, const long long *strides)
{
    for (int i = 0; i < ref_rank(r, out); i++)
        if (strides[i] == 0 && ref_axis(r, out, i) > 1) return true;
    return false;
}

/* False after ref_fail(). An operand that broadcasts becomes a source: one of its numbers moves several elements. */
static bool find_meetings(ref_state *r, const ir_op *op, const walk *w, meeting *m, int *count)
{
    ref_tensor *f = ref_out(r, op);
    *count = 0;
    for (int k = 0; k < op->input_count; k++) {
        const bool stretched = stretches(r, op->outputs[0], w->strides[k]);
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

/* The covariance of the first two operands; ops with three do not use it. */
static covariance covariance_of(const meeting *m, int count, const size_t *at)
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

static void pass_shares(const meeting *m, int count, const size_t *at, const effect of[most_operands], size_t i)
{
    for (int k = 0; k < count; k++)
        for (int side = 0; side < most_operands; side++) {
            const ref_share *s = m[k].of[side];
            if (s) ref_put_share(m[k].out, i, of[side].slope * s->size[at[side]], s->at[at[side]]);
        }
}

/* ---- sides (ref_sides.c) */
/* True if the samples of all operands belong to the same element, and operands without samples have negligible errors. */
static bool sides_agree(const ref_side *const sides[most_operands], int count, const effect of[most_operands], double value, double error)
{
    const ref_side *first = NULL;
    for (int k = 0; k < count; k++) {
        if (sides[k] && first && sides[k]->origin != first->origin) return false;
        if (sides[k] && !first) first = sides[k];
    }
    for (int k = 0; k < count; k++)
        if (!sides[k] && !(of[k].error <= 0.01 * error || fabs(value) > ref_sigmas * error)) return false;
    return true;
}

/* Computes samples of the result. If its error is infinite (a pole or an end of the domain within an operand's bound) although the operands
 * have finite errors, half the largest distance of a sample becomes its error. The bound of a sum of up to nine such elements (for nine:
 * 6 * sqrt(9) halves, nine distances) then covers any choice of sides. */
static bool pass_sides(ref_state *r, const ir_op *op, const size_t *at, const effect of[most_operands], size_t i)
{
    const ref_side *sides[most_operands] = {NULL}, *first = NULL;
    bool bounded = true;
    for (int k = 0; k < op->input_count; k++) {
        sides[k] = ref_side_of(r, op->inputs[k], at[k]);
        if (!first) first = sides[k];
        bounded &= isfinite(of[k].error) != 0;
    }
    if (!first) return true;
    ref_tensor *f = ref_out(r, op);
    ref_side *s = ref_add_side(r, op, op->outputs[0], i);
    if (!s) return false;
    s->origin = first->origin;
    const bool known = sides_agree(sides, op->input_count, of, f->value[i], f->error[i]);
    for (int k = 0; k < ref_samples; k++) {
        double values[most_operands];
        for (int n = 0; n < most_operands; n++) values[n] = sides[n] ? sides[n]->at[k] : of[n].value;
        s->at[k] = known ? apply(op->kind, values) : NAN;
    }
    if (isfinite(f->error[i]) || !bounded) return true;
    const double value = isfinite(f->value[i]) ? f->value[i] : s->at[0], farthest = ref_farthest_side(s, value);
    if (!isfinite(farthest)) return true;
    f->value[i] = value, f->error[i] = fmax(farthest / 2, REF_UNIT * fabs(value));
    for (ref_share *share = f->shares; share; share = share->next) share->size[i] = 0; /* a share is a slope times an error: no jump */
    return true;
}

bool ref_element(ref_state *r, const ir_op *op)
{
    const ir_value *out = op->outputs[0];
    const ref_form form = ref_form_of(r, op);
    const ref_tensor *x[most_operands] = {NULL};
    ref_tensor *f = ref_out(r, op);
    walk w = {0};
    meeting meetings[most_meetings];
    int count;
    for (int k = 0; k < op->input_count; k++) {
        x[k] = ref_of(r, op->inputs[k]);
        if (!find_strides(r, op->inputs[k], out, w.strides[k])) return ref_fail(r, op, "an operand does not broadcast to the result");
    }
    double *inherited = ref_keep_inherited(r, op);
    if (!inherited || !find_meetings(r, op, &w, meetings, &count)) return false;
    for (int k = 0; k < op->input_count; k++)
        if (!ref_begin_sides(r, op, op->inputs[k])) return false;
    for (size_t i = 0; i < f->count; i++) {
        effect of[most_operands] = {{0}};
        for (int k = 0; k < op->input_count; k++) of[k] = (effect){.value = x[k]->value[w.at[k]], .error = ref_error(x[k], w.at[k])};
        const covariance c = covariance_of(meetings, count, w.at);
        one_element(op->kind, form, of, op->input_count, count > 0 ? &c : NULL, &f->value[i], &f->error[i], &inherited[i]);
        pass_shares(meetings, count, w.at, of, i);
        if (!pass_sides(r, op, w.at, of, i)) return false;
        advance(r, out, &w);
    }
    return true;
}

/* ---- reductions of rows */
/* The row's maximum (sign 1) or minimum (-1); returns the index of its element. */
static size_t row_extreme(const ref_tensor *x, size_t start, size_t columns, double sign, double *value, double *error)
{
    double best = -INFINITY, high = -INFINITY; /* high: largest upper bound; `best` falls by no more than its own error */
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

/* Squared effect of all sources on the sum of a row, whose derivative by each element is 1 (row_sumsq: 2x). If the whole row depends on one
 * element of a source, the effect also becomes a share of the sum. */
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

/* True if the order of additions decides whether the sum becomes infinite or NaN: some partial sum may be too large for f32, although the
 * sum itself may fit. above, below: sums of the positive and of the negative finite terms. mean: the device may divide each term first. */
static bool order_decides(double sum, double above, double below, bool mean)
{
    const double most = dtype_largest(dtype_f32);
    if (isnan(sum)) return false;
    if (isinf(sum)) return sum > 0 ? -below > most : above > most;
    return fmax(above, -below) > most && (mean || (above > 0 && below < 0));
}

static void row_total(op_kind kind, const ref_tensor *x, size_t start, size_t columns, ref_tensor *f, size_t row)
{
    ref_sum s = {0};
    double squares = 0; /* row_sumsq: the terms e^2 are all positive, so they add linearly */
    double above = 0, below = 0;
    for (size_t i = start; i < start + columns; i++) {
        if (isfinite(x->value[i])) *(x->value[i] < 0 ? &below : &above) += x->value[i];
        const double v = x->value[i], e = ref_error(x, i), own = x->shares ? sqrt(ref_own_square(x, i)) : e;
        if (kind == op_row_sumsq) {
            ref_sum_add(&s, v * v, 2 * fabs(v) * own + ref_sigmas * e * e);
            squares += e * e;
        } else {
            ref_sum_add(&s, v, own);
        }
    }
    const bool mean = kind == op_row_mean || kind == op_mean;
    const double scale = mean ? 1 / (double)columns : 1;
    const double own = mean ? REF_UNIT * s.value : 0, shared = row_shares(kind, x, start, columns, scale, f, row);
    f->value[row] = scale * s.value;
    /* not finite: ref.c (settle) decides whether that is certain */
    f->error[row] = isfinite(s.value) ? scale * sqrt(ref_sum_error(&s) + own * own + squares * squares + shared) : 0;
    if (kind != op_row_sumsq && order_decides(s.value, above, below, mean)) f->error[row] = INFINITY;
}

static bool reduce_rows(ref_state *r, const ir_op *op, const ref_tensor *x, size_t columns)
{
    ref_tensor *f = ref_out(r, op);
    const bool most = op->kind == op_row_max || op->kind == op_amax, least = op->kind == op_row_min || op->kind == op_amin;
    if (columns == 0 || f->count * columns != x->count)
        return ref_fail(r, op, "operand and result do not have the same rows");
    if (!ref_copy_shares(r, op, x, f)) return false;
    for (size_t i = 0; i < f->count; i++) {
        if (!most && !least) {
            row_total(op->kind, x, i * columns, columns, f, i);
            continue;
        }
        const size_t at = row_extreme(x, i * columns, columns, most ? 1 : -1, &f->value[i], &f->error[i]);
        for (const ref_share *s = x->shares; s; s = s->next) ref_put_share(ref_share_of(f, s->source), i, s->size[at], s->at[at]);
    }
    return true;
}

/* Reduces another axis than the last: copies the operand with that axis as the last, and reduces the rows of the copy. */
static bool reduce_axis(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    const int axis = (int)ref_attributes(r, op)->axis;
    const size_t columns = (size_t)ref_axis(r, op->inputs[0], axis);
    size_t inner = 1;
    for (int i = axis + 1; i < ref_rank(r, op->inputs[0]); i++) inner *= (size_t)ref_axis(r, op->inputs[0], i);
    ref_tensor rows = {.count = x->count};
    rows.value = calloc(x->count + 1, sizeof *rows.value), rows.error = calloc(x->count + 1, sizeof *rows.error);
    bool good = (rows.value && rows.error) || ref_fail(r, op, "not enough memory");
    good = good && ref_copy_shares(r, op, x, &rows);
    for (size_t i = 0; good && i < x->count; i++) {
        const size_t outer = i / (inner * columns), k = i / inner % columns;
        ref_move_element(x, i, &rows, (outer * inner + i % inner) * columns + k);
    }
    good = good && reduce_rows(r, op, &rows, columns);
    ref_forget_shares(&rows);
    free(rows.value), free(rows.error);
    return good;
}

bool ref_reduce(ref_state *r, const ir_op *op)
{
    const ir_value *x = op->inputs[0];
    const bool of_axis = op->kind == op_sum || op->kind == op_mean || op->kind == op_amax || op->kind == op_amin;
    return of_axis ? reduce_axis(r, op) : reduce_rows(r, op, ref_of(r, x), (size_t)ref_axis(r, x, -1));
}
