/* What models other than Llama and GPT-2 need: elementwise ops of templates/base/functions.h, rope scalings, attention windows, ALiBi
 * slopes and sinks: the reference against values known by other means, and each spec of tests/specs/language/ on the host engine in the
 * geometries of its targets. */
#define _GNU_SOURCE
#include "tests/reference/ref_harness.h"
#include "ir/reference/ref_parts.h"
#include "tests/support.h"
#include <glob.h>

static bench *open_text(const char *yaml) { return bench_open(yaml, strlen(yaml), NULL); }

static void set(bench *b, const char *name, const double *numbers, size_t count)
{
    ck_assert_uint_eq(b->data[bench_id(b, name)].count, count);
    memcpy(bench_data(b, name), numbers, count * sizeof *numbers);
}

static const ref_tensor *run(bench *b, const char *name)
{
    const ref_rules rules = {0};
    bench_run(b, false, &rules);
    return bench_result(b, name);
}

static void near(double got, double expected) { ck_assert_double_eq_tol(got, expected, 1e-12 * (1 + fabs(expected))); }

/* ---- elementwise ops */
START_TEST(functions_agree_with_their_definitions)
{
    /* At -0.5, 0 and 2.5; in 50 digits of decimal arithmetic. */
    static const struct { const char *op; double expected[3]; } functions[] = {
        {"abs, in: [x]", {0.5, 0, 2.5}},
        {"sign, in: [x]", {-1, 0, 1}},
        {"floor, in: [x]", {-1, 0, 2}},
        {"ceil, in: [x]", {-0, 0, 3}},
        {"round, in: [x]", {-0, 0, 2}},
        {"erf, in: [x]", {-0.52049987781304652, 0, 0.99959304798255499}},
        {"exp2, in: [x]", {0.70710678118654757, 1, 5.6568542494923806}},
        {"expm1, in: [x]", {-0.39346934028736658, 0, 11.182493960703473}},
        {"log1p, in: [x]", {-0.69314718055994529, 0, 1.2527629684953681}},
        {"softplus, in: [x]", {0.47407698418010669, 0.69314718055994529, 2.5788897342925496}},
        {"mish, in: [x]", {-0.22074377465173001, 0, 2.4713923045578809}},
        {"quick_gelu, in: [x]", {-0.14961156339361989, 0, 2.4650138349514301}},
        {"selu, in: [x]", {-0.69175818780287135, 0, 2.6267524683887014}},
        {"hardsigmoid, in: [x]", {0.41666666666666669, 0.5, 0.91666666666666663}},
        {"hardswish, in: [x]", {-0.20833333333333334, 0, 2.2916666666666665}},
        {"pow, in: [2.5, x]", {0.63245553203367588, 1, 9.8821176880261863}},
        {"leaky_relu, in: [x, 0.25]", {-0.125, 0, 2.5}},
        {"elu, in: [x, 3]", {-1.1804080208620997, 0, 2.5}},
        {"clamp, in: [x, -0.25, 2]", {-0.25, 0, 2}},
        {"where, in: [x, 3, x]", {3, 0, 3}},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml, "block: t\ndtype: f32\ninputs: {x: [3]}\nops: [{out: y, op: %s}]\noutputs: {y: y}\n", functions[i].op);
        bench *b = open_text(yaml);
        set(b, "x", (const double[]){-0.5, 0, 2.5}, 3);
        const ref_tensor *y = run(b, "y");
        for (int k = 0; k < 3; k++) near(y->value[k], functions[i].expected[k]);
        bench_close(b);
    }
}
END_TEST

/* NaN and infinities give what the formula gives; a choice ignores the operand that it does not take. */
START_TEST(nan_and_infinities_follow_the_formulas_of_functions)
{
    static const struct { const char *op; double expected[3]; } functions[] = {
        {"sign, in: [x]", {1, -1, NAN}},           {"floor, in: [x]", {INFINITY, -INFINITY, NAN}},
        {"erf, in: [x]", {1, -1, NAN}},            {"expm1, in: [x]", {INFINITY, -1, NAN}},
        {"log1p, in: [x]", {INFINITY, NAN, NAN}},  {"softplus, in: [x]", {INFINITY, 0, NAN}},
        {"mish, in: [x]", {INFINITY, NAN, NAN}},   {"hardswish, in: [x]", {INFINITY, NAN, NAN}},
        {"elu, in: [x, 2]", {INFINITY, -2, NAN}},  {"clamp, in: [x, -1, 4]", {4, -1, NAN}},
        {"pow, in: [x, 0]", {1, 1, 1}},            {"pow, in: [1, x]", {1, 1, 1}},
        {"pow, in: [-2, x]", {INFINITY, 0, NAN}},  {"where, in: [x, 3, x]", {3, 3, 3}},
        {"where, in: [0.5, 1, x]", {1, 1, 1}},     {"hardsigmoid, in: [x]", {1, 0, NAN}}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml, "block: t\ndtype: f32\ninputs: {x: [3]}\nops: [{out: y, op: %s}]\noutputs: {y: y}\n", functions[i].op);
        bench *b = open_text(yaml);
        set(b, "x", (const double[]){INFINITY, -INFINITY, NAN}, 3);
        const ref_tensor *y = run(b, "y");
        for (int k = 0; k < 3; k++)
            ck_assert_msg(y->value[k] == functions[i].expected[k] || (isnan(y->value[k]) && isnan(functions[i].expected[k])), "%s: %d: %g",
                          functions[i].op, k, y->value[k]);
        bench_close(b);
    }
}
END_TEST

/* If a condition may be 0 within its error, either operand may result; if not, the first one with its own error. If x is within its error
 * of a step, the result may be off by the step. */
START_TEST(a_bound_covers_both_operands_where_rounding_decides_a_condition)
{
    bench *b = open_text("block: t\ndtype: f32\ninputs: {x: [3], u: [3]}\nops:\n"
                         "  - {out: d, op: sub, in: [x, u]}\n  - {out: c, op: mul, in: [d, 3]}\n  - {out: n, op: where, in: [c, 8, 2]}\n"
                         "  - {out: s, op: sign, in: [c]}\n  - {out: k, op: clamp, in: [c, -1, 1]}\noutputs: {n: n, s: s, k: k}\n");
    set(b, "x", (const double[]){1, 1, 1}, 3);
    set(b, "u", (const double[]){0, 1, 1 + 0x1p-20}, 3);
    double errors[] = {0x1p-24, 0x1p-24, 0x1p-24};
    b->data[bench_id(b, "x")].error = errors;
    (void)run(b, "n");
    const ref_tensor *n = bench_result(b, "n"), *s = bench_result(b, "s"), *k = bench_result(b, "k");
    ck_assert_double_eq(n->value[0], 8);
    ck_assert_double_lt(n->error[0], 1e-30);
    ck_assert_double_eq(n->value[1], 2);
    ck_assert_double_ge(ref_sigmas * n->error[1], 6);
    ck_assert_double_lt(n->error[2], 1e-30);
    ck_assert_double_lt(s->error[0], 1e-30);
    ck_assert_double_ge(ref_sigmas * s->error[1], 1);
    ck_assert_double_eq(s->value[2], -1);
    ck_assert_double_eq(k->value[0], 1);
    ck_assert_double_lt(k->error[0], 1e-30); /* 3 is far from 1 */
    ck_assert(k->error[1] > 0 && k->error[1] < 0x1p-20);
    b->data[bench_id(b, "x")].error = NULL;
    bench_close(b);
}
END_TEST

/* If a condition is near 0, either operand may be taken on a device; an operand that is certainly not taken has no effect. */
START_TEST(an_operand_of_where_adds_its_error_only_if_it_may_be_taken)
{
    bench *b = open_text("block: t\ndtype: f32\ninputs: {c: [3], x: [3]}\nops:\n  - {out: y, op: where, in: [c, x, 0]}\noutputs: {y: y}\n");
    const double x[] = {-1e-9, 0.5, -1e-9}, c[] = {0, 0, 1};
    double c_errors[] = {1e-3, 0, 1e-3}, x_errors[] = {1e-3, INFINITY, 1e-3};
    set(b, "x", x, 3);
    set(b, "c", c, 3);
    b->data[bench_id(b, "c")].error = c_errors;
    b->data[bench_id(b, "x")].error = x_errors;
    const ref_tensor *y = run(b, "y");
    ck_assert_double_ge(y->error[0], 1e-3);
    ck_assert_double_eq(y->error[1], 0);
    ck_assert_double_eq_tol(y->error[2], 1e-3, 1e-9);
    b->data[bench_id(b, "c")].error = b->data[bench_id(b, "x")].error = NULL;
    bench_close(b);
}
END_TEST

/* ---- scalings of a rope's frequencies */
enum { pairs = 8, rotary = 2 * pairs };

/* Inverse frequencies as transformers computes them, in steps of its own. */
static void yarn_frequencies(double *f, double base, double factor, double original, bool truncate)
{
    double low = rotary * log(original / (32 * 2 * M_PI)) / (2 * log(base)),
           high = rotary * log(original / (1 * 2 * M_PI)) / (2 * log(base));
    if (truncate) low = floor(low), high = ceil(high);
    low = fmax(low, 0), high = fmin(high, rotary - 1);
    for (int i = 0; i < pairs; i++) {
        const double extrapolation = 1 / pow(base, 2.0 * i / rotary), interpolation = 1 / (factor * pow(base, 2.0 * i / rotary));
        const double ramp = (i - low) / (high - low), kept = 1 - (ramp < 0 ? 0 : ramp > 1 ? 1 : ramp);
        f[i] = interpolation * (1 - kept) + extrapolation * kept;
    }
}

static void dynamic_frequencies(double *f, double base, double factor, double original, double length)
{
    base *= pow(factor * fmax(length, original) / original - (factor - 1), rotary / (rotary - 2.0));
    for (int i = 0; i < pairs; i++) f[i] = 1 / pow(base, 2.0 * i / rotary);
}

static void check_scaling(const char *scaling, double by, const double *f)
{
    char yaml[512];
    snprintf(
        yaml, sizeof yaml,
        "block: t\ndtype: f32\ninputs: {x: [1, 3, 20], at: {shape: [1], dtype: i32, range: [0, 99999]}}\nops:\n"
        "  - {out: y, op: rope, in: [x], heads: 1, pairing: half, rotary: 16, theta: 5000, at: at, attention_factor: %g, scaling: %s}\n"
        "outputs: {y: y}\n",
        by, scaling);
    bench *b = open_text(yaml);
    const double at = 700;
    set(b, "at", &at, 1);
    for (int i = 0; i < 60; i++) bench_data(b, "x")[i] = i % 20 < pairs ? 1 : i % 20 < rotary ? 0 : 5;
    const ref_tensor *y = run(b, "y");
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 20; i++) {
            const double turn = (at + s) * f[i % pairs], expected = i >= rotary ? 5 : i < pairs ? by * cos(turn) : by * sin(turn);
            ck_assert_msg(fabs(y->value[s * 20 + i] - expected) < 1e-9, "%s: token %d, element %d: %g, not %g", scaling, s, i,
                          y->value[s * 20 + i], expected);
        }
    bench_close(b);
}

START_TEST(rope_scalings_are_those_of_transformers)
{
    double f[pairs];
    yarn_frequencies(f, 5000, 16, 4096, true);
    check_scaling("{type: yarn, factor: 16, original: 4096}", 1.25, f);
    yarn_frequencies(f, 5000, 32, 300, false);
    check_scaling("{type: yarn, factor: 32, original: 300, beta_fast: 32, beta_slow: 1, truncate: false}", 1, f);
    dynamic_frequencies(f, 5000, 2, 512, 1024);
    check_scaling("{type: dynamic, factor: 2, original: 512, length: 1024}", 1, f);
    dynamic_frequencies(f, 5000, 2, 512, 512);
    check_scaling("{type: dynamic, factor: 2, original: 512, length: 100}", 0.5, f);
    for (int i = 0; i < pairs; i++) f[i] = 1 / ((1 + i * i) * pow(5000, i / 8.0));
    check_scaling("{type: longrope, factors: [1, 2, 5, 10, 17, 26, 37, 50]}", 1.5, f);
    for (int i = 0; i < pairs; i++) f[i] = i < 2 ? pow(5000, -i / 8.0) : 0;
    check_scaling("{type: proportional, share: 0.3}", 1, f);
}
END_TEST

/* About 2^60 turns per token: float64 cannot hold the remaining part of a turn. */
START_TEST(an_angle_of_too_many_turns_is_not_judged)
{
    bench *b = open_text("block: t\ndtype: f32\ninputs: {x: [1, 2, 4]}\nops:\n"
                         "  - {out: y, op: rope, in: [x], heads: 1, pairing: half, scaling: {type: longrope, factors: [1.0e-19, 1.0e-4]}}\n"
                         "outputs: {y: y}\n");
    for (int i = 0; i < 8; i++) bench_data(b, "x")[i] = i == 4 || i == 6 ? 1 : 0.5;
    const ref_tensor *y = run(b, "y");
    for (int i = 0; i < 4; i++) ck_assert_double_lt(y->error[i], 1e-6); /* position 0 */
    ck_assert(isinf(y->error[4]) && isinf(y->error[6]));
    ck_assert_double_lt(y->error[5], 1e-6);
    bench_close(b);
}
END_TEST

/* ---- attention */
/* With a query of zeros all scores are equal except for what is added to them; values are 4^t, so the result shows each weight. */
static const ref_tensor *attend(bench **b, const char *in, const char *more)
{
    static char yaml[512];
    const bool padded = strstr(more, "first: f") != NULL;
    snprintf(yaml, sizeof yaml,
             "block: t\ndtype: f32\ninputs: {q: [1, 5, 2], k: [1, 5, 2], v: [1, 5, 2]%s}\nparams: {s: [2]}\nops:\n"
             "  - {out: u, op: mul, in: [s, 1]}\n  - {out: y, op: attention, in: [q, k, v%s], heads: 2%s}\noutputs: {y: y, u: u}\n",
             padded ? ", f: {shape: [1], dtype: i32}" : "", in, more);
    *b = open_text(yaml);
    if (padded) bench_data(*b, "f")[0] = 2;
    for (int i = 0; i < 10; i++) bench_data(*b, "v")[i] = pow(4, i / 2);
    set(*b, "s", (const double[]){log(3), -INFINITY}, 2);
    return run(*b, "y");
}

START_TEST(a_window_without_causal_sees_as_far_ahead_as_back)
{
    bench *b;
    const ref_tensor *y = attend(&b, "", ", window: 2");
    const double expected[] = {(1 + 4) / 2.0, (1 + 4 + 16) / 3.0, (4 + 16 + 64) / 3.0, (16 + 64 + 256) / 3.0, (64 + 256) / 2.0};
    for (int i = 0; i < 10; i++) near(y->value[i], expected[i / 2]);
    bench_close(b);
}
END_TEST

/* Tokens 0 and 1 are padding: they attend to nothing, and nothing attends to them. */
START_TEST(keys_before_the_first_are_not_seen)
{
    bench *b;
    const ref_tensor *y = attend(&b, "", ", causal: true, first: f");
    double sum = 0;
    for (int s = 0; s < 5; s++) {
        sum += s < 2 ? 0 : pow(4, s);
        near(y->value[2 * s], s < 2 ? 0 : sum / (s - 1));
    }
    bench_close(b);
}
END_TEST

/* Query 3 has a bias of log 3 for key 1 and of log 2 for key 2; the bias hides all keys of query 4. */
START_TEST(a_bias_is_added_to_scores)
{
    bench *b = open_text("block: t\ndtype: f32\ninputs: {q: [1, 5, 2], k: [1, 5, 2], v: [1, 5, 2], m: [5, 6]}\nops:\n"
                         "  - {out: y, op: attention, in: [q, k, v], heads: 2, causal: true, bias: m}\noutputs: {y: y}\n");
    for (int i = 0; i < 10; i++) bench_data(b, "v")[i] = pow(4, i / 2);
    bench_data(b, "m")[3 * 6 + 1] = log(3), bench_data(b, "m")[3 * 6 + 2] = log(2);
    for (int t = 0; t < 6; t++) bench_data(b, "m")[4 * 6 + t] = -INFINITY;
    const ref_tensor *y = run(b, "y");
    near(y->value[2 * 2], (1 + 4 + 16) / 3.0);
    near(y->value[2 * 3], (1 + 3 * 4 + 2 * 16 + 64) / 7.0);
    near(y->value[2 * 4], 0);
    bench_close(b);
}
END_TEST

/* Weights do not depend on v: a head of 3 columns gives the results of heads of 2 and 1. */
START_TEST(heads_of_values_may_be_longer)
{
    bench *b = open_text("block: t\ndtype: f32\ninputs: {q: [1, 5, 4], k: [1, 5, 4], v: [1, 5, 4], w: [1, 5, 2, 1], z: [1, 5, 6]}\nops:\n"
                         "  - {out: x, op: attention, in: [q, k, v], heads: 2, causal: true}\n"
                         "  - {out: s, op: attention, in: [q, k, w], heads: 2, causal: true}\n"
                         "  - {out: y, op: attention, in: [q, k, z], heads: 2, causal: true}\noutputs: {x: x, s: s, y: y}\n");
    for (int i = 0; i < 20; i++) bench_data(b, "q")[i] = i % 7 - 2, bench_data(b, "k")[i] = i % 5 - 1;
    for (int t = 0; t < 5; t++)
        for (int h = 0; h < 2; h++)
            for (int d = 0; d < 3; d++) {
                double *at = d < 2 ? &bench_data(b, "v")[4 * t + 2 * h + d] : &bench_data(b, "w")[2 * t + h];
                bench_data(b, "z")[6 * t + 3 * h + d] = *at = pow(3, t) + h + 0.25 * d;
            }
    const ref_tensor *y = run(b, "y"), *x = bench_result(b, "x"), *s = bench_result(b, "s");
    ck_assert_uint_eq(y->count, 30);
    for (int i = 0; i < 30; i++) near(y->value[i], i % 3 < 2 ? x->value[i / 3 * 2 + i % 3] : s->value[i / 3]);
    bench_close(b);
}
END_TEST

/* Element [i, j, k] is 100 i + 10 j + k. */
START_TEST(axes_are_moved_and_reduced_where_they_are_named)
{
    bench *b = open_text("block: t\ndtype: f32\ninputs: {x: [2, 3, 4]}\nops:\n  - {out: p, op: permute, in: [x], axes: [2, 0, 1]}\n"
                         "  - {out: s, op: sum, in: [x], axis: 1}\n  - {out: m, op: mean, in: [x], axis: -3, keepdim: true}\n"
                         "  - {out: h, op: amax, in: [x], axis: 0}\n  - {out: l, op: amin, in: [x], axis: 1}\n"
                         "  - {out: z, op: permute, in: [x], axes: [-2, -1, -3]}\noutputs: {p: p, s: s, m: m, h: h, l: l, z: z}\n");
    for (int i = 0; i < 24; i++) bench_data(b, "x")[i] = i / 12 * 100 + i / 4 % 3 * 10 + i % 4;
    const ref_tensor *p = run(b, "p"), *s = bench_result(b, "s"), *m = bench_result(b, "m"), *h = bench_result(b, "h"),
                     *l = bench_result(b, "l"), *z = bench_result(b, "z");
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) {
                near(p->value[k * 6 + i * 3 + j], 100 * i + 10 * j + k);
                near(z->value[j * 8 + k * 2 + i], 100 * i + 10 * j + k);
                near(s->value[i * 4 + k], 300 * i + 30 + 3 * k);
                near(m->value[j * 4 + k], 50 + 10 * j + k);
                near(h->value[j * 4 + k], 100 + 10 * j + k);
                near(l->value[i * 4 + k], 100 * i + k);
            }
    ck_assert(m->error[5] > 0 && m->error[5] < 1e-6 * m->value[5]);
    bench_close(b);
}
END_TEST

START_TEST(slopes_lower_scores_by_distance)
{
    bench *b;
    const double base[] = {0.5, 2}; /* e^-slope */
    char alibi[128];
    snprintf(alibi, sizeof alibi, ", causal: true, alibi: [%.17g, %.17g]", -log(base[0]), -log(base[1]));
    const ref_tensor *y = attend(&b, "", alibi);
    for (int s = 0; s < 5; s++)
        for (int h = 0; h < 2; h++) {
            double sum = 0, o = 0;
            for (int t = 0; t <= s; t++) sum += pow(base[h], s - t), o += pow(base[h], s - t) * pow(4, t);
            near(y->value[2 * s + h], o / sum);
        }
    bench_close(b);
}
END_TEST

/* The sink has weight exp(log 3) next to the weights 1 of s + 1 keys; a sink of minus infinity has none. */
START_TEST(an_attention_sink_adds_to_the_sum_of_weights_but_has_no_value)
{
    bench *b;
    const ref_tensor *y = attend(&b, ", s", ", causal: true");
    double sum = 0;
    for (int s = 0; s < 5; s++) {
        sum += pow(4, s);
        near(y->value[2 * s], sum / (s + 1 + 3));
        near(y->value[2 * s + 1], sum / (s + 1));
        ck_assert(y->error[2 * s] > 0 && y->error[2 * s] < 1e-6 * y->value[2 * s]);
    }
    bench_close(b);
}
END_TEST

/* ---- on every target */
static glob_t specs;
static const char *const gpus[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "sm_80", "sm_90a"};
enum { gpu_count = sizeof gpus / sizeof *gpus };

static void verify(const char *spec, const char *options)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "%s verify %s %s --quiet", program, spec, options);
    ck_assert_msg(system(command) == 0, "%s", command);
}

/* Each runs on the host, and in the geometry of one GPU in turn at each level and dtype. */
START_TEST(a_spec_is_right_at_every_level_and_in_every_dtype)
{
    static const char *const turns[] = {"--target=host --dtype=f32 --fusion=none", "--target=%s --dtype=bf16 --fusion=tile",
                                        "--target=%s --dtype=f16 --fusion=ops"};
    char options[256];
    const int spec = _i / 3, turn = _i % 3;
    snprintf(options, sizeof options, turns[turn], gpus[(2 * spec + turn) % gpu_count]);
    verify(specs.gl_pathv[spec], options);
}
END_TEST

START_TEST(a_spec_is_right_on_every_target) { verify(specs.gl_pathv[_i], "--target=all --fusion=all --dtype=all"); }
END_TEST

int main(void)
{
    if (glob("tests/specs/language/*.yaml", 0, NULL, &specs) != 0) return EXIT_FAILURE;
    Suite *s = suite_create("language");
    TCase *t = tcase_create("language");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, functions_agree_with_their_definitions);
    tcase_add_test(t, nan_and_infinities_follow_the_formulas_of_functions);
    tcase_add_test(t, a_bound_covers_both_operands_where_rounding_decides_a_condition);
    tcase_add_test(t, an_operand_of_where_adds_its_error_only_if_it_may_be_taken);
    tcase_add_test(t, rope_scalings_are_those_of_transformers);
    tcase_add_test(t, an_angle_of_too_many_turns_is_not_judged);
    tcase_add_test(t, a_window_without_causal_sees_as_far_ahead_as_back);
    tcase_add_test(t, keys_before_the_first_are_not_seen);
    tcase_add_test(t, a_bias_is_added_to_scores);
    tcase_add_test(t, heads_of_values_may_be_longer);
    tcase_add_test(t, axes_are_moved_and_reduced_where_they_are_named);
    tcase_add_test(t, slopes_lower_scores_by_distance);
    tcase_add_test(t, an_attention_sink_adds_to_the_sum_of_weights_but_has_no_value);
    tcase_add_loop_test(t, a_spec_is_right_at_every_level_and_in_every_dtype, 0, 3 * (int)specs.gl_pathc);
    suite_add_tcase(s, t);
    tcase_add_loop_test(suite_long(s, "every target", 600), a_spec_is_right_on_every_target, 0, (int)specs.gl_pathc);
    const int failed = run_suite(s);
    globfree(&specs);
    return failed;
}
