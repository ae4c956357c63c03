/* In: norms and softmax of a graph. Out: their values and errors, by the derivatives given here. Refuses: shapes that do not fit.
 * D is the number of columns, e_j the error of x_j; sums run over the row. */
#include "ir/graph/half.h"
#include "ir/reference/ref_parts.h"
#include <math.h>
#include <stdlib.h>

typedef struct norm_row {
    const ir_attributes *t;
    size_t columns;
    const double *x;
    const double *e; /* NULL: exact */
    const ref_tensor *weight, *bias;
    double *y, *error;
    const ref_share *shares; /* of the operand */
    ref_tensor *out;
    size_t start;         /* index of the row's first element, in operand and result */
    ref_share *own_share; /* how far each element moves by an error that the norm adds to a whole row (the mean's rounding); NULL: none */
    bool matters;         /* in some row the error that own_share stands for is more than a few roundings */
} norm_row;

static double square(double x) { return x * x; }

/* Squared relative error of the root of a mean of squares, if each square may be flushed to 0. */
static double flushed(double mean) { return mean > 0 ? square(0.5 * REF_LEAST / mean) : 0; }

static double input_error(const norm_row *n, size_t i) { return n->e ? n->e[i] : 0; }

/* The derivatives below hold for small errors only. If the bound of a row's norm exceeds half of it, the error covers the whole range of
 * results. size2, reach2: squared norms of the row and of its errors; farthest: largest distance within that range. */
static double within_range(double error, double size2, double reach2, double farthest)
{
    return 4 * square(ref_sigmas) * reach2 < size2 ? error : fmax(error, farthest / ref_sigmas);
}

/* What the norm multiplies column i by (the weight w, or 1 + w with unit_offset), and its error. */
static double weight_at(const norm_row *n, size_t i, double *error)
{
    *error = 0;
    if (!n->weight) return 1;
    const double w = n->weight->value[i] + (n->t->unit_offset ? 1 : 0);
    *error = ref_error(n->weight, i);
    if (n->t->unit_offset) *error = sqrt(square(*error) + square(REF_UNIT * w));
    return w;
}

/* Passes the share s on from operand to result, for elements first <= i < end of a row, whose errors in s come from one element of
 * s->source. y = (x - mean) r w (mean only if `centred`), and if x moves by dx, r decreases by r * share * (x - mean) dx. */
static void pass_run(norm_row *n, const ref_share *s, size_t first, size_t end, bool centred, double mean, double r, double share)
{
    const double *dx = s->size + n->start;
    ref_share *out = ref_share_of(n->out, s->source);
    double shift = 0, along = 0, w_error;
    for (size_t i = first; centred && i < end; i++) shift += dx[i] / (double)n->columns;
    for (size_t i = first; i < end; i++) along += (n->x[i] - mean) * dx[i] * share;
    for (size_t i = first; i < end; i++) {
        const double w = n->weight ? weight_at(n, i, &w_error) : 1;
        ref_put_share(out, n->start + i, w * r * (dx[i] - shift - (n->x[i] - mean) * along), s->at[n->start + i]);
    }
}

/* own: an error that the norm adds to x - mean, the same for the whole row. */
static void pass_shares(norm_row *n, bool centred, double mean, double r, double share, double own)
{
    double w_error;
    for (const ref_share *s = n->shares; s; s = s->next)
        for (size_t i = 0, end; i < n->columns; i = end) {
            end = ref_share_run(s, n->start + i, n->start + n->columns) - n->start;
            pass_run(n, s, i, end, centred, mean, r, share);
        }
    for (size_t i = 0; n->own_share && i < n->columns; i++) {
        const double w = n->weight ? weight_at(n, i, &w_error) : 1;
        ref_put_share(n->own_share, n->start + i, w * r * own, (uint32_t)(n->start / n->columns));
    }
    n->matters |= own * r > 4 * REF_UNIT;
}

/* Whether a row's squares add up to more than f32 holds, which makes r 0 (row_infinite). row_unsure: errors decide that; or a sum or
 * product that is computed from the row before r multiplies it may overflow; or most of the divisor comes from squares so small that they
 * may be flushed to 0. */
typedef enum square_range { row_fits, row_unsure, row_infinite } square_range;

/* size, size2: sums of the row's magnitudes and squares; reach2: sum of its squared errors; mean: the mean of squares (with eps) whose root
 * divides. Infinite and NaN elements are left to IEEE 754, as is a division by 0. */
static square_range range_of(double size, double size2, double reach2, double mean)
{
    const double most = dtype_largest(dtype_f32), slack = 0x1p-10, reach = ref_sigmas * sqrt(reach2), root = sqrt(size2);
    if (mean > 0 && mean < 64 * REF_LEAST) return row_unsure;
    if (!isfinite(size2) || square(root + reach) * (1 + slack) < most) return row_fits;
    return size < 0x1p96 && root > reach && square(root - reach) > most * (1 + slack) ? row_infinite : row_unsure;
}

static void settle_range(norm_row *n, square_range range)
{
    double w_error;
    for (size_t i = 0; range == row_unsure && i < n->columns; i++) n->error[i] = INFINITY;
    for (size_t i = 0; range == row_infinite && i < n->columns; i++) {
        n->y[i] = 0 * weight_at(n, i, &w_error) + (n->bias ? n->bias->value[i] : 0);
        n->error[i] = isfinite(w_error) ? (n->bias ? ref_error(n->bias, i) : 0) : INFINITY;
    }
}

/* y_i = x_i r w_i with r = (mean x^2 + eps)^(-1/2), so dy_i = w_i r (dx_i - x_i r^2/D sum x_j dx_j) + y_i dr/r + x_i r dw_i. dr/r is half
 * the relative rounding of the mean, and 2u for rsqrt; the two products round as well. */
static void rmsnorm_row(norm_row *n)
{
    const double D = (double)n->columns;
    double size = 0, spread = 0, reach2 = 0, w_error;
    ref_sum s = {0};
    for (size_t i = 0; i < n->columns; i++) {
        ref_sum_add(&s, square(n->x[i]), 0);
        size += fabs(n->x[i]);
        spread += square(n->x[i] * input_error(n, i));
        reach2 += square(input_error(n, i));
    }
    const double mean = s.value / D + n->t->eps, r = 1 / sqrt(mean);
    const double relative = square(0.5 * sqrt(ref_sum_rounding(&s)) / D / mean) + square(3 * REF_UNIT) + flushed(mean);
    const square_range range = range_of(size, s.value, reach2, mean);
    for (size_t i = 0; i < n->columns; i++) {
        const double w = weight_at(n, i, &w_error), x = n->x[i], e = input_error(n, i), share = x * r * r / D;
        const double direct = square(e * (1 - x * share)) + square(share) * fmax(0, spread - square(x * e));
        n->y[i] = x * r * w;
        n->error[i] = within_range(sqrt(square(w * r) * direct + square(n->y[i]) * relative + square(x * r * w_error)), mean * D, reach2,
                                   fabs(n->y[i]) + sqrt(D) * (fabs(w) + ref_sigmas * w_error));
    }
    pass_shares(n, false, 0, range == row_infinite ? 0 : r, square(r) / D, 0);
    settle_range(n, range);
}

/* y = x / max(|x|, eps): if |x| is below eps, a division by a constant; else with the derivatives of rmsnorm. */
static void l2norm_row(norm_row *n)
{
    double length = 0, spread = 0, reach2 = 0;
    ref_sum s = {0};
    for (size_t i = 0; i < n->columns; i++) {
        ref_sum_add(&s, square(n->x[i]), 0);
        length += fabs(n->x[i]);
        spread += square(n->x[i] * input_error(n, i));
        reach2 += square(input_error(n, i));
    }
    const double size = sqrt(s.value), eps = n->t->eps, r = 1 / fmax(size, eps);
    const bool small = size < eps;
    const double mean = 1 / square(r) / (double)n->columns;
    const double relative = (small ? 0 : square(0.5 * sqrt(ref_sum_rounding(&s)) / s.value) + flushed(mean)) + square(3 * REF_UNIT);
    const square_range range = range_of(length, s.value, reach2, s.value > 0 ? mean : 0);
    for (size_t i = 0; i < n->columns; i++) {
        const double x = n->x[i], e = input_error(n, i), share = small ? 0 : x * r * r;
        const double direct = square(e * (1 - x * share)) + square(share) * fmax(0, spread - square(x * e));
        n->y[i] = x * r;
        n->error[i] = within_range(sqrt(square(r) * direct + square(n->y[i]) * relative), 1 / square(r), reach2, fabs(n->y[i]) + 1);
    }
    pass_shares(n, false, 0, range == row_infinite ? 0 : r, small ? 0 : square(r), 0);
    settle_range(n, range);
}

/* c = x - mean, r = (mean c^2 + eps)^(-1/2), y = c r w + b. As sum c = 0,
 *   dy_i = w_i r sum_j (d_ij - 1/D - c_i c_j r^2/D) dx_j,
 * where d_ij is 1 if j = i, else 0. Without d_ij, the squares of the terms add up to (1/D^2)(E0 + 2 c_i r^2 E1 + c_i^2 r^4 E2), with
 * E0 = sum e^2, E1 = sum c e^2 and E2 = sum c^2 e^2; the term j = i is then replaced by the one with d_ij. Rounding: the mean's error m
 * shifts all c alike (and adds m^2 to the variance); c = x - mean rounds; the mean of squares rounds as a sum. */
typedef struct layernorm_sums {
    double r, e0, e1, e2, shift, relative;
    square_range range;
} layernorm_sums;

static layernorm_sums layernorm_statistics(const norm_row *n, double *mean)
{
    const double D = (double)n->columns;
    layernorm_sums t = {0};
    ref_sum s = {0}, v = {0};
    double size = 0;
    for (size_t i = 0; i < n->columns; i++) ref_sum_add(&s, n->x[i], 0), size += fabs(n->x[i]);
    *mean = s.value / D;
    t.shift = sqrt(ref_sum_rounding(&s)) / D + (n->columns > 1 ? REF_UNIT * fabs(*mean) : 0);
    for (size_t i = 0; i < n->columns; i++) {
        const double c = n->x[i] - *mean, e2 = square(input_error(n, i));
        ref_sum_add(&v, square(c), 2 * fabs(c) * REF_UNIT * fabs(c));
        t.e0 += e2, t.e1 += c * e2, t.e2 += square(c) * e2;
    }
    const double variance = v.value / D + n->t->eps;
    t.range = range_of(size, v.value, t.e0 + D * square(t.shift), variance);
    t.r = 1 / sqrt(variance);
    t.relative = square(0.5 * (sqrt(ref_sum_error(&v)) / D + square(t.shift)) / variance) + square(3 * REF_UNIT) + flushed(variance);
    return t;
}

static void layernorm_row(norm_row *n)
{
    const double D = (double)n->columns;
    double mean, w_error;
    const layernorm_sums t = layernorm_statistics(n, &mean);
    for (size_t i = 0; i < n->columns; i++) {
        const double w = weight_at(n, i, &w_error), c = n->x[i] - mean, e2 = square(input_error(n, i)),
                     q = c * t.r * t.r;
        const double all = (t.e0 + 2 * q * t.e1 + square(q) * t.e2) / square(D), own = (1 + c * q) / D;
        const double direct = fmax(0, all - square(own) * e2) + square(1 - own) * e2;
        const double scaled = c * t.r * w, b = n->bias ? n->bias->value[i] : 0,
                     b_error = n->bias ? ref_error(n->bias, i) : 0;
        n->y[i] = scaled + b;
        const double error =
            sqrt(square(w * t.r) * (direct + square(t.shift) + square(REF_UNIT * c)) + square(scaled) * t.relative +
                 square(c * t.r * w_error) + square(b_error) + (n->bias ? square(REF_UNIT * n->y[i]) : 0));
        n->error[i] = within_range(error, D / square(t.r), t.e0, fabs(scaled) + sqrt(D) * (fabs(w) + ref_sigmas * w_error));
    }
    pass_shares(n, true, mean, t.range == row_infinite ? 0 : t.r, square(t.r) / D, t.shift);
    settle_range(n, t.range);
}

static bool fits(const ref_tensor *v, size_t columns) { return v->count == columns; }

bool ref_norm(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    ref_tensor *y = ref_out(r, op);
    norm_row n = {.t = ref_attributes(r, op), .columns = (size_t)ref_axis(r, op->inputs[0], -1)};
    if (op->input_count > 1) n.weight = ref_of(r, op->inputs[1]);
    if (op->input_count > 2) n.bias = ref_of(r, op->inputs[2]);
    if ((n.weight && !fits(n.weight, n.columns)) || (n.bias && !fits(n.bias, n.columns)) || n.columns == 0 ||
        y->count != x->count)
        return ref_fail(r, op, "operand, weight and result do not fit");
    n.shares = x->shares, n.out = y;
    if (!ref_copy_shares(r, op, x, y)) return false;
    if (op->kind == op_layernorm && !(n.own_share = ref_add_share(r, op, y, NULL))) return false;
    if (n.own_share) n.own_share->stretched = true;
    for (size_t start = 0; start + n.columns <= x->count; start += n.columns) {
        n.x = x->value + start, n.e = x->error ? x->error + start : NULL;
        n.y = y->value + start, n.error = y->error + start;
        n.start = start;
        if (op->kind == op_rmsnorm)
            rmsnorm_row(&n);
        else if (op->kind == op_layernorm)
            layernorm_row(&n);
        else
            l2norm_row(&n);
    }
    if (n.own_share && !n.matters) ref_drop_share(y, n.own_share);
    return true;
}

/* p_i = exp(x_i - m) / s. a_j is the relative error of an exponential: e_j, |x_j - m| u from its argument, and exp's own. Then
 * dp_i = p_i (a_i - sum p_j a_j), and s rounds as a sum of positive terms. a may not be small, so the change is expm1(a). */
static void softmax_row(ref_form form, const double *x, const double *e, size_t columns, double *p, double *error)
{
    double largest = -INFINITY, shared = 0;
    ref_sum s = {0};
    for (size_t i = 0; i < columns; i++)
        if (x[i] > largest || isnan(x[i])) largest = x[i];
    if (largest == -INFINITY) return; /* all -inf: zeros */
    for (size_t i = 0; i < columns; i++) ref_sum_add(&s, p[i] = exp(x[i] - largest), 0);
    for (size_t i = 0; i < columns; i++) {
        const double gap = x[i] - largest,
                     a = sqrt(square(e ? e[i] : 0) + square(ref_form_error(op_exp, form)) + square(isfinite(gap) ? REF_UNIT * gap : 0));
        p[i] /= s.value;
        error[i] = expm1(fmin(a, 100));
        shared += square(p[i] * error[i]);
    }
    const double relative = ref_sum_rounding(&s) / square(s.value) + square(2 * REF_UNIT);
    for (size_t i = 0; i < columns; i++) {
        const double own = square(p[i] * error[i]), others = fmax(0, shared - own);
        error[i] = fmin(1, p[i] * sqrt(square((1 - p[i]) * error[i]) + others + relative));
    }
}

bool ref_softmax(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    ref_tensor *y = ref_out(r, op);
    const size_t columns = (size_t)ref_axis(r, op->inputs[0], -1);
    const ref_form form = ref_form_of(r, op);
    if (columns == 0 || x->count != y->count) return ref_fail(r, op, "operand and result do not fit");
    for (size_t start = 0; start + columns <= x->count; start += columns)
        softmax_row(form, x->value + start, x->error ? x->error + start : NULL, columns, y->value + start, y->error + start);
    return true;
}
