/* The bounds of the reference: a correct device stays below them and comes near, a wrong one exceeds them. */
#include "tests/templates/float_device.h"
#include "ir/reference/ref_parts.h"

static bench *open_as(const char *yaml, const char *type, const dim_override *dims, size_t dim_count)
{
    const graph_options options = {.dtype = type, .overrides = dims, .override_count = dim_count};
    bench *b = bench_open(yaml, strlen(yaml), &options);
    bench_fill(b, 11);
    return b;
}

#define ONE(inputs, params, ops)                                                                                       \
    "block: t\ndtype: f32\ndims: {M: 24, D: 173, N: 96}\ninputs: " inputs "\n" params "ops: [" ops                     \
    "]\noutputs: {y: y}\n"
#define HEADS(ops)                                                                                                     \
    "block: t\ndtype: f32\ndims: {B: 2, S: 19, H: 4, KV: 2, hd: 16}\ninputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: "  \
    "[B, S, KV*hd]}\nops: [" ops "]\noutputs: {y: y}\n"
static const char linear[] = ONE("{x: [M, D]}", "params: {w: [N, D], b: [N]}\n", "{out: y, op: linear, in: [x, w, b]}");
static const char rmsnorm[] =
    ONE("{x: [M, N, D]}", "params: {w: [D]}\n", "{out: y, op: rmsnorm, in: [x, w], eps: 1.0e-4}");
static const char layernorm[] =
    ONE("{x: [M, N, D]}", "params: {w: [D], b: [D]}\n", "{out: y, op: layernorm, in: [x, w, b], eps: 1.0e-4}");
static const char softmax[] = ONE("{x: [M, N, D]}", "", "{out: y, op: softmax, in: [x]}");
static const char l2norm[] = ONE("{x: [M, N, D]}", "", "{out: y, op: l2norm, in: [x]}");
static const char matmul[] = ONE("{x: [M, D], w: [D, N]}", "", "{out: y, op: matmul, in: [x, w]}");
static const char attention[] = HEADS("{out: y, op: attention, in: [q, k, v], heads: H, kv_heads: KV, causal: true}");
static const char capped[] =
    HEADS("{out: y, op: attention, in: [q, k, v], heads: H, kv_heads: KV, causal: true, window: 7, softcap: 1.5}");
static const char rope[] = "block: t\ndtype: f32\ndims: {B: 2, S: 33, D: 64}\ninputs: {x: [B, S, D]}\n"
                           "ops: [{out: y, op: rope, in: [x], heads: 4, pairing: half}]\noutputs: {y: y}\n";

static const char llama[] =
    "block: llama\ndtype: f32\ndims: {B: 2, S: 21, D: 72, H: 4, KV: 2, hd: 18, F: 101}\ninputs: {x: [B, S, D]}\n"
    "params: {g: [D], wq: [H*hd, D], wk: [KV*hd, D], wv: [KV*hd, D], wo: [D, H*hd], g2: [D], wg: [F, D], wu: [F, D], "
    "wd: [D, F]}\n"
    "ops:\n"
    "  - {out: h, op: rmsnorm, in: [x, g]}\n"
    "  - {out: q, op: linear, in: [h, wq]}\n  - {out: k, op: linear, in: [h, wk]}\n  - {out: v, op: linear, in: [h, "
    "wv]}\n"
    "  - {out: qr, op: rope, in: [q], heads: H, pairing: half}\n  - {out: kr, op: rope, in: [k], heads: KV, pairing: "
    "half}\n"
    "  - {out: a, op: attention, in: [qr, kr, v], heads: H, kv_heads: KV, causal: true}\n"
    "  - {out: o, op: linear, in: [a, wo]}\n  - {out: x1, op: add, in: [x, o]}\n"
    "  - {out: h2, op: rmsnorm, in: [x1, g2]}\n"
    "  - {out: gate, op: linear, in: [h2, wg]}\n  - {out: up, op: linear, in: [h2, wu]}\n"
    "  - {out: act, op: silu, in: [gate]}\n  - {out: prod, op: mul, in: [act, up]}\n"
    "  - {out: down, op: linear, in: [prod, wd]}\n  - {out: y, op: add, in: [x1, down]}\n"
    "outputs: {y: y}\n";

/* ---- one op on exact inputs */
typedef struct op_case {
    const char *yaml;
    double least; /* a right device's largest ratio is at least this: the bound is tight */
} op_case;
static const op_case right_cases[] = {{linear, 0.03},  {rmsnorm, 0.02},   {layernorm, 0.02},
                                      {softmax, 0.02}, {attention, 0.02}, {rope, 0.02}};
static const char *const types[] = {"f32", "f16", "bf16"};
static const summing orders[] = {summing_in_order, summing_strided, summing_backward};

static double device_ratio(const char *yaml, const char *type, summing order, fault wrong, const char *wrong_at)
{
    bench *b = open_as(yaml, type, NULL, 0);
    float_device d = {.b = b, .order = order, .wrong = wrong, .wrong_at = wrong_at};
    bench_run(b, false, NULL);
    float_device_run(&d);
    const double ratio = float_device_judge(&d, graph_value(b->graph, "y")).ratio;
    float_device_free(&d);
    bench_close(b);
    return ratio;
}

START_TEST(a_right_device_stays_below_the_bound_and_comes_near)
{
    const op_case *c = &right_cases[_i / 9];
    const double ratio = device_ratio(c->yaml, types[_i / 3 % 3], orders[_i % 3], fault_none, NULL);
    ck_assert_msg(ratio <= 0.7 && ratio >= c->least, "ratio %g, %s, order %d: %s", ratio, types[_i / 3 % 3], _i % 3,
                  c->yaml);
}
END_TEST

/* Sums that grow have larger rounding errors than sums near 0: the partial sums count, not the terms. */
START_TEST(a_sum_of_one_sign_stays_below_the_bound_too)
{
    const dim_override longer = {"D", 1536};
    bench *b =
        open_as(_i < 3 ? linear : ONE("{x: [M, N, D]}", "", "{out: y, op: row_sum, in: [x]}"), "f32", &longer, 1);
    for (int i = 0; i < b->graph->value_count; i++)
        for (size_t k = 0; b->inputs[i] && k < b->data[i].count; k++) b->data[i].value[k] = fabs(b->data[i].value[k]);
    float_device d = {.b = b, .order = orders[_i % 3]};
    bench_run(b, false, NULL);
    float_device_run(&d);
    const double ratio = float_device_judge(&d, graph_value(b->graph, "y")).ratio;
    ck_assert_msg(ratio < 0.7 && ratio > 0.005, "ratio %g", ratio);
    float_device_free(&d);
    bench_close(b);
}
END_TEST

/* Two of three numbers are equal, as after a relu, max or broadcast: their rounding errors add up. */
START_TEST(a_sum_of_many_equal_terms_stays_below_the_bound_too)
{
    const dim_override longer = {"D", 1536};
    bench *b =
        open_as(_i < 3 ? linear : ONE("{x: [M, N, D]}", "", "{out: y, op: row_sum, in: [x]}"), "f32", &longer, 1);
    for (int i = 0; i < b->graph->value_count; i++)
        for (size_t k = 0; b->inputs[i] && k < b->data[i].count; k++) {
            double *x = &b->data[i].value[k];
            *x = k % 3 == 0 ? *x : (double)(float)(1.1 + 0.1 * (double)(k / 1536 % 97));
        }
    float_device d = {.b = b, .order = orders[_i % 3]};
    bench_run(b, false, NULL);
    float_device_run(&d);
    const ref_verdict v = float_device_judge(&d, graph_value(b->graph, "y"));
    ck_assert_msg(v.ratio < 0.7 && v.ratio > 0.02 && v.spread < REF_MOST_SPREAD, "ratio %g, RMS %g", v.ratio, v.spread);
    float_device_free(&d);
    bench_close(b);
}
END_TEST

/* With large scores their errors dominate: a bound that overstates these would hide wrong scores. */
START_TEST(large_scores_come_near_their_bound)
{
    bench *b = open_as(attention, "f32", NULL, 0);
    double *q = bench_data(b, "q"), largest = 0;
    for (size_t k = 0; k < b->data[bench_id(b, "q")].count; k++) q[k] *= 64;
    for (int order = 0; order < 3; order++) {
        float_device d = {.b = b, .order = orders[order]};
        bench_run(b, false, NULL);
        float_device_run(&d);
        largest = fmax(largest, float_device_judge(&d, graph_value(b->graph, "y")).ratio);
        float_device_free(&d);
    }
    ck_assert_msg(largest < 0.7 && largest > 0.12, "ratio %g", largest);
    bench_close(b);
}
END_TEST

/* The sum is so near 0 that rounding may give it either sign. Its norm is then w or -w. Bounds allow for both, also those of later ops. */
START_TEST(a_norm_of_one_number_of_either_sign_stays_below_its_bound)
{
    const char *yaml = "block: t\ndtype: bf16\ndims: {M: 24, N: 64}\ninputs: {x: [M, 3], c: [N]}\n"
                       "params: {w: [1]}\n"
                       "ops: [{out: a, op: mul, in: [x, 1.1]}, {out: t, op: row_sum, in: [a]}, "
                       "{out: n, op: rmsnorm, in: [t, w], eps: 1.0e-12}, "
                       "{out: y, op: mul, in: [n, c]}]\noutputs: {y: y, n: n, a: a}\n";
    bench *b = open_as(yaml, "bf16", NULL, 0);
    double *x = bench_data(b, "x");
    const double w = bench_data(b, "w")[0], *c = bench_data(b, "c");
    for (int row = 0; row < 24; row++) x[3 * row] = 1, x[3 * row + 1] = -0.5, x[3 * row + 2] = -0.50390625;
    bench_run(b, false, NULL);
    const ref_tensor *n = bench_result(b, "n"), *y = bench_result(b, "y");
    const double norm = dtype_round(dtype_bf16, -n->value[0]);
    ck_assert(fabs(fabs(n->value[0]) - fabs(w)) < 0.1 * fabs(w));
    for (int i = 0; i < 24; i++) ck_assert(fabs(norm - n->value[i]) <= ref_sigmas * n->error[i]);
    for (int i = 0; i < 24 * 64; i++) {
        const double result = dtype_round(dtype_bf16, norm * c[i % 64]);
        ck_assert_msg(fabs(result - y->value[i]) <= ref_sigmas * y->error[i], "%g for %g: %g times its bound", result, y->value[i],
                      fabs(result - y->value[i]) / (ref_sigmas * y->error[i]));
    }
    bench_close(b);
}
END_TEST

/* In each row, all elements of m + c have the same error, that of m, which therefore adds up in sums and products over the row. In m * c
 * the error's sign is that of c, so it cancels if c alternates. Whether m is the first or the second operand does not matter. */
START_TEST(errors_of_one_row_scalar_add_up_along_its_row)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {M: 6, N: 256}\ninputs: {x: [M, N], c: [N], w: [1, N]}\n"
                               "ops: [{out: m, op: row_mean, in: [x]}, {out: a, op: add, in: [m, c]}, {out: s, op: row_sum, in: [a]}, "
                               "{out: b, op: mul, in: [m, c]}, {out: t, op: row_sum, in: [b]}, {out: p, op: matmul, in: [a, w], "
                               "transpose: true}, {out: d, op: add, in: [c, m]}, {out: u, op: row_sum, in: [d]}]\n"
                               "outputs: {s: s, t: t, p: p, u: u, m: m}\n";
    bench *b = open_as(yaml, "f32", NULL, 0);
    double *c = bench_data(b, "c"), *w = bench_data(b, "w");
    for (int i = 0; i < 256; i++) c[i] = i % 2 ? -1 : 1, w[i] = 0.5; /* terms multiplied by c cancel */
    bench_run(b, false, NULL);
    const ref_tensor *m = bench_result(b, "m"), *s = bench_result(b, "s"), *t = bench_result(b, "t");
    const ref_tensor *p = bench_result(b, "p"), *u = bench_result(b, "u");
    for (int row = 0; row < 6; row++) {
        ck_assert_double_gt(s->error[row], 255 * m->error[row]);
        ck_assert_double_eq(u->error[row], s->error[row]);
        ck_assert_double_gt(p->error[row], 127 * m->error[row]);
        ck_assert_double_lt(t->error[row], 32 * m->error[row] + 32 * REF_UNIT * (1 + fabs(m->value[row])));
    }
    bench_close(b);
}
END_TEST

START_TEST(an_error_shared_by_a_row_moves_with_the_row)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {M: 6, N: 256}\ninputs: {x: [1, M, N], c: [N], w: [1, 1, N], z: [1, M, N]}\n"
                               "ops: [{out: m, op: row_mean, in: [x]}, {out: a, op: add, in: [m, c]}, "
                               "{out: [a1, a2], op: split, in: [a], sizes: [N/2, N/2]}, {out: s0, op: row_sum, in: [a2]}, "
                               "{out: b, op: concat, in: [z, a1]}, {out: s1, op: row_sum, in: [b]}, "
                               "{out: d, op: reshape, in: [a], shape: [M, 2, N/2]}, {out: s2, op: row_sum, in: [d]}, "
                               "{out: e, op: rope, in: [a], heads: 1, pairing: half, rotary: N/2}, {out: s3, op: row_sum, in: [e]}, "
                               "{out: s4, op: matmul, in: [w, a], transpose: true}]\n"
                               "outputs: {s0: s0, s1: s1, s2: s2, s3: s3, s4: s4, m: m}\n";
    static const char *const sums[] = {"s0", "s1", "s2", "s3", "s4"};
    static const double of_row[] = {128, 128, 128, 256, 128}; /* how often m, the row's scalar, is added in */
    bench *b = open_as(yaml, "f32", NULL, 0);
    for (int i = 0; i < 256; i++) bench_data(b, "c")[i] = i % 2 ? -1 : 1, bench_data(b, "w")[i] = 0.5;
    memset(bench_data(b, "z"), 0, 6 * 256 * sizeof(double));
    bench_run(b, false, NULL);
    const double error = bench_result(b, "m")->error[0];
    ck_assert_msg(bench_result(b, sums[_i])->error[0] > 0.99 * of_row[_i] * error, "%s: %g of %g", sums[_i],
                  bench_result(b, sums[_i])->error[0], error);
    bench_close(b);
}
END_TEST

/* The rounding error of a mean of large numbers shifts all of the row equally, so it adds up in a sum. */
START_TEST(a_sum_of_a_norm_of_numbers_far_from_0_stays_below_its_bound)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {M: 4, N: 4096}\ninputs: {x: [M, N]}\nparams: {w: [N], p: [1, N]}\n"
                               "ops: [{out: n, op: layernorm, in: [x, w], eps: 1.0e-5}, {out: y, op: row_sum, in: [n]}, "
                               "{out: l, op: linear, in: [n, p]}]\noutputs: {y: y, l: l}\n";
    bench *b = open_as(yaml, "f32", NULL, 0);
    for (int i = 0; i < 4 * 4096; i++) bench_data(b, "x")[i] = (double)(float)(1000 + bench_data(b, "x")[i]);
    for (int i = 0; i < 4096; i++) bench_data(b, "w")[i] = 1, bench_data(b, "p")[i] = 0.5;
    float_device d = {.b = b, .order = orders[_i]};
    bench_run(b, false, NULL);
    float_device_run(&d);
    const double sum = float_device_judge(&d, graph_value(b->graph, "y")).ratio;
    const double product = float_device_judge(&d, graph_value(b->graph, "l")).ratio;
    ck_assert_msg(sum < 0.7 && sum > 0.001 && product < 0.7 && product > 0.001, "ratios %g and %g", sum, product);
    float_device_free(&d);
    bench_close(b);
}
END_TEST

enum { rms_norm, layer_norm, l2_norm, small_l2_norm };

/* The sum of the norm of m + c; *size: the norm's factor. */
static double sum_of_norm(int kind, const double *c, double m, double *size)
{
    double mean = 0, squares = 0, sum = 0;
    for (int i = 0; i < 256; i++) mean += kind == layer_norm ? (m + c[i]) / 256 : 0;
    for (int i = 0; i < 256; i++) squares += (m + c[i] - mean) * (m + c[i] - mean);
    *size = kind == small_l2_norm ? 1e-15 : 1 / sqrt(kind == l2_norm ? squares : squares / 256);
    for (int i = 0; i < 256; i++) sum += (m + c[i] - mean) * *size;
    return sum;
}

/* All elements of a row share an error before the norm. The bound of the sum after it covers the shift that this causes (none if the norm
 * subtracts the mean), and not much more. */
START_TEST(an_error_shared_by_a_row_passes_through_norms)
{
    static const char *const norms[] = {"rmsnorm, in: [a, w]", "layernorm, in: [a, w]", "l2norm, in: [a]", "l2norm, in: [a], eps: 1.0e+15"};
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "block: t\ndtype: f32\ndims: {M: 2, N: 256}\ninputs: {x: [M, 1], c: [N]}\n%s"
             "ops: [{out: m, op: cast, in: [x], to: bf16}, {out: a, op: add, in: [m, c]}, {out: n, op: %s}, "
             "{out: y, op: row_sum, in: [n]}]\n"
             "outputs: {y: y, m: m}\n",
             _i < l2_norm ? "params: {w: [N]}\n" : "", norms[_i]);
    bench *b = open_as(yaml, "f32", NULL, 0);
    double *c = bench_data(b, "c"), size;
    for (int i = 0; i < 256; i++) c[i] = (i % 16 - 4) * 0x1p28;
    for (int i = 0; i < 256 && _i < l2_norm; i++) bench_data(b, "w")[i] = 1;
    bench_data(b, "x")[0] = bench_data(b, "x")[1] = 0x1p29;
    bench_run(b, false, NULL);
    const ref_tensor *m = bench_result(b, "m"), *y = bench_result(b, "y");
    const double before = sum_of_norm(_i, c, m->value[0], &size);
    const double moved = fabs(sum_of_norm(_i, c, m->value[0] + m->error[0], &size) - before);
    ck_assert(_i == layer_norm || moved > 64 * m->error[0] * size);
    ck_assert_msg(y->error[0] > 0.99 * moved && y->error[0] < moved + 24 * m->error[0] * size, "%g, %g of %g", moved, y->error[0],
                  m->error[0] * size);
    bench_close(b);
}
END_TEST

/* The rules by which a trial continues with the stored value of a: it is exact from then on. */
static bool stores_a(void *context, const ir_value *v) { return (void)context, strcmp(v->name, "a") == 0; }
static void take_a(void *context, const ir_value *v, ref_tensor *t)
{
    if (stores_a(context, v)) memset(t->error, 0, t->count * sizeof *t->error);
}

/* A stored value is taken as given: a sum of it does not share errors with what computed it. */
START_TEST(values_taken_from_the_device_share_no_errors)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {M: 6, N: 256}\ninputs: {x: [M, N], c: [N]}\n"
                               "ops: [{out: r, op: row_max, in: [x]}, {out: m, op: exp, in: [r]}, {out: a, op: add, in: [m, c]}, "
                               "{out: s, op: row_sum, in: [a]}, {out: q, op: row_sumsq, in: [a]}]\noutputs: {s: s, q: q}\n";
    const ref_rules judged = {.stored = stores_a, .finished = take_a}, plain = {.stored = stores_a};
    for (int taken = 0; taken < 2; taken++) {
        bench *b = open_as(yaml, "f32", NULL, 0);
        /* The bound of exp(20) is 22 u (u: REF_UNIT), and the error is the same along the row. */
        for (int i = 0; i < 6 * 256; i++) bench_data(b, "x")[i] = 20;
        for (int i = 0; i < 256; i++) bench_data(b, "c")[i] = i * 4096;
        bench_run(b, false, taken ? &judged : &plain);
        const ref_tensor *s = bench_result(b, "s"), *q = bench_result(b, "q");
        for (int row = 0; row < 6; row++) {
            const double of_sum = s->error[row] / (REF_UNIT * s->value[row]), of_squares = q->error[row] / (REF_UNIT * q->value[row]);
            ck_assert_msg(taken ? of_sum < 12 : of_sum > 20, "%g", of_sum);
            ck_assert_msg(taken ? of_squares < 12 : of_squares > 40, "%g", of_squares);
        }
        bench_close(b);
    }
}
END_TEST

/* The bound of exp is 22 u (u: REF_UNIT) in the second batch, where x is 20, and 2 u in the first, where x is 0. */
START_TEST(errors_shared_by_rows_are_kept_per_batch_of_a_product)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {B: 2, M: 6, N: 256}\ninputs: {x: [B, M, N], c: [N], w: [B, N, M]}\n"
                               "ops: [{out: r, op: row_max, in: [x]}, {out: m, op: exp, in: [r]}, {out: a, op: mul, in: [m, c]}, "
                               "{out: p, op: matmul, in: [a, w]}]\noutputs: {p: p}\n";
    bench *b = open_as(yaml, "f32", NULL, 0);
    for (int i = 0; i < 2 * 6 * 256; i++) bench_data(b, "x")[i] = i < 6 * 256 ? 0 : 20, bench_data(b, "w")[i] = 1;
    for (int i = 0; i < 256; i++) bench_data(b, "c")[i] = 1 + i / 256.0;
    bench_run(b, false, NULL);
    const ref_tensor *p = bench_result(b, "p");
    for (int i = 0; i < 2 * 6 * 6; i++) {
        const double units = p->error[i] / (REF_UNIT * p->value[i]);
        ck_assert_msg(i < 6 * 6 ? units < 12 : units > 20, "%d: %g", i, units);
    }
    bench_close(b);
}
END_TEST

/* Zeros as a relu leaves them: adding 0 rounds nothing, however often. */
START_TEST(zeros_do_not_count_as_equal_terms)
{
    static const char yaml[] = "block: t\ndtype: f32\ndims: {M: 6, N: 256, P: 8}\ninputs: {x: [M, N]}\nparams: {w: [P, N]}\n"
                               "ops: [{out: y, op: linear, in: [x, w]}, {out: s, op: row_sum, in: [x]}]\noutputs: {y: y, s: s}\n";
    for (int zeros = 0; zeros < 2; zeros++) {
        bench *b = open_as(yaml, "f32", NULL, 0);
        for (int i = 0; i < 6 * 256; i++) bench_data(b, "x")[i] = i % 256 < 128 ? 1 - zeros : 1 + fmax(i % 256, 160) / 256.0;
        for (int i = 0; i < 8 * 256; i++) bench_data(b, "w")[i] = 1;
        bench_run(b, false, NULL);
        const ref_tensor *y = bench_result(b, "y"), *s = bench_result(b, "s");
        ck_assert(zeros == (y->error[0] < 20 * REF_UNIT * y->value[0]));
        ck_assert(zeros == (s->error[0] < 20 * REF_UNIT * s->value[0]));
        bench_close(b);
    }
}
END_TEST

/* Sums of a million terms in blocks of 1024 and of 4096, of one sign and of both signs, stay below the bound; a single chain exceeds a
 * tenth of it. */
START_TEST(a_sum_of_a_million_terms_has_the_bound_of_its_blocks)
{
    enum { count = 1 << 20, sums = 16 };
    double blocked = 0, chained = 0;
    unsigned long long state = 5;
    for (int i = 0; i < sums; i++) {
        ref_sum s = {0};
        float chain = 0, block = 0, total = 0;
        for (int k = 0; k < count; k++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            const float x = (float)((double)(state >> 40) * 0x1p-24 - (_i ? 0 : 0.5));
            ref_sum_add(&s, (double)x, 0);
            chain += x, block += x;
            if (k % (i % 2 ? 1024 : 4096) == (i % 2 ? 1023 : 4095)) total += block, block = 0;
        }
        const double bound = ref_sigmas * sqrt(ref_sum_rounding(&s));
        blocked = fmax(blocked, fabs((double)total - s.value) / bound), chained = fmax(chained, fabs((double)chain - s.value) / bound);
    }
    ck_assert_msg(blocked <= 0.7 && chained > 0.1 && chained > 4 * blocked, "in blocks %g of the bound, in a chain %g", blocked, chained);
}
END_TEST

/* ---- f32 products as three of tf32 */
static double cut(double x, int bits) /* toward zero, to so many bits */
{
    int e;
    const double m = frexp(x, &e);
    return ldexp(trunc(ldexp(m, bits)), e - bits);
}

static double to_tf32(double x) /* to nearest, ties away from zero */
{
    return x == 0 ? 0 : cut(x + copysign(ldexp(1, ilogb(x) - 11), x), 11);
}

/* One instruction as tensor cores do it in the worst case: all terms are truncated at the last of 24 places of the largest, and so is the
 * sum. */
static double tensor_sum(double sum, const double *x, const double *w)
{
    double largest = fabs(sum), total = 0;
    for (int k = 0; k < 8; k++) largest = fmax(largest, fabs(x[k] * w[k]));
    if (largest == 0) return 0;
    const int places = 23 - ilogb(largest);
    for (int k = 0; k < 8; k++) total += trunc(ldexp(x[k] * w[k], places));
    return cut(ldexp(total + trunc(ldexp(sum, places)), -places), 24);
}

/* As in templates/gemm/gemm_ws_split.h; `parts` 1: without low terms. K is a multiple of 32. */
static double split_dot(const double *x, const double *w, size_t K, int parts)
{
    float y = 0;
    for (size_t k = 0; k < K; k += 32) {
        double large_x[32], small_x[32], large_w[32], small_w[32], sum = 0;
        for (size_t i = 0; i < 32; i++) {
            large_x[i] = to_tf32(x[k + i]), small_x[i] = to_tf32(x[k + i] - large_x[i]);
            large_w[i] = to_tf32(w[k + i]), small_w[i] = to_tf32(w[k + i] - large_w[i]);
        }
        for (int i = 0; i < 32 && parts == 2; i += 8) {
            sum = tensor_sum(sum, small_x + i, large_w + i);
            sum = tensor_sum(sum, large_x + i, small_w + i);
        }
        for (int i = 0; i < 32; i += 8) sum = tensor_sum(sum, large_x + i, large_w + i);
        y += (float)sum;
    }
    return y;
}

static bool always(void *context, const ir_op *op) { return (void)context, (void)op, true; }

static const struct {
    size_t K;
    bool one_sign;
    int parts;
} split_cases[] = {{32, false, 2},   {32, true, 2},   {128, false, 2}, {128, true, 2},
                   {2048, false, 2}, {2048, true, 2}, {128, false, 1}, {2048, false, 1}};

START_TEST(three_products_in_tf32_stay_below_their_bound_and_one_does_not)
{
    const dim_override dims[] = {{"D", (long long)split_cases[_i].K}, {"M", 7}};
    bench *b = open_as(ONE("{x: [M, D]}", "params: {w: [N, D]}\n", "{out: y, op: linear, in: [x, w]}"), "f32", dims, 2);
    for (int i = 0; i < b->graph->value_count; i++)
        for (size_t k = 0; split_cases[_i].one_sign && b->inputs[i] && k < b->data[i].count; k++)
            b->data[i].value[k] = fabs(b->data[i].value[k]);
    const ref_rules rules = {.splits = always};
    bench_run(b, false, &rules);
    double got[7 * 96];
    for (size_t i = 0; i < 7 * 96; i++)
        got[i] = split_dot(bench_data(b, "x") + i / 96 * dims[0].value, bench_data(b, "w") + i % 96 * dims[0].value, split_cases[_i].K,
                           split_cases[_i].parts);
    const double ratio = ref_compare(bench_result(b, "y"), got).ratio;
    if (split_cases[_i].parts == 2) ck_assert_msg(ratio < 0.7 && ratio > 0.01, "ratio %g", ratio);
    else ck_assert_msg(ratio > 3, "ratio %g without small parts", ratio);
    bench_close(b);
}
END_TEST

/* A device that multiplies terms may make NaN from infinities, and loses terms below 2^-126. */
START_TEST(weights_in_terms_of_bf16_are_not_judged_beside_infinities)
{
    const dim_override dims[] = {{"D", 32}, {"M", 7}};
    bench *b = open_as(ONE("{x: [M, D]}", "params: {w: [N, D]}\n", "{out: y, op: linear, in: [x, w]}"), "f32", dims, 2);
    double *x = bench_data(b, "x");
    x[5] = INFINITY;
    for (size_t k = 0; k < 32; k++) x[32 + k] = 0x1p100;
    bench_run(b, false, &(ref_rules){0});
    const double exact = ref_error(bench_result(b, "y"), 0), large = ref_error(bench_result(b, "y"), 96),
                 normal = ref_error(bench_result(b, "y"), 192);
    bench_run(b, false, &(ref_rules){.in_terms = always});
    const ref_tensor *y = bench_result(b, "y");
    ck_assert_double_eq(exact, 0);
    ck_assert_double_infinite(ref_error(y, 0));
    ck_assert_double_ge(ref_error(y, 96), hypot(large, 0x1p-26 * 5.6));
    ck_assert_double_eq_tol(ref_error(y, 192), normal, 1e-12 * normal);
    bench_close(b);
}
END_TEST

/* The rule `continued`: K of the other linear that the device adds up in the same accumulator; 0: none. */
static long long other_product(void *context, const ir_op *op)
{
    (void)context;
    return strcmp(op->outputs[0]->name, "o") == 0 ? 2048 : strcmp(op->outputs[0]->name, "d") == 0 ? 8 : 0;
}

/* A long sum of small terms continues from a short sum of large ones, so each addition rounds at the size of the large one. Bounds of two
 * separate sums would be too low; the rule `continued` allows for it. */
START_TEST(a_sum_continued_from_another_sum_needs_the_rule_for_it)
{
    bench *b = open_as("block: t\ndtype: f32\ndims: {M: 24, K: 8, L: 2048, N: 96}\ninputs: {x: [M, K], g: [M, L]}\n"
                       "params: {w: [N, K], v: [N, L]}\nops: [{out: o, op: linear, in: [x, w]}, {out: d, op: linear, in: [g, v]},\n"
                       "  {out: y, op: add, in: [o, d]}]\noutputs: {y: y}\n", "f32", NULL, 0);
    enum { M = 24, N = 96, K = 8, L = 2048 };
    for (int i = 0; i < b->graph->value_count; i++)
        for (size_t k = 0; b->inputs[i] && k < b->data[i].count; k++)
            b->data[i].value[k] = b->data[i].count <= N * K ? 64 + fabs(b->data[i].value[k]) : (float)(b->data[i].value[k] / 8);
    const ref_rules rules = {.continued = _i ? other_product : NULL};
    bench_run(b, false, &rules);
    const double *x = bench_data(b, "x"), *w = bench_data(b, "w"), *g = bench_data(b, "g"), *v = bench_data(b, "v");
    double got[M * N];
    for (size_t i = 0; i < M * N; i++) {
        float y = 0;
        for (size_t k = 0; k < K; k++) y += (float)x[i / N * K + k] * (float)w[i % N * K + k];
        for (size_t k = 0; k < L; k++) y += (float)g[i / N * L + k] * (float)v[i % N * L + k];
        got[i] = y;
    }
    const double ratio = ref_compare(bench_result(b, "y"), got).ratio;
    ck_assert_msg(_i ? ratio > 0.02 && ratio < 0.7 : ratio > 1, "ratio %g", ratio);
    bench_close(b);
}
END_TEST

typedef struct fault_case {
    const char *yaml;
    fault wrong;
} fault_case;
static const fault_case fault_cases[] = {
    {linear, fault_missing_term},    {linear, fault_dropped_tail},    {rmsnorm, fault_missing_term},
    {rmsnorm, fault_dropped_tail},   {rmsnorm, fault_wrong_divisor},  {rmsnorm, fault_no_eps},
    {layernorm, fault_missing_term}, {layernorm, fault_dropped_tail}, {layernorm, fault_wrong_divisor},
    {layernorm, fault_no_eps},       {softmax, fault_missing_term},   {softmax, fault_dropped_tail},
    {attention, fault_shifted_mask}, {attention, fault_missing_key},  {attention, fault_unscaled_head},
    {rope, fault_swapped_pair},      {rope, fault_late_position}};
enum { fault_case_count = sizeof fault_cases / sizeof *fault_cases };

START_TEST(a_wrong_device_exceeds_the_bound_in_f32)
{
    const fault_case *c = &fault_cases[_i];
    const double ratio = device_ratio(c->yaml, "f32", summing_strided, c->wrong, NULL);
    ck_assert_msg(ratio > 3, "ratio %g of fault %d in %s", ratio, c->wrong, c->yaml);
}
END_TEST

START_TEST(a_wrong_device_exceeds_the_bound_in_bf16)
{
    const fault_case *c = &fault_cases[_i];
    /* Relative changes of 5e-5 (eps / 2), of 1/346 (1 / 2D), and by one square of 173 in a mean are below bf16's own rounding, 1/256. */
    if (c->wrong == fault_no_eps || c->wrong == fault_wrong_divisor)
        return;
    if (c->yaml == rmsnorm && c->wrong == fault_missing_term) return;
    if (c->yaml == layernorm && c->wrong == fault_missing_term) return;
    const double ratio = device_ratio(c->yaml, "bf16", summing_strided, c->wrong, NULL);
    ck_assert_msg(ratio > 1, "ratio %g of fault %d in %s", ratio, c->wrong, c->yaml);
}
END_TEST

/* ---- errors of inputs: shifts the inputs at random by up to their errors and runs the reference again */
static const char *const shifted_cases[] = {linear,
                                            rmsnorm,
                                            layernorm,
                                            l2norm,
                                            softmax,
                                            matmul,
                                            attention,
                                            capped,
                                            rope,
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: row_mean, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: row_sumsq, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: row_max, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: row_min, in: [x]}"),
                                            ONE("{x: [M, N, D], z: [M, N, 1]}", "", "{out: y, op: mul, in: [x, z]}"),
                                            ONE("{x: [M, N, D], z: [D]}", "", "{out: y, op: sub, in: [x, z]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: gelu_erf, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: gelu_tanh, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: silu, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: sigmoid, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: rsqrt, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: log, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: sin, in: [x]}"),
                                            ONE("{x: [M, N, D]}", "", "{out: y, op: square, in: [x]}")};
enum { shifted_case_count = sizeof shifted_cases / sizeof *shifted_cases };

/* Moves every number of input `one` by up to its error. */
static void shift(bench *b, int one, const double *exact, uint64_t seed)
{
    for (size_t k = 0; k < b->data[one].count; k++)
        b->data[one].value[k] = exact[k] + b->data[one].error[k] * (2 * random_uniform(seed, (uint64_t)one, k) - 1);
}

static double shifted_ratio(bench *b, int one)
{
    const size_t count = b->data[one].count;
    const int y = bench_id(b, "y");
    double *exact = malloc((count + 1) * sizeof *exact), largest = 0;
    b->data[one].error = calloc(count + 1, sizeof(double));
    memcpy(exact, b->data[one].value, count * sizeof *exact);
    for (size_t k = 0; k < count; k++) b->data[one].error[k] = 1e-3 * (0.1 + random_uniform(5, (uint64_t)one, k));
    bench_run(b, false, NULL);
    ref_tensor result = b->result[y];
    b->result[y] = (ref_tensor){0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        shift(b, one, exact, seed);
        bench_run(b, false, NULL);
        largest = fmax(largest, ref_compare(&result, b->result[y].value).ratio);
    }
    ref_free(&result);
    memcpy(b->data[one].value, exact, count * sizeof *exact);
    free(b->data[one].error);
    b->data[one].error = NULL;
    free(exact);
    return largest;
}

START_TEST(the_error_of_each_input_reaches_the_result)
{
    const dim_override few = {"M", 6};
    bench *b = open_as(shifted_cases[_i], "f32", strstr(shifted_cases[_i], " M: ") ? &few : NULL,
                       strstr(shifted_cases[_i], " M: ") != NULL);
    for (int i = 0; i < b->graph->value_count; i++) {
        if (!b->inputs[i]) continue;
        const double ratio = shifted_ratio(b, i);
        /* For a single number the ratio is 1/6; a sum of uniform shifts, each 1/sqrt(3) of its bound, reaches 4/sqrt(3)/6 = 0.38 in 10^4
         * elements. */
        ck_assert_msg(ratio > 0.12 && ratio < 0.7, "ratio %g by %s: %s", ratio, b->graph->values[i]->name,
                      shifted_cases[_i]);
    }
    bench_close(b);
}
END_TEST

/* ---- correct results of operands that differ from the exact ones by up to their bounds, at points where an op is flat, has a kink, or
 * divides by a number near 0 */
#define SINGLE(inputs, ops) "block: t\ndtype: f32\ndims: {M: 24, N: 96}\ninputs: " inputs "\nops: [" ops "]\noutputs: {y: y}\n"
static const char *const far_cases[] = {ONE("{x: [M, N, D], z: [M, N, D]}", "", "{out: y, op: mul, in: [x, z]}"),
                                        ONE("{x: [M, N, D]}", "", "{out: y, op: mul, in: [x, x]}"),
                                        ONE("{x: [M, N, D]}", "", "{out: y, op: square, in: [x]}"),
                                        ONE("{x: [M, N, D]}", "", "{out: y, op: cos, in: [x]}"),
                                        ONE("{x: [M, N, D]}", "", "{out: y, op: exp, in: [x]}"),
                                        ONE("{x: [M, N, D]}", "", "{out: y, op: max, in: [x, 0.002]}"),
                                        ONE("{x: [M, N, D], z: [M, N, D]}", "",
                                            "{out: w, op: add, in: [z, 0.007]}, {out: y, op: div, in: [x, w]}"),
                                        SINGLE("{x: [M, 1], z: [1, N]}", "{out: y, op: matmul, in: [x, z]}"),
                                        SINGLE("{x: [M, N, 1]}", "{out: y, op: row_sumsq, in: [x]}"),
                                        SINGLE("{x: [M, N, 1]}", "{out: y, op: l2norm, in: [x]}"),
                                        SINGLE("{x: [M, N, 1], w: [1]}", "{out: y, op: rmsnorm, in: [x, w], eps: 1.0e-12}")};
#undef SINGLE
enum { far_case_count = sizeof far_cases / sizeof *far_cases };

/* Inputs are about 1e-7 with bounds of 6e-3, and are moved by up to those. */
static double far_ratio(bench *b)
{
    const int y = bench_id(b, "y");
    for (int i = 0; i < b->graph->value_count; i++) {
        if (!b->inputs[i]) continue;
        b->data[i].error = calloc(b->data[i].count + 1, sizeof(double));
        for (size_t k = 0; k < b->data[i].count; k++) b->data[i].value[k] *= 1e-7, b->data[i].error[k] = 1e-3;
    }
    bench_run(b, false, NULL);
    ref_tensor result = b->result[y];
    b->result[y] = (ref_tensor){0};
    for (int i = 0; i < b->graph->value_count; i++)
        for (size_t k = 0; b->inputs[i] && k < b->data[i].count; k++)
            b->data[i].value[k] += ref_sigmas * b->data[i].error[k] * (2 * random_uniform(3, (uint64_t)i, k) - 1);
    bench_run(b, false, NULL);
    const double ratio = ref_compare(&result, b->result[y].value).ratio;
    ref_free(&result);
    for (int i = 0; i < b->graph->value_count; i++) {
        free(b->data[i].error);
        b->data[i].error = NULL;
    }
    return ratio;
}

START_TEST(results_of_operands_at_their_bounds_stay_within_the_bound)
{
    const dim_override few = {"M", 6};
    bench *b = open_as(far_cases[_i], "f32", &few, 1);
    const double ratio = far_ratio(b);
    ck_assert_msg(ratio > 0.3 && ratio < 1.01, "ratio %g: %s", ratio, far_cases[_i]);
    bench_close(b);
}
END_TEST

/* An operand whose error is a whole period: where it moves by that error, or by its bound of six, the result is the same, but in between it
 * is not. */
static const char *const wave_cases[] = {ONE("{x: [M, N, D]}", "", "{out: y, op: sin, in: [x]}"),
                                         ONE("{x: [M, N, D]}", "", "{out: y, op: cos, in: [x]}")};

START_TEST(a_wave_whose_operand_is_off_by_a_period_may_have_any_value)
{
    const dim_override few = {"M", 2};
    bench *b = open_as(wave_cases[_i], "f32", &few, 1);
    const int x = bench_id(b, "x");
    b->data[x].error = calloc(b->data[x].count, sizeof(double));
    for (size_t k = 0; k < b->data[x].count; k++) b->data[x].error[k] = 6.283185307179586;
    bench_run(b, false, NULL);
    const ref_tensor *y = &b->result[bench_id(b, "y")];
    for (size_t k = 0; k < y->count; k++) ck_assert(ref_ratio(y, k, 1) <= 1 && ref_ratio(y, k, -1) <= 1 && ref_ratio(y, k, 13) > 1);
    free(b->data[x].error);
    b->data[x].error = NULL;
    bench_close(b);
}
END_TEST

/* ---- a whole block, end to end */
static bool outputs_only(void *context, const ir_value *v) { return (void)context, v->output != NULL; }

START_TEST(a_block_stays_below_its_bound_end_to_end)
{
    bench *b = open_as(llama, types[_i % 3], NULL, 0);
    float_device d = {.b = b, .order = orders[_i / 3 % 3], .stored_only_outputs = _i >= 9};
    const ref_rules rules = {.stored = outputs_only}, *used = _i >= 9 ? &rules : NULL;
    bench_run(b, false, used);
    float_device_run(&d);
    const ir_value *y = graph_value(b->graph, "y");
    const ref_verdict v = float_device_judge(&d, y);
    ck_assert_msg(v.ratio < 0.7 && v.ratio > 0.01, "ratio %g, case %d", v.ratio, _i);
    float_device_free(&d);
    bench_close(b);
}
END_TEST

START_TEST(rounding_at_stored_values_predicts_the_rms_error_of_a_device)
{
    bench *b = open_as(llama, types[1 + _i], NULL, 0);
    float_device d = {.b = b, .order = summing_strided};
    bench_run(b, false, NULL);
    float_device_run(&d);
    const ir_value *y = graph_value(b->graph, "y");
    const double device = float_device_judge(&d, y).rms;
    ref_tensor exact = b->result[y->id];
    b->result[y->id] = (ref_tensor){0};
    bench_run(b, true, NULL);
    const double predicted = ref_rms(exact.value, b->result[y->id].value, exact.count);
    ck_assert_msg(device < 1.1 * predicted && device > 0.9 * predicted, "device %g, predicted %g", device, predicted);
    ref_free(&exact);
    float_device_free(&d);
    bench_close(b);
}
END_TEST

/* Keys and values are made from the same few numbers: a rounding error of a query changes the weights, and all values follow in the same
 * direction. */
START_TEST(the_error_of_a_query_adds_up_where_values_correlate_with_keys)
{
    bench *b = open_as("block: t\ndtype: f32\ndims: {S: 300, N: 3, hd: 16}\ninputs: {x: [1, S, N], z: [1, S, hd]}\nparams: {wk: [hd, N], "
                       "wv: [hd, N], g: [hd]}\nops:\n  - {out: k, op: linear, in: [x, wk]}\n  - {out: v, op: linear, in: [x, wv]}\n"
                       "  - {out: q, op: rmsnorm, in: [z, g]}\n"
                       "  - {out: y, op: attention, in: [q, k, v], heads: 1, kv_heads: 1, causal: false}\noutputs: {y: y}\n",
                       types[_i], NULL, 0);
    float_device d = {.b = b, .order = summing_in_order};
    bench_run(b, false, NULL);
    float_device_run(&d);
    const ref_verdict v = float_device_judge(&d, graph_value(b->graph, "y"));
    ck_assert_msg(v.ratio < 0.7 && v.ratio > 0.02, "ratio %g, %s", v.ratio, types[_i]);
    float_device_free(&d);
    bench_close(b);
}
END_TEST

static const struct {
    fault wrong;
    const char *at;
} block_faults[] = {{fault_missing_term, "q"},   {fault_missing_term, "down"}, {fault_dropped_tail, "o"},
                    {fault_shifted_mask, "a"},   {fault_unscaled_head, "a"},   {fault_missing_key, "a"},
                    {fault_late_position, "kr"}, {fault_wrong_divisor, "h2"}};

START_TEST(a_wrong_kernel_in_a_block_is_seen_at_its_end_in_f32)
{
    const double ratio = device_ratio(llama, "f32", summing_in_order, block_faults[_i].wrong, block_faults[_i].at);
    ck_assert_msg(ratio > 10, "ratio %g of fault %d at %s", ratio, block_faults[_i].wrong, block_faults[_i].at);
}
END_TEST

/* Kernel by kernel: each value is judged given the device's own inputs. */
typedef struct kernel_check {
    const float_device *d;
    const char *worst;
    double ratio, right; /* largest of all ops, largest without the faulty op */
} kernel_check;

static void judge_kernel(void *context, const ir_value *v, ref_tensor *t)
{
    kernel_check *k = context;
    for (size_t i = 0; i < t->count; i++) {
        const double got = k->d->value[v->id][i], ratio = fabs(got - t->value[i]) / (ref_sigmas * t->error[i]);
        if (ratio > k->ratio) k->ratio = ratio, k->worst = v->name;
        if (strcmp(v->name, k->d->wrong_at) != 0) k->right = fmax(k->right, ratio);
        t->value[i] = got, t->error[i] = 0;
    }
}

START_TEST(checking_kernel_by_kernel_names_only_the_wrong_one)
{
    bench *b = open_as(llama, "bf16", NULL, 0);
    float_device d = {.b = b, .wrong = block_faults[_i].wrong, .wrong_at = block_faults[_i].at};
    kernel_check k = {.d = &d};
    const ref_rules rules = {.finished = judge_kernel, .context = &k};
    float_device_run(&d);
    bench_run(b, true, &rules);
    ck_assert_msg(k.right < 0.7, "ratio %g of a right kernel", k.right);
    if (block_faults[_i].wrong != fault_wrong_divisor) { /* 1/144 of a row's scale, below what 6 * 1/256 allows */
        ck_assert_str_eq(k.worst, block_faults[_i].at);
        ck_assert_double_gt(k.ratio, 1);
    }
    float_device_free(&d);
    bench_close(b);
}
END_TEST

/* y = (x - mean) r with c = x - mean, so dy_i / dx_j = r (d_ij - 1/D - c_i c_j r^2 / D), d_ij being 1 if i = j. Errors are propagated by
 * these derivatives; errors of large elements are larger here. */
START_TEST(layernorm_has_the_errors_of_its_row_by_its_derivatives)
{
    enum { D = 8 };
    static const char yaml[] = "block: t\ndtype: f32\ndims: {D: 8}\ninputs: {x: [1, D]}\nparams: {w: [D]}\n"
                               "ops: [{out: y, op: layernorm, in: [x, w]}]\noutputs: {y: y}\n";
    bench *b = bench_open(yaml, sizeof yaml - 1, NULL);
    double error[D], mean = 0, variance = 1e-5, *x = bench_data(b, "x");
    for (int i = 0; i < D; i++) {
        x[i] = i * i, error[i] = i < 5 ? 1e-4 : 1e-3;
        bench_data(b, "w")[i] = 1;
        mean += x[i] / D;
    }
    for (int i = 0; i < D; i++) variance += (x[i] - mean) * (x[i] - mean) / D;
    b->data[bench_id(b, "x")].error = error;
    bench_run(b, false, NULL);
    for (int i = 0; i < D; i++) {
        double squares = 0;
        for (int j = 0; j < D; j++) {
            const double slope = ((i == j) - 1.0 / D - (x[i] - mean) * (x[j] - mean) / variance / D) / sqrt(variance);
            squares += slope * error[j] * slope * error[j];
        }
        ck_assert_double_eq_tol(bench_result(b, "y")->error[i] / sqrt(squares), 1, 1e-3);
    }
    b->data[bench_id(b, "x")].error = NULL;
    bench_close(b);
}
END_TEST

int main(void)
{
    const int faults = sizeof block_faults / sizeof *block_faults;
    Suite *suite = suite_create("bounds");
    TCase *c = tcase_create("bounds");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, a_right_device_stays_below_the_bound_and_comes_near, 0,
                        9 * sizeof right_cases / sizeof *right_cases);
    tcase_add_loop_test(c, a_sum_of_one_sign_stays_below_the_bound_too, 0, 6);
    tcase_add_loop_test(c, a_sum_of_many_equal_terms_stays_below_the_bound_too, 0, 6);
    tcase_add_test(c, large_scores_come_near_their_bound);
    tcase_add_test(c, a_norm_of_one_number_of_either_sign_stays_below_its_bound);
    tcase_add_test(c, errors_of_one_row_scalar_add_up_along_its_row);
    tcase_add_loop_test(c, an_error_shared_by_a_row_moves_with_the_row, 0, 5);
    tcase_add_loop_test(c, a_sum_of_a_norm_of_numbers_far_from_0_stays_below_its_bound, 0, 3);
    tcase_add_loop_test(c, an_error_shared_by_a_row_passes_through_norms, 0, 4);
    tcase_add_test(c, values_taken_from_the_device_share_no_errors);
    tcase_add_test(c, zeros_do_not_count_as_equal_terms);
    tcase_add_test(c, errors_shared_by_rows_are_kept_per_batch_of_a_product);
    tcase_add_loop_test(c, a_sum_of_a_million_terms_has_the_bound_of_its_blocks, 0, 2);
    tcase_add_loop_test(c, a_sum_continued_from_another_sum_needs_the_rule_for_it, 0, 2);
    tcase_add_loop_test(c, three_products_in_tf32_stay_below_their_bound_and_one_does_not, 0, sizeof split_cases / sizeof *split_cases);
    tcase_add_test(c, weights_in_terms_of_bf16_are_not_judged_beside_infinities);
    tcase_add_loop_test(c, a_wrong_device_exceeds_the_bound_in_f32, 0, fault_case_count);
    tcase_add_loop_test(c, a_wrong_device_exceeds_the_bound_in_bf16, 0, fault_case_count);
    tcase_add_loop_test(c, the_error_of_each_input_reaches_the_result, 0, shifted_case_count);
    tcase_add_loop_test(c, results_of_operands_at_their_bounds_stay_within_the_bound, 0, far_case_count);
    tcase_add_loop_test(c, a_wave_whose_operand_is_off_by_a_period_may_have_any_value, 0, 2);
    tcase_add_loop_test(c, a_block_stays_below_its_bound_end_to_end, 0, 18);
    tcase_add_loop_test(c, the_error_of_a_query_adds_up_where_values_correlate_with_keys, 0, 3);
    tcase_add_loop_test(c, rounding_at_stored_values_predicts_the_rms_error_of_a_device, 0, 2);
    tcase_add_loop_test(c, a_wrong_kernel_in_a_block_is_seen_at_its_end_in_f32, 0, faults);
    tcase_add_loop_test(c, checking_kernel_by_kernel_names_only_the_wrong_one, 0, faults);
    tcase_add_test(c, layernorm_has_the_errors_of_its_row_by_its_derivatives);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
