/* In: linear and matmul of a graph. Out: their values and errors. Refuses: shapes that do not fit.
 *
 * y = sum_k x_k w_k, K terms, each element with
 *   e_y^2 = sum w^2 (e_x^2 + x^2 (u^2 ((K-1)/6 + 1) + extra^2)) + sum x^2 e_w^2 + u^2 max(sum s_i^2, (K-1) y^2/3)
 * (derived in ir/reference/ref.h; s_i are the partial sums, sampled every `stride` terms). `extra` is the storage type's unit roundoff if a
 * norm's weight is folded into the weight, or if an operand that is not in memory is rounded before the product; else 0.
 *
 * 3xTF32 splits x = large + small. It omits small * small, where each is at most 2^-11 of its operand: a root mean square of
 * (2^12/3^.5)^2 * 2^-46 = 1.4 u; small is rounded to 11 bits, at most 2 u for each operand: 4 u together at most. Accumulation truncates:
 * 32 products are added in 4 steps, each of which cuts its 8 terms off at the last place of the largest (M. Fasi, N. Higham, M. Mikaitis,
 * S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021): 4 errors of up to 2 u s in one direction,
 * 8 u s. If signs vary, s^2 is sum t^2 of the 32, and the errors of different groups of 32 are independent; if not, all errors have one
 * direction and add up to 8 u y. So e_y^2 grows by (16 + 64) u^2 sum t^2 + 64 u^2 y^2.
 *
 * A weight with more digits than the rows' dtype is stored as the exact sum of up to three bf16 terms. Products with the largest term are
 * added last: the sums of the other products are at most 2^-7 of the result, so their rounding errors are small. Rows in f16 or f32 may be
 * stored as such sums, too; then each of their terms is multiplied by each term of the weight. All terms have the sign of their number.
 * Terms of a number below 2^-102 may be zero, and an infinity times such a term is NaN.
 *
 * Equal terms round alike (ref_repeated in ir/reference/ref_parts.h).
 *
 * Two sums of products are computed together: sum x w and sum g w^2, with g the factor of w^2 above. Multiplication and addition round
 * separately (-ffp-contract is off in ISO C), so the numbers do not depend on the processor. */
#include "ir/reference/ref_parts.h"
#include "ir/graph/half.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { lanes = 8, tall = ref_row_group, group = 64 };
typedef double lane __attribute__((vector_size(lanes * sizeof(double))));

/* One product [M,K] x [K,N]. */
typedef struct product {
    const ref_state *run;
    size_t M, N, K;
    const double *x, *x_error, *w, *w_error; /* errors may be NULL */
    bool x_across;                           /* x is [K,M], else [M,K] */
    bool out_in;                             /* w is [N,K], else [K,N] */
    const double *fold; /* [K]: the device's weight is w * fold, rounded once to `type`; x is already multiplied by fold here. NULL: none */
    double fold_offset;
    bool split, in_terms;
    size_t beside; /* K of another product that the device adds up in the same accumulator; 0: none */
    double extra, fold_least; /* fold_least: half the smallest step of a folded weight */
    dtype type;
    bool round;
    double *y, *y_error;
    bool failed; /* out of memory */
} product;

static size_t x_place(const product *p, size_t m, size_t k) { return p->x_across ? k * p->M + m : m * p->K + k; }

static double weight_at(const product *p, size_t k, size_t n)
{
    const double w = p->out_in ? p->w[n * p->K + k] : p->w[k * p->N + n];
    if (!p->fold || !p->round) return w;
    const double fold = p->fold[k] + p->fold_offset;
    return fold == 0 ? w : dtype_round(p->type, w * fold) / fold;
}

/* `group` columns of the weight, from `first` on, as panels [K][lanes], zero beyond N. */
static void pack(const product *p, size_t first, lane *out)
{
    for (size_t panel = 0; panel < group / lanes; panel++)
        for (size_t k = 0; k < p->K; k++)
            for (size_t i = 0; i < lanes; i++) {
                const size_t n = first + panel * lanes + i;
                out[panel * p->K + k][i] = n < p->N ? weight_at(p, k, n) : 0;
            }
}

static void pack_errors(const product *p, size_t first, lane *out)
{
    for (size_t panel = 0; panel < group / lanes; panel++)
        for (size_t k = 0; k < p->K; k++)
            for (size_t i = 0; i < lanes; i++) {
                const size_t n = first + panel * lanes + i;
                out[panel * p->K + k][i] = n >= p->N ? 0 : p->w_error[p->out_in ? n * p->K + k : k * p->N + n];
            }
}

/* Terms below bf16's least normal number may be lost. */
static const double least_term = 0x1p-126;

/* `tall` rows of x, from m on, and their g, interleaved: [K][2][tall]. */
static void load_rows(const product *p, size_t m, double *rows)
{
    const double more = p->split ? 80 : 0, lost = p->in_terms ? least_term * least_term : 0;
    const double own = REF_UNIT * REF_UNIT * ((double)(p->K - 1) / 6 + 1 + more) + p->extra * p->extra;
    for (size_t k = 0; k < p->K; k++)
        for (size_t i = 0; i < tall; i++) {
            const bool there = m + i < p->M;
            const size_t at = x_place(p, m + i, k);
            const double x = there ? p->x[at] : 0, e = there && p->x_error ? p->x_error[at] : 0;
            rows[(2 * k) * tall + i] = x;
            rows[(2 * k + 1) * tall + i] = e * e + lost + (isfinite(x) || p->split || p->in_terms ? x * x * own : 0);
        }
}

typedef struct block {
    lane sum[tall], noise[tall], partial[tall];
} block;

static inline __attribute__((always_inline)) void multiply_body(const double *rows, const lane *w, size_t K,
                                                                size_t stride, block *out)
{
    block b = {0};
    for (size_t start = 0; start < K; start += stride) {
        const size_t end = start + stride < K ? start + stride : K;
        for (size_t k = start; k < end; k++) {
            const lane one = w[k], two = one * one;
            for (int i = 0; i < tall; i++) b.sum[i] += rows[2 * k * tall + i] * one;
            for (int i = 0; i < tall; i++) b.noise[i] += rows[(2 * k + 1) * tall + i] * two;
        }
        for (int i = 0; i < tall; i++) b.partial[i] += b.sum[i] * b.sum[i] * (double)(end - start);
    }
    *out = b;
}

#if defined(__x86_64__)
static __attribute__((target("avx512f"))) void multiply_avx512(const double *rows, const lane *w, size_t K,
                                                               size_t stride, block *out)
{
    multiply_body(rows, w, K, stride, out);
}

static __attribute__((target("avx2"))) void multiply_avx2(const double *rows, const lane *w, size_t K, size_t stride,
                                                          block *out)
{
    multiply_body(rows, w, K, stride, out);
}
#endif

static void multiply(const double *rows, const lane *w, size_t K, size_t stride, block *out)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        multiply_avx512(rows, w, K, stride, out);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        multiply_avx2(rows, w, K, stride, out);
        return;
    }
#endif
    multiply_body(rows, w, K, stride, out);
}

/* sum (x^2 + 36 e_x^2) e_w^2: if x and w are both near 0, the product of their errors dominates, and that of x may be 6 e_x. Plain loops
 * suffice, since weights with errors are rare and small. */
static double weight_noise(const product *p, const lane *errors, const double *rows, size_t row, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < p->K; k++) {
        const double x = rows[2 * k * tall + row], x_error2 = rows[(2 * k + 1) * tall + row], e = errors[k][i];
        if (e != 0) sum += (x * x + ref_sigmas * ref_sigmas * x_error2) * e * e;
    }
    return sum;
}

/* A subnormal folded weight has an absolute error of fold_least, which multiplies x as it is without the folded factor. */
static double fold_noise(const product *p, const double *rows, size_t row)
{
    double sum = 0;
    for (size_t k = 0; p->fold && k < p->K; k++) {
        const double fold = p->fold[k] + p->fold_offset,
                     x = fold == 0 || !isfinite(rows[2 * k * tall + row]) ? 0 : rows[2 * k * tall + row] / fold;
        sum += x * x;
    }
    return sum * p->fold_least * p->fold_least;
}

static double term_noise(const product *p, const double *rows, size_t row)
{
    double sum = 0;
    for (size_t k = 0; p->in_terms && k < p->K; k++) {
        const double x = rows[2 * k * tall + row];
        if (isfinite(x)) sum += x * x;
    }
    return sum * least_term * least_term;
}

/* Bit i: row i of a block, or column i of a panel, has many numbers equal to their predecessor. */
static unsigned repeating(const double *numbers, size_t count, size_t K, size_t step)
{
    unsigned bits = 0;
    for (size_t i = 0; i < count; i++) {
        size_t repeats = 0;
        for (size_t k = 1; k < K; k++) repeats += numbers[k * step + i] == numbers[(k - 1) * step + i] && numbers[k * step + i] != 0;
        bits |= (unsigned)(ref_repeated(K, repeats) > 0) << i;
    }
    return bits;
}

/* Number of nonzero terms whose two factors equal those of the preceding term. */
static size_t repeated_terms(const product *p, const double *rows, size_t row, const lane *w, size_t i)
{
    size_t repeats = 0;
    for (size_t k = 1; k < p->K; k++) {
        const double x = rows[2 * k * tall + row];
        repeats += x == rows[2 * (k - 1) * tall + row] && w[k][i] == w[k - 1][i] && x * w[k][i] != 0;
    }
    return repeats;
}

/* Additional rounding error if another product, with K = `beside`, is added up in the same accumulator: partial sums s of one product are
 * then offset by the result y of the other, and (s + y)^2 <= 2 s^2 + 2 y^2. Both products have this term, so it covers either order, and
 * split-K in any order. */
static double beside_noise(const product *p, double partial, double y)
{
    const double order = (double)p->K / 3 * y * y, truncated = p->split ? 64 * y * y : 0;
    return REF_UNIT * REF_UNIT * (fmax(partial, order) + 2 * (double)p->beside * y * y + truncated);
}

/* Writes values and errors of a block of y. columns: repeating() of w; fixed, by row: squared errors that all columns have alike. */
static void write_block(const product *p, const block *b, size_t m, size_t n, const lane *w, unsigned columns, const lane *errors,
                        const double *rows, const double *fixed)
{
    const unsigned alike = columns ? repeating(rows, tall, p->K, 2 * tall) : 0;

    for (size_t row = 0; row < tall && m + row < p->M; row++) {
        for (size_t i = 0; i < lanes && n + i < p->N; i++) {
            const double y = b->sum[row][i], random_order = (double)(p->K - 1) / 3 * y * y;
            double squares = fixed[row] + b->noise[row][i] + (errors ? weight_noise(p, errors, rows, row, i) : 0);
            const bool rounds = isfinite(y) || p->split || p->in_terms; /* infinities and NaN are exact, unless made of terms */
            if (rounds && p->K > 1) squares += REF_UNIT * REF_UNIT * fmax(b->partial[row][i], random_order);
            if (rounds && alike >> row & columns >> i & 1)
                squares += REF_UNIT * REF_UNIT * ref_repeated(p->K, repeated_terms(p, rows, row, w, i)) * y * y;
            if (p->split) squares += 64 * REF_UNIT * REF_UNIT * y * y;
            if (rounds && p->beside) squares += beside_noise(p, b->partial[row][i], y);
            p->y[(m + row) * p->N + n + i] = y;
            p->y_error[(m + row) * p->N + n + i] = sqrt(squares);
        }
    }
}

/* Rows that a sampled run skips: infinite errors, so they are not judged. */
static void leave_out(const product *p, size_t m, size_t first)
{
    for (size_t row = m; row < m + tall && row < p->M; row++)
        for (size_t n = first; n < first + group && n < p->N; n++) p->y_error[row * p->N + n] = INFINITY;
}

static void multiply_group(const product *p, size_t first, const lane *w, const lane *errors, double *rows)
{
    const size_t stride = p->K < 32 ? 1 : p->K < 2048 ? p->K / 16 : 128;
    double fixed[tall];
    unsigned columns[group / lanes];
    block b;
    for (size_t panel = 0; panel < group / lanes; panel++)
        columns[panel] = repeating((const double *)(w + panel * p->K), lanes, p->K, lanes);
    for (size_t m = 0; m < p->M; m += tall) {
        if (!ref_takes_group(p->run, m / tall, p->M)) {
            leave_out(p, m, first);
            continue;
        }
        load_rows(p, m, rows);
        for (size_t row = 0; row < tall; row++) fixed[row] = fold_noise(p, rows, row) + term_noise(p, rows, row);
        for (size_t panel = 0; panel < group / lanes && first + panel * lanes < p->N; panel++) {
            multiply(rows, w + panel * p->K, p->K, stride, &b);
            write_block(p, &b, m, first + panel * lanes, w + panel * p->K, columns[panel], errors ? errors + panel * p->K : NULL, rows,
                        fixed);
        }
    }
}

static void run_group(void *context, size_t index)
{
    product *p = context;
    const size_t bytes = (group / lanes) * p->K * sizeof(lane);
    lane *w = aligned_alloc(sizeof(lane), bytes), *errors = p->w_error ? aligned_alloc(sizeof(lane), bytes) : NULL;
    double *rows = malloc(2 * tall * p->K * sizeof *rows);
    if (w && rows && (errors || !p->w_error)) {
        pack(p, index * group, w);
        if (errors) pack_errors(p, index * group, errors);
        multiply_group(p, index * group, w, errors, rows);
    } else
        __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
    free(w);
    free(errors);
    free(rows);
}

static bool run_product(ref_state *r, const ir_op *op, product *p)
{
    ref_parallel((p->N + group - 1) / group, run_group, p);
    return !p->failed || ref_fail(r, op, "not enough memory");
}

/* Unit roundoff for an operand that is not stored: a product may round it to its dtype first. */
static double entry_rounding(const ref_state *r, const ir_value *x)
{
    return ref_type(r, x) == dtype_f32 || r->on_grid[x->id] ? 0 : ref_unit(ref_type(r, x));
}

static bool take_fold(ref_state *r, const ir_op *op, const ref_fold *f, product *p)
{
    if (!f->folds) return true;
    if (!f->factor || !ref_fold_is_factor(r, op, f))
        return ref_fail(r, op, "the plan folds into the weight a factor that its operand does not have");
    if (r->rules->stored && ref_is_stored(r, op->inputs[0]))
        return ref_fail(r, op, "the plan folds a factor into the weight, but the stored operand has it already");
    if (ref_of(r, f->factor)->count != p->K) return ref_fail(r, op, "the folded factor does not have one number per column");
    p->fold = ref_of(r, f->factor)->value;
    p->fold_offset = f->plus_one ? 1 : 0;
    p->type = ref_type(r, op->inputs[1]);
    p->extra = p->type == dtype_f32 ? 2 * REF_UNIT : ref_unit(p->type);
    p->fold_least = ref_least(p->type);
    return true;
}

/* ---- common shares: of sources on one element of which a whole row of x, or column of w, depends: their effects on the terms of a sum add
 * linearly */
/* An operand of one product: `count` rows or columns, `stride` apart, of K elements `step` apart. */
typedef struct operand {
    const ref_tensor *t;
    size_t first, count, step, stride;
} operand;

/* The element of the source on which row or column i of the operand depends; -1: several, -2: none. */
static long long common_element(const operand *o, size_t K, const ref_share *s, size_t i)
{
    long long at = -2;
    for (size_t k = 0; k < K; k++) {
        const size_t j = o->first + i * o->stride + k * o->step;
        if (s->size[j] == 0) continue;
        if (at == -2) at = s->at[j];
        if (at != s->at[j]) return -1;
    }
    return at;
}

static bool is_common(const operand *o, size_t K, const ref_share *s)
{
    bool some = false;
    for (size_t i = 0; i < o->count; i++) {
        const long long at = common_element(o, K, s, i);
        if (at == -1) return false;
        some |= at >= 0;
    }
    return some;
}

/* Sets *errors to the operand's errors without its common shares, from its first element on, or to NULL if it has no common shares. The
 * caller frees it. */
static bool part_errors(ref_state *r, const ir_op *op, const operand *o, size_t K, double **errors)
{
    const size_t count = o->count * K;
    *errors = NULL;
    for (const ref_share *s = o->t->shares; s; s = s->next) {
        if (!is_common(o, K, s)) continue;
        if (!*errors) {
            *errors = malloc((count + 1) * sizeof **errors);
            if (!*errors) return ref_fail(r, op, "not enough memory");
            for (size_t i = 0; i < count; i++) (*errors)[i] = ref_error(o->t, o->first + i);
        }
        for (size_t i = 0; i < count; i++) {
            const double e = (*errors)[i], size = s->size[o->first + i];
            (*errors)[i] = sqrt(fmax(0, e * e - size * size));
        }
    }
    return true;
}

static void add_moved(ref_tensor *y, size_t i, ref_share *out, double moved, uint32_t at)
{
    const bool meets = out->size[i] != 0 && out->at[i] == at;
    const double squares = moved * moved + (meets ? 2 * fmax(0, out->size[i] * moved) : 0);
    if (!isfinite(y->error[i]) || !isfinite(squares)) return;
    y->error[i] = sqrt(y->error[i] * y->error[i] + squares);
    ref_put_share(out, i, moved, at);
}

/* Adds the effect of the operand's common shares to y from element `first` on. of_x: the operand is x, else w. */
static bool add_common(ref_state *r, const ir_op *op, const product *p, const operand *o, bool of_x, size_t first)
{
    ref_tensor *y = ref_out(r, op);
    for (const ref_share *s = o->t->shares; s; s = s->next) {
        if (!is_common(o, p->K, s)) continue;
        ref_share *out = ref_add_share(r, op, y, s->source);
        if (!out) return false;
        out->stretched = true;
        for (size_t m = 0; m < p->M; m++)
            for (size_t n = 0; n < p->N; n++) {
                const size_t i = of_x ? m : n, start = o->first + i * o->stride;
                const long long at = common_element(o, p->K, s, i);
                double moved = 0;
                for (size_t k = 0; at >= 0 && k < p->K; k++)
                    moved += s->size[start + k * o->step] * (of_x ? weight_at(p, k, n) : p->x[x_place(p, m, k)]);
                if (at >= 0) add_moved(y, first + m * p->N + n, out, moved, (uint32_t)at);
            }
    }
    return true;
}

/* first: index in y of the product's first result. */
static bool run_shared(ref_state *r, const ir_op *op, product *p, const operand *x, const operand *w, size_t first)
{
    double *errors[2] = {NULL, NULL};
    bool good = part_errors(r, op, x, p->K, &errors[0]) && part_errors(r, op, w, p->K, &errors[1]);
    if (errors[0]) p->x_error = errors[0];
    if (errors[1]) p->w_error = errors[1];
    good = good && run_product(r, op, p);
    free(errors[0]);
    free(errors[1]);
    return good && add_common(r, op, p, x, true, first) && add_common(r, op, p, w, false, first);
}

static void add_bias(const ref_tensor *b, size_t columns, ref_tensor *y)
{
    for (size_t i = 0; i < y->count; i++) {
        const double e = ref_error(b, i % columns);
        y->value[i] += b->value[i % columns];
        const double own = REF_UNIT * y->value[i];
        y->error[i] = sqrt(y->error[i] * y->error[i] + e * e + own * own);
    }
}

/* Tells attention about errors of the weight (ref_weights.c): its own, and those of rounding it again with a factor folded into it. */
static bool note_weights(ref_state *r, const ir_op *op, const product *p, const double *w_error)
{
    double *of_k = p->fold || w_error ? malloc(p->K * sizeof *of_k) : NULL;
    if (!of_k) return (!p->fold && !w_error) || ref_fail(r, op, "not enough memory");
    for (size_t k = 0; k < p->K; k++) {
        double squares = 0;
        for (size_t n = 0; n < p->N; n++) {
            const size_t at = p->out_in ? n * p->K + k : k * p->N + n;
            const double rounding = p->fold ? p->extra * p->w[at] : 0, own = w_error ? w_error[at] : 0;
            squares += rounding * rounding + own * own;
        }
        of_k[k] = sqrt(squares / (double)p->N);
    }
    const bool good = ref_note_weights(r, op, p->x, of_k, p->M, p->K);
    free(of_k);
    return good;
}

bool ref_linear(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]), *w = ref_of(r, op->inputs[1]),
                     *b = op->input_count > 2 ? ref_of(r, op->inputs[2]) : NULL;
    ref_tensor *y = ref_out(r, op);
    const size_t K = (size_t)ref_axis(r, op->inputs[0], -1), N = (size_t)ref_axis(r, op->outputs[0], -1);
    if (K == 0 || N == 0 || x->count % K != 0 || w->count != K * N || y->count != x->count / K * N ||
        (b && b->count != N))
        return ref_fail(r, op, "operand, weight, bias and result do not fit");
    if (ref_axis(r, op->inputs[1], 0) != (long long)(ref_attributes(r, op)->layout == layout_out_in ? N : K))
        return ref_fail(r, op, "the weight's axes are in the other order");
    product p = {.run = r,
                 .M = x->count / K,
                 .N = N,
                 .K = K,
                 .x = x->value,
                 .w = w->value,
                 .out_in = ref_attributes(r, op)->layout == layout_out_in,
                 .round = r->round_stored,
                 .y = y->value,
                 .y_error = y->error};
    if (!ref_exact(x)) p.x_error = x->error;
    if (!ref_exact(w)) p.w_error = w->error;
    p.extra = entry_rounding(r, op->inputs[0]);
    if (r->rules && r->rules->continued) p.beside = (size_t)r->rules->continued(r->rules->context, op);
    p.split = r->rules && r->rules->splits && r->rules->splits(r->rules->context, op);
    p.in_terms = r->rules && r->rules->in_terms && r->rules->in_terms(r->rules->context, op);
    const ref_fold fold = r->rules && r->rules->folded ? r->rules->folded(r->rules->context, op) : (ref_fold){0};
    const operand rows = {x, 0, p.M, 1, K}, columns = {w, 0, N, p.out_in ? 1 : N, p.out_in ? K : 1};
    if (!take_fold(r, op, &fold, &p) || !run_shared(r, op, &p, &rows, &columns, 0)) return false;
    if (b) add_bias(b, N, y);
    return note_weights(r, op, &p, ref_exact(w) ? NULL : w->error);
}

/* Sets *batch to the batch of operand v that batch i of the result is computed from; batch axes are aligned at the right, extent 1
 * broadcasts. False: v does not fit. */
static bool batch_of(const ref_state *r, const ir_value *v, const ir_value *out, size_t i, size_t *batch)
{
    size_t step = 1;
    *batch = 0;
    for (int axis = 3; axis <= ref_rank(r, out); axis++) {
        const size_t size = axis <= ref_rank(r, v) ? (size_t)ref_axis(r, v, -axis) : 1, full = (size_t)ref_axis(r, out, -axis);
        if (size != 1 && size != full) return false;
        if (size != 1) *batch += i % full * step;
        step *= size;
        i /= full;
    }
    return ref_rank(r, v) <= ref_rank(r, out);
}

bool ref_matmul(ref_state *r, const ir_op *op)
{
    const ir_value *xv = op->inputs[0], *wv = op->inputs[1], *yv = op->outputs[0];
    const ref_tensor *x = ref_of(r, xv), *w = ref_of(r, wv);
    ref_tensor *y = ref_out(r, op);
    const bool transposed = ref_attributes(r, op)->transpose, across = ref_attributes(r, op)->transpose_a;
    const size_t M = (size_t)ref_axis(r, xv, across ? -1 : -2), K = (size_t)ref_axis(r, xv, across ? -2 : -1),
                 N = (size_t)ref_axis(r, yv, -1);
    if (M * N * K == 0 || (size_t)ref_axis(r, wv, transposed ? -2 : -1) != N ||
        (size_t)ref_axis(r, wv, transposed ? -1 : -2) != K)
        return ref_fail(r, op, "operands and result do not fit");
    const double x_unit = entry_rounding(r, xv), w_unit = entry_rounding(r, wv);
    for (size_t i = 0; i < y->count / (M * N); i++) {
        size_t x_batch, w_batch;
        if (!batch_of(r, xv, yv, i, &x_batch) || !batch_of(r, wv, yv, i, &w_batch))
            return ref_fail(r, op, "batches do not fit");
        if ((x_batch + 1) * M * K > x->count || (w_batch + 1) * K * N > w->count)
            return ref_fail(r, op, "batches do not fit");
        product p = {.run = r,
                     .M = M,
                     .N = N,
                     .K = K,
                     .x = x->value + x_batch * M * K,
                     .w = w->value + w_batch * K * N,
                     .x_across = across,
                     .out_in = transposed,
                     .extra = sqrt(x_unit * x_unit + w_unit * w_unit),
                     .y = y->value + i * M * N,
                     .y_error = y->error + i * M * N};
        if (!ref_exact(x)) p.x_error = x->error + x_batch * M * K;
        if (!ref_exact(w)) p.w_error = w->error + w_batch * K * N;
        const operand rows = {x, x_batch * M * K, M, across ? M : 1, across ? 1 : K},
                      columns = {w, w_batch * K * N, N, transposed ? 1 : N, transposed ? K : 1};
        if (!run_shared(r, op, &p, &rows, &columns, i * M * N)) return false;
    }
    return true;
}
