/* The reference itself: its ops on inputs whose results are known by other means. Its bounds: tests/reference/test_ref_bounds.c. */
#define _GNU_SOURCE
#include "tests/reference/ref_harness.h"
#include "ir/base/processors.h"
#include "ir/reference/ref_parts.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

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

/* ---- attention. With q = 0 all scores are equal, so a row of v = 2^t gives the mean of 2^t over the visible keys: its
 * numerator has one bit for each. */
#define ATTENTION(extra)                                                                                               \
    "block: t\ndtype: f32\ndims: {B: 2, S: 3, T: 3, H: 1, hd: 2}\n"                                                    \
    "inputs: {q: [B, S, H*hd], k: [B, T, H*hd], v: [B, T, H*hd]}\n"                                                    \
    "ops: [{out: a, op: attention, in: [q, k, v], heads: H" extra "}]\noutputs: {y: a}\n"

static unsigned visible_keys(const ref_tensor *a, size_t row, size_t columns, int keys)
{
    const double mean = a->value[row * columns];
    for (int n = 1; n <= keys; n++) {
        const double sum = mean * n;
        if (fabs(sum - nearbyint(sum)) < 1e-9 && __builtin_popcount((unsigned)nearbyint(sum)) == n)
            return (unsigned)nearbyint(sum);
    }
    ck_assert_double_eq(mean, 0);
    return 0;
}

static void powers_of_two(bench *b, const char *name, size_t keys, size_t width)
{
    double *v = bench_data(b, name);
    for (size_t i = 0; i < b->data[bench_id(b, name)].count; i++) v[i] = ldexp(1, (int)(i / width % keys));
}

START_TEST(without_a_mask_every_key_is_visible)
{
    bench *b = open_text(ATTENTION(""));
    powers_of_two(b, "v", 3, 2);
    const ref_tensor *a = run(b, "a");
    for (size_t row = 0; row < 6; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 3), 7);
    bench_close(b);
}
END_TEST

START_TEST(a_causal_query_sees_keys_up_to_its_own)
{
    bench *b = open_text(ATTENTION(", causal: true"));
    powers_of_two(b, "v", 3, 2);
    const ref_tensor *a = run(b, "a");
    for (size_t row = 0; row < 6; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 3), (2u << row % 3) - 1);
    bench_close(b);
}
END_TEST

START_TEST(a_window_counts_the_query_itself)
{
    bench *b = open_text(ATTENTION(", causal: true, window: 2"));
    powers_of_two(b, "v", 3, 2);
    const ref_tensor *a = run(b, "a");
    const unsigned expected[] = {1, 3, 6};
    for (size_t row = 0; row < 6; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 3), expected[row % 3]);
    bench_close(b);
}
END_TEST

START_TEST(more_keys_than_queries_are_aligned_at_the_end)
{
    const graph_options more = {.overrides = (const dim_override[]){{"T", 5}}, .override_count = 1};
    const char *yaml = ATTENTION("");
    bench *b = bench_open(yaml, strlen(yaml), &more);
    /* set here, since the reader would refuse fewer keys than queries */
    b->graph->ops[0]->attributes.causal = true, b->graph->ops[0]->stated = ~0ull;
    powers_of_two(b, "v", 5, 2);
    const ref_tensor *a = run(b, "a");
    for (size_t row = 0; row < 6; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 5), (8u << row % 3) - 1);
    bench_close(b);
}
END_TEST

START_TEST(keys_beyond_a_length_are_hidden_and_no_keys_give_zero)
{
    bench *b = open_text(
        "block: t\ndtype: f32\ndims: {B: 2, S: 3, H: 1, hd: 2}\n"
        "inputs: {q: [B, S, H*hd], k: [B, S, H*hd], v: [B, S, H*hd], n: {shape: [B], dtype: i32}}\n"
        "ops: [{out: a, op: attention, in: [q, k, v], heads: H, causal: true, lengths: n}]\noutputs: {y: a}\n");
    powers_of_two(b, "v", 3, 2);
    set(b, "n", (const double[]){2, 0}, 2);
    const ref_tensor *a = run(b, "a");
    const unsigned expected[] = {1, 3, 3, 0, 0, 0};
    for (size_t row = 0; row < 6; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 3), expected[row]);
    bench_close(b);
}
END_TEST

#define CACHE                                                                                                          \
    "block: t\ndtype: f32\ndims: {B: 2, S: 2, L: 8, H: 2, KV: 1, hd: 2}\n"                                             \
    "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"  \
    "state: {kc: [B, KV, L, hd], vc: [B, KV, L, hd]}\n"                                                                \
    "ops:\n"                                                                                                           \
    "  - {out: k2, op: kv_append, in: [k], state: kc, at: pos}\n"                                                      \
    "  - {out: v2, op: kv_append, in: [v], state: vc, at: pos}\n"                                                      \
    "  - {out: a, op: attention, in: [q, k2, v2], heads: H, kv_heads: KV, causal: true, at: pos}\n"                    \
    "outputs: {y: a}\n"

START_TEST(a_cache_is_seen_up_to_each_sequences_own_position)
{
    bench *b = open_text(CACHE);
    powers_of_two(b, "vc", 8, 2);
    set(b, "pos", (const double[]){3, 0}, 2);
    /* The appended rows equal those that the cache had there before. */
    set(b, "v", (const double[]){8, 8, 16, 16, 1, 1, 2, 2}, 8);
    const ref_tensor *a = run(b, "a");
    const unsigned expected[] = {15, 31, 1, 3};
    for (size_t row = 0; row < 8; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 8), expected[row / 2]);
    bench_close(b);
}
END_TEST

START_TEST(an_append_writes_its_rows_and_nothing_beyond_the_capacity)
{
    bench *b = open_text(CACHE);
    bench_fill(b, 1);
    set(b, "pos", (const double[]){7, -1}, 2); /* one row of two fits, at each end */
    const ref_tensor *a = run(b, "k2");
    const double *cache = bench_data(b, "kc"), *k = bench_data(b, "k");
    for (size_t i = 0; i < 32; i++) {
        double expected = cache[i];
        if (i / 2 == 7) expected = k[i % 2];     /* sequence 0, row 7: its first token */
        if (i / 2 == 8) expected = k[6 + i % 2]; /* sequence 1, row 0: its second token */
        ck_assert_double_eq(a->value[i], expected);
    }
    set(b, "pos", (const double[]){7, -2}, 2);
    a = run(b, "k2");
    for (size_t i = 0; i < 32; i++) ck_assert_double_eq(a->value[i], i / 2 == 7 ? k[i % 2] : cache[i]);
    bench_close(b);
}
END_TEST

START_TEST(without_causal_all_filled_rows_of_a_cache_are_seen)
{
    bench *b = open_text(CACHE);
    b->graph->ops[2]->attributes.causal = false;
    for (size_t i = 0; i < 32; i++) bench_data(b, "vc")[i] = ldexp(1, (int)(i / 2 % 8));
    set(b, "pos", (const double[]){5, 0}, 2);
    set(b, "v", (const double[]){32, 32, 64, 64, 1, 1, 2, 2}, 8);
    const ref_tensor *a = run(b, "a");
    for (size_t row = 0; row < 8; row++) ck_assert_uint_eq(visible_keys(a, row, 2, 8), row < 4 ? 127 : 3);
    bench_close(b);
}
END_TEST

START_TEST(query_heads_share_key_heads_in_order)
{
    bench *b = open_text("block: t\ndtype: f32\ndims: {B: 1, S: 1, H: 6, KV: 2, hd: 2}\n"
                         "inputs: {q: [B, S, H*hd], k: [B, S, KV*hd], v: [B, S, KV*hd]}\n"
                         "ops: [{out: a, op: attention, in: [q, k, v], heads: H, kv_heads: KV}]\noutputs: {y: a}\n");
    set(b, "v", (const double[]){1, 2, 3, 4}, 4);
    const ref_tensor *a = run(b, "a");
    for (size_t i = 0; i < 12; i++) near(a->value[i], (double)(i / 6 * 2 + i % 2 + 1));
    bench_close(b);
}
END_TEST

/* With two keys the weight of the first is a logistic function of the difference of the scores. */
static double first_weight(const char *yaml)
{
    const graph_options two = {.overrides = (const dim_override[]){{"S", 1}, {"T", 2}, {"B", 1}}, .override_count = 3};
    bench *b = bench_open(yaml, strlen(yaml), &two);
    set(b, "q", (const double[]){3, 1}, 2);
    set(b, "k", (const double[]){1, 1, 0, -1}, 4); /* dot products 4 and -1 */
    set(b, "v", (const double[]){1, 0, 0, 1}, 4);
    const double p = run(b, "a")->value[0];
    near(bench_result(b, "a")->value[1], 1 - p);
    bench_close(b);
    return p;
}

START_TEST(scores_are_scaled_and_capped)
{
    near(first_weight(ATTENTION("")), 1 / (1 + exp(-5 / sqrt(2))));
    near(first_weight(ATTENTION(", scale: 0.25")), 1 / (1 + exp(-1.25)));
    near(first_weight(ATTENTION(", scale: 1, softcap: 2")), 1 / (1 + exp(-2 * (tanh(2) - tanh(-0.5)))));
}
END_TEST

/* ---- rope */
#define ROPE(extra)                                                                                                    \
    "block: t\ndtype: f32\ndims: {B: 1, S: 3, H: 2, hd: 8}\ninputs: {x: [B, S, H*hd]}\n"                               \
    "ops: [{out: y, op: rope, in: [x], heads: H" extra "}]\noutputs: {y: y}\n"

static double *rope(const char *yaml, size_t unit)
{
    static double copy[48];
    bench *b = open_text(yaml);
    for (size_t i = 0; i < 48; i++) bench_data(b, "x")[i] = i % 16 == unit;
    memcpy(copy, run(b, "y")->value, sizeof copy);
    bench_close(b);
    return copy;
}

START_TEST(rope_turns_pairs_by_position_times_frequency)
{
    const double *y = rope(ROPE(", pairing: half, theta: 100"), 9); /* second head, pair 1 of 4: frequency 100^(-1/4) */
    for (int s = 0; s < 3; s++) {
        near(y[16 * s + 9], cos(s * pow(100, -0.25)));
        near(y[16 * s + 13], sin(s * pow(100, -0.25)));
    }
    y = rope(ROPE(", pairing: half, theta: 100"), 13); /* the other of the pair */
    near(y[16 + 9], -sin(pow(100, -0.25)));
    near(y[16 + 13], cos(pow(100, -0.25)));
    y = rope(ROPE(", pairing: interleaved, theta: 100"), 10); /* elements 2 and 3 of a head: pair 1 */
    near(y[16 + 10], cos(pow(100, -0.25)));
    near(y[16 + 11], sin(pow(100, -0.25)));
}
END_TEST

START_TEST(partial_rope_leaves_the_rest_of_a_head)
{
    const double *y =
        rope(ROPE(", pairing: half, theta: 100, rotary: 4"), 1); /* pair 1 of 2: frequency 100^(-1/2), partner 3 */
    near(y[32 + 1], cos(0.2));
    near(y[32 + 3], sin(0.2));
    y = rope(ROPE(", pairing: half, theta: 100, rotary: 4"), 4);
    near(y[32 + 4], 1);
}
END_TEST

START_TEST(rope_scalings_slow_the_frequencies_that_they_name)
{
    const double *y = rope(ROPE(", pairing: half, theta: 100, scaling: {type: linear, factor: 4}"), 0);
    near(y[16], cos(0.25));
    /* Pairs 0 to 3 have periods of 2 pi 100^(i/4) = 6.3, 19.9, 62.8, 198.7 tokens; the bounds are 100 / 10 = 10 and 100 / 1 = 100. */
    const char *llama3 = ROPE(
        ", pairing: half, theta: 100, scaling: {type: llama3, factor: 8, low_freq: 1, high_freq: 10, original: 100}");
    near(rope(llama3, 0)[16], cos(1));
    near(rope(llama3, 3)[16 + 3], cos(pow(100, -0.75) / 8));
    const double f = pow(100, -0.5), blend = (100 * f / (2 * acos(-1)) - 1) / 9;
    near(rope(llama3, 2)[16 + 2], cos((1 - blend) * f / 8 + blend * f));
}
END_TEST

START_TEST(rope_starts_at_each_sequences_own_position)
{
    bench *b = open_text("block: t\ndtype: f32\ndims: {B: 2, S: 2, hd: 2}\ninputs: {x: [B, S, hd], pos: {shape: [B], "
                         "dtype: i32, range: [0, 9]}}\n"
                         "ops: [{out: y, op: rope, in: [x], heads: 1, pairing: half, at: pos}]\noutputs: {y: y}\n");
    set(b, "x", (const double[]){1, 0, 1, 0, 1, 0, 1, 0}, 8);
    set(b, "pos", (const double[]){5, 2}, 2);
    const ref_tensor *y = run(b, "y");
    const double position[] = {5, 6, 2, 3};
    for (int i = 0; i < 4; i++) near(y->value[2 * i], cos(position[i])), near(y->value[2 * i + 1], sin(position[i]));
    bench_close(b);
}
END_TEST

/* ---- products */
START_TEST(a_weight_may_be_stored_transposed)
{
    bench *b = open_text(
        "block: t\ndtype: f32\ndims: {M: 5, K: 37, N: 70}\ninputs: {x: [M, K]}\nparams: {w: [N, K], wt: [K, N], c: "
        "[N]}\n"
        "ops:\n  - {out: p, op: linear, in: [x, w, c]}\n  - {out: q, op: linear, in: [x, wt, c], layout: in_out}\n"
        "  - {out: y, op: sub, in: [p, q]}\noutputs: {y: y}\n");
    bench_fill(b, 3);
    const double *x = bench_data(b, "x"), *w = bench_data(b, "w"), *c = bench_data(b, "c");
    for (size_t n = 0; n < 70; n++)
        for (size_t k = 0; k < 37; k++) bench_data(b, "wt")[k * 70 + n] = w[n * 37 + k];
    const ref_tensor *y = run(b, "y");
    for (size_t i = 0; i < y->count; i++) ck_assert_double_eq(y->value[i], 0);
    for (size_t m = 0; m < 5; m++)
        for (size_t n = 0; n < 70; n++) {
            double sum = c[n];
            for (size_t k = 0; k < 37; k++) sum += x[m * 37 + k] * w[n * 37 + k];
            near(bench_result(b, "p")->value[m * 70 + n], sum);
        }
    bench_close(b);
}
END_TEST

START_TEST(matmul_multiplies_batch_by_batch)
{
    bench *b = open_text(
        "block: t\ndtype: f32\ndims: {B: 3, M: 2, K: 5, N: 6}\ninputs: {x: [B, M, K], w: [B, K, N], t: [B, N, K]}\n"
        "ops:\n  - {out: p, op: matmul, in: [x, w]}\n  - {out: q, op: matmul, in: [x, t], transpose: true}\n"
        "outputs: {p: p, q: q}\n");
    bench_fill(b, 3);
    const double *x = bench_data(b, "x"), *w = bench_data(b, "w"), *t = bench_data(b, "t");
    (void)run(b, "p");
    for (size_t i = 0; i < 36; i++) {
        const size_t batch = i / 12, m = i / 6 % 2, n = i % 6;
        double p = 0, q = 0;
        for (size_t k = 0; k < 5; k++)
            p += x[(batch * 2 + m) * 5 + k] * w[(batch * 5 + k) * 6 + n],
                q += x[(batch * 2 + m) * 5 + k] * t[(batch * 6 + n) * 5 + k];
        near(bench_result(b, "p")->value[i], p);
        near(bench_result(b, "q")->value[i], q);
    }
    bench_close(b);
}
END_TEST

/* ---- norms, rows, moves */
START_TEST(norms_agree_with_their_definitions)
{
    bench *b =
        open_text("block: t\ndtype: f32\ndims: {M: 2, D: 4}\ninputs: {x: [M, D]}\nparams: {w: [D], c: [D]}\n"
                  "ops:\n  - {out: r, op: rmsnorm, in: [x, w], eps: 0.5}\n  - {out: u, op: rmsnorm, in: [x, w], eps: "
                  "0.5, unit_offset: true}\n"
                  "  - {out: l, op: layernorm, in: [x, w, c], eps: 0.5}\n  - {out: n, op: l2norm, in: [x], eps: 1}\n"
                  "outputs: {r: r, u: u, l: l, n: n}\n");
    set(b, "x", (const double[]){1, 2, 3, 6, 0.1, 0.1, -0.1, 0.1}, 8);
    set(b, "w", (const double[]){1, -2, 0, 0.5}, 4);
    set(b, "c", (const double[]){7, 0, 8, 0}, 4);
    const double *w = bench_data(b, "w"), *c = bench_data(b, "c"), x[] = {1, 2, 3, 6};
    (void)run(b, "r");
    for (size_t i = 0; i < 4; i++) {
        near(bench_result(b, "r")->value[i], x[i] / sqrt(12.5 + 0.5) * w[i]);
        near(bench_result(b, "u")->value[i], x[i] / sqrt(12.5 + 0.5) * (1 + w[i]));
        near(bench_result(b, "l")->value[i], (x[i] - 3) / sqrt(3.5 + 0.5) * w[i] + c[i]);
        near(bench_result(b, "n")->value[i], x[i] / sqrt(50));
        near(fabs(bench_result(b, "n")->value[4 + i]), 0.1); /* shorter than eps: divided by eps */
    }
    bench_close(b);
}
END_TEST

START_TEST(softmax_adds_to_one_and_a_row_of_minus_infinities_is_zero)
{
    bench *b = open_text("block: t\ndtype: f32\ndims: {M: 3, N: 3}\ninputs: {x: [M, N]}\nops: [{out: y, op: softmax, "
                         "in: [x]}]\noutputs: {y: y}\n");
    set(b, "x", (const double[]){1, 2, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 1e4, 1e4, -1e4}, 9);
    const ref_tensor *y = run(b, "y");
    const double expected[] = {1 / (1 + exp(1)), 1 / (1 + exp(-1)), 0, 0, 0, 0, 0.5, 0.5, 0};
    for (size_t i = 0; i < 9; i++) {
        near(y->value[i], expected[i]);
        ck_assert(isfinite(y->error[i]));
    }
    bench_close(b);
}
END_TEST

START_TEST(rows_are_reduced_over_their_last_axis)
{
    bench *b = open_text(
        "block: t\ndtype: f32\ndims: {M: 2, N: 3}\ninputs: {x: [M, N]}\nops:\n"
        "  - {out: a, op: row_sum, in: [x]}\n  - {out: b, op: row_mean, in: [x]}\n  - {out: c, op: row_max, in: [x]}\n"
        "  - {out: d, op: row_min, in: [x]}\n  - {out: e, op: row_sumsq, in: [x]}\n"
        "outputs: {a: a, b: b, c: c, d: d, e: e}\n");
    set(b, "x", (const double[]){1, -5, 10, 2, 2, 2}, 6);
    (void)run(b, "a");
    const double expected[][2] = {{6, 6}, {2, 2}, {10, 2}, {-5, 2}, {126, 12}};
    for (int i = 0; i < 5; i++)
        for (int row = 0; row < 2; row++)
            near(bench_result(b, (const char[]){(char)('a' + i), 0})->value[row], expected[i][row]);
    bench_close(b);
}
END_TEST

START_TEST(operands_are_stretched_from_the_right)
{
    bench *b = open_text(
        "block: t\ndtype: f32\ndims: {A: 2, M: 3, N: 2}\ninputs: {x: [A, M, N], c: [M, 1], r: [A, 1, N]}\nparams: {v: "
        "[N]}\nops:\n"
        "  - {out: p, op: add, in: [x, c]}\n  - {out: q, op: mul, in: [v, p]}\n  - {out: s, op: sub, in: [r, q]}\n"
        "  - {out: y, op: div, in: [s, 4]}\noutputs: {y: y}\n");
    bench_fill(b, 5);
    const double *x = bench_data(b, "x"), *c = bench_data(b, "c"), *r = bench_data(b, "r"), *v = bench_data(b, "v");
    const ref_tensor *y = run(b, "y");
    for (size_t i = 0; i < 12; i++) near(y->value[i], (r[i / 6 * 2 + i % 2] - v[i % 2] * (x[i] + c[i / 2 % 3])) / 4);
    bench_close(b);
}
END_TEST

START_TEST(functions_agree_with_their_definitions)
{
    bench *b = open_text(
        "block: t\ndtype: f32\ndims: {N: 3}\ninputs: {x: [1, N]}\nops:\n"
        "  - {out: a, op: gelu_erf, in: [x]}\n  - {out: b, op: gelu_tanh, in: [x]}\n  - {out: c, op: silu, in: [x]}\n"
        "  - {out: d, op: sigmoid, in: [x]}\n  - {out: e, op: relu, in: [x]}\n  - {out: f, op: square, in: [x]}\n"
        "  - {out: g, op: min, in: [x, 1]}\n  - {out: h, op: max, in: [x, 1]}\n  - {out: i, op: neg, in: [x]}\n"
        "outputs: {a: a, b: b, c: c, d: d, e: e, f: f, g: g, h: h, i: i}\n");
    set(b, "x", (const double[]){-0.5, 0, 2}, 3);
    (void)run(b, "a");
    /* Printed by an arbitrary precision calculator. */
    const double expected[][3] = {{-0.15426876936299345, 0, 1.9544997361036416},
                                  {-0.15428599017485608, 0, 1.954597694087775},
                                  {-0.1887703343990727, 0, 1.7615941559557649},
                                  {0.37754066879814546, 0.5, 0.8807970779778823},
                                  {0, 0, 2},
                                  {0.25, 0, 4},
                                  {-0.5, 0, 1},
                                  {1, 1, 2},
                                  {0.5, 0, -2}};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) near(bench_result(b, (const char[]){(char)('a' + i), 0})->value[k], expected[i][k]);
    bench_close(b);
}
END_TEST

/* Bounds are relative to the result, also where a function is near 0: a formula that cancels there would be no reference. */
START_TEST(functions_are_exact_far_in_their_tails)
{
    bench *b = open_text("block: t\ndtype: f32\ndims: {N: 3}\ninputs: {x: [1, N]}\nops:\n"
                         "  - {out: a, op: gelu_erf, in: [x]}\n  - {out: b, op: gelu_tanh, in: [x]}\n  - {out: c, op: silu, in: [x]}\n"
                         "  - {out: d, op: sigmoid, in: [x]}\noutputs: {a: a, b: b, c: c, d: d}\n");
    set(b, "x", (const double[]){-4, -6, -8}, 3);
    (void)run(b, "a");
    /* Printed by an arbitrary precision calculator. */
    const double expected[][3] = {{-0.0001266849673324797, -5.9195258702261885e-09, -4.976768459417427e-15},
                                  {-7.024594819237268e-05, -8.439646700762297e-11, -3.1077829375011112e-21},
                                  {-0.07194483984836623, -0.014835738939808645, -0.002682801043731825},
                                  {0.01798620996209156, 0.0024726231566347743, 0.0003353501304664781}};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(bench_result(b, (const char[]){(char)('a' + i), 0})->value[k] / expected[i][k], 1, 1e-12);
    bench_close(b);
}
END_TEST

START_TEST(split_concat_and_reshape_only_move)
{
    bench *b = open_text(
        "block: t\ndtype: bf16\ndims: {M: 2}\ninputs: {x: [M, 6]}\nops:\n"
        "  - {out: [p, q, r], op: split, in: [x], sizes: [1, 2, 3]}\n  - {out: c, op: concat, in: [r, p, q]}\n"
        "  - {out: y, op: reshape, in: [c], shape: [M, 3, 2]}\noutputs: {y: y}\n");
    bench_fill(b, 7);
    const ref_tensor *y = run(b, "y");
    const size_t order[] = {3, 4, 5, 0, 1, 2};
    for (size_t i = 0; i < 12; i++) {
        ck_assert_double_eq(y->value[i], bench_data(b, "x")[i / 6 * 6 + order[i % 6]]);
        ck_assert_double_eq(y->error[i], 0); /* the numbers are already in the dtype and are not rounded again */
    }
    bench_close(b);
}
END_TEST

/* The result of a reshape has its operand's dtype, whatever the spec computes in. */
START_TEST(a_reshape_keeps_the_dtype_of_its_operand)
{
    bench *b = open_text("block: t\ndtype: bf16\ndims: {M: 2}\ninputs: {x: [M, 6]}\nops:\n  - {out: f, op: cast, in: [x], to: f32}\n"
                         "  - {out: y, op: reshape, in: [f], shape: [M, 3, 2]}\noutputs: {y: y}\n");
    bench_fill(b, 7);
    const ref_tensor *y = run(b, "y");
    for (size_t i = 0; i < 12; i++) ck_assert_double_eq(y->value[i], bench_data(b, "x")[i]);
    bench_close(b);
}
END_TEST

/* ---- runs */
/* Each optional attribute is left out once, and the default that the reader sets is then changed. */
START_TEST(the_reference_has_its_own_defaults)
{
    static const struct {
        const char *op, *in;
    } ops[] = {{"rmsnorm", "x, g], eps: 1.0e-5, unit_offset: false"},
               {"layernorm", "x, g], eps: 1.0e-5"},
               {"l2norm", "x], eps: 1.0e-12"},
               {"rope", "x], heads: 2, pairing: half, theta: 10000, rotary: 4, attention_factor: 1"},
               {"linear", "x, w], layout: out_in"},
               {"matmul", "x, x], transpose: true"},
               {"attention", "x, x, x], heads: 2, kv_heads: 2, causal: false, scale: 0.5"}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char yaml[2][512];
        const char *stop = strchr(ops[i].in, ']');
        for (int full = 0; full < 2; full++) {
            const bool matmul = strcmp(ops[i].op, "matmul") == 0;
            const int n = full || matmul                  ? (int)strlen(ops[i].in)
                          : strstr(ops[i].in, "heads: 2") ? (int)(strstr(ops[i].in, "heads: 2") + 8 - ops[i].in)
                                                          : (int)(stop + 1 - ops[i].in);
            snprintf(
                yaml[full], sizeof yaml[full],
                "block: t\ndtype: f32\ndims: {S: 3}\ninputs: {x: [2, S, 8]}\nparams: {g: [8], w: [8, 8]}\nops:\n"
                "  - {out: a, op: mul, in: [x, g]}\n  - {out: b, op: linear, in: [a, w]}\n  - {out: y, op: %s, in: [%.*s%s}\n"
                "outputs: {y: y, b: b}\n",
                ops[i].op, n, ops[i].in, !full && strcmp(ops[i].op, "rope") == 0 ? ", pairing: half" : "");
        }
        bench *given = open_text(yaml[1]), *left = open_text(yaml[0]);
        bench_fill(given, 4), bench_fill(left, 4);
        ir_attributes *t = &left->graph->ops[2]->attributes;
        if (strcmp(ops[i].op, "matmul") != 0) /* its two forms need different shapes */
            *t = (ir_attributes){.heads = t->heads,
                                 .pairing = t->pairing,
                                 .eps = 3,
                                 .theta = 3,
                                 .scale = 3,
                                 .rotary = 2,
                                 .kv_heads = 1,
                                 .window = 1,
                                 .softcap = 1,
                                 .causal = true,
                                 .unit_offset = true,
                                 .layout = layout_in_out,
                                 .scaling = {scaling_linear, 2, 0, 0, 0}};
        const ref_tensor *y = run(given, "y"), *z = run(left, "y");
        for (size_t k = 0; k < y->count; k++)
            ck_assert_msg(y->value[k] == z->value[k], "%s: %g, not %g", ops[i].op, z->value[k], y->value[k]);
        bench_close(given);
        bench_close(left);
    }
}
END_TEST

#define SHAPES(op)                                                                                                                         \
    "block: t\ndtype: bf16\ndims: {S: 3}\ninputs: {x: [2, S, 8]}\nops:\n  - {out: h, op: neg, in: [x]}\n  - {out: y, op: " op              \
    "}\noutputs: {y: y, h: h}\n"

/* Changes the shape or dtype of y that the reader set: the reference computes its own and refuses. */
START_TEST(a_graph_with_a_wrong_shape_or_dtype_is_refused)
{
    static const char *const ops[] = {SHAPES("exp, in: [h]"),
                                      SHAPES("add, in: [h, h]"),
                                      SHAPES("cast, in: [h], to: f16"),
                                      SHAPES("row_sum, in: [h]"),
                                      SHAPES("softmax, in: [h]"),
                                      SHAPES("matmul, in: [h, h], transpose: true"),
                                      SHAPES("concat, in: [h, h]"),
                                      SHAPES("rope, in: [h], heads: 2, pairing: half"),
                                      SHAPES("attention, in: [h, h, h], heads: 2"),
                                      SHAPES("reshape, in: [h], shape: [2, S, 4, 2]"),
                                      SHAPES("l2norm, in: [h]")};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int spoilt = 0; spoilt < 3; spoilt++) {
            bench *b = open_text(ops[i]);
            bench_fill(b, 4);
            ir_value *y = (ir_value *)graph_value(b->graph, "y");
            if (spoilt == 1) y->type = y->type == dtype_f32 ? dtype_bf16 : dtype_f32;
            if (spoilt == 2) y->shape[1] = extent_number(4);
            const bool taken = ref_run(b->graph, b->inputs, true, NULL, b->results, b->message, sizeof b->message);
            ck_assert_msg(taken == !spoilt, "%s: %s", ops[i], taken ? "taken" : b->message);
            if (spoilt) ck_assert_msg(strstr(b->message, "the rules make it") || strstr(b->message, "do not fit"), "%s", b->message);
            bench_close(b);
        }
}
END_TEST

START_TEST(a_matrix_of_another_batch_is_refused)
{
    bench *b =
        open_text("block: t\ndtype: f32\ninputs: {x: [2, 3, 4], w: [2, 4, 5]}\nops: [{out: y, op: matmul, in: [x, w]}]\noutputs: {y: y}\n");
    bench_fill(b, 4);
    ((ir_value *)graph_value(b->graph, "w"))->shape[0] = extent_number(3);
    b->data[bench_id(b, "w")].count = 60;
    ck_assert(!ref_run(b->graph, b->inputs, true, NULL, b->results, b->message, sizeof b->message));
    ck_assert_msg(strstr(b->message, "do not fit") != NULL, "%s", b->message);
    bench_close(b);
}
END_TEST

START_TEST(missing_or_wrong_data_is_refused_by_name)
{
    bench *b = open_text(ATTENTION(""));
    b->inputs[bench_id(b, "k")] = NULL;
    ck_assert(!ref_run(b->graph, b->inputs, false, NULL, b->results, b->message, sizeof b->message));
    ck_assert_ptr_nonnull(strstr(b->message, "%k"));
    b->inputs[bench_id(b, "k")] = &b->data[bench_id(b, "k")];
    b->data[bench_id(b, "q")].count--;
    ck_assert(!ref_run(b->graph, b->inputs, false, NULL, b->results, b->message, sizeof b->message));
    ck_assert_ptr_nonnull(strstr(b->message, "%q takes 12 numbers, 11 are given"));
    bench_close(b);
}
END_TEST

static const char chain[] =
    "block: t\ndtype: bf16\ndims: {N: 64}\ninputs: {x: [4, N]}\nops:\n"
    "  - {out: a, op: mul, in: [x, 1.1]}\n  - {out: b, op: exp, in: [a]}\n  - {out: c, op: cast, in: [b], to: f16}\n"
    "  - {out: y, op: add, in: [c, x]}\noutputs: {y: y}\n";

static bool only_y(void *context, const ir_value *v) { return (void)context, strcmp(v->name, "y") == 0; }

START_TEST(numbers_are_rounded_where_they_are_stored_and_by_cast)
{
    bench *b = open_text(chain);
    bench_fill(b, 7);
    const ref_rules rules = {.stored = only_y};
    bench_run(b, true, &rules);
    for (size_t i = 0; i < 256; i++) {
        const double x = bench_data(b, "x")[i], a = x * 1.1, e = exp(a);
        ck_assert_double_eq(bench_result(b, "a")->value[i], a);
        ck_assert_double_eq(bench_result(b, "c")->value[i], dtype_round(dtype_f16, e));
        ck_assert_double_eq(bench_result(b, "y")->value[i], dtype_round(dtype_bf16, dtype_round(dtype_f16, e) + x));
    }
    bench_run(b, true, NULL);
    for (size_t i = 0; i < 256; i++)
        ck_assert_double_eq(bench_result(b, "a")->value[i], dtype_round(dtype_bf16, bench_data(b, "x")[i] * 1.1));
    bench_run(b, false, NULL);
    for (size_t i = 0; i < 256; i++) ck_assert_double_eq(bench_result(b, "a")->value[i], bench_data(b, "x")[i] * 1.1);
    bench_close(b);
}
END_TEST

static bool only_moved(void *context, const ir_value *v) { return (void)context, strchr("yz", v->name[0]) != NULL; }

/* The result of a move is exactly representable in its dtype only if all of its operands were. */
START_TEST(a_move_rounds_if_one_of_its_operands_was_not_rounded)
{
    bench *b =
        open_text("block: t\ndtype: bf16\ndims: {N: 64}\ninputs: {x: [4, N]}\nops:\n  - {out: a, op: mul, in: [x, 1.1]}\n"
                  "  - {out: y, op: concat, in: [a, x]}\n  - {out: z, op: reshape, in: [a], shape: [2, 2, N]}\noutputs: {y: y, z: z}\n");
    bench_fill(b, 7);
    const ref_rules rules = {.stored = only_moved};
    bench_run(b, true, &rules);
    for (size_t i = 0; i < 256; i++) {
        const double a = dtype_round(dtype_bf16, bench_data(b, "x")[i] * 1.1);
        ck_assert_double_eq(bench_result(b, "z")->value[i], a);
        ck_assert_double_eq(bench_result(b, "y")->value[i / 64 * 128 + i % 64], a);
    }
    bench_close(b);
}
END_TEST

static void take_over(void *context, const ir_value *v, ref_tensor *t)
{
    int *calls = context;
    ++*calls;
    if (strcmp(v->name, "a") != 0) return;
    for (size_t i = 0; i < t->count; i++) t->value[i] = 2, t->error[i] = 0;
}

START_TEST(a_checker_may_replace_computed_values)
{
    bench *b = open_text(chain);
    bench_fill(b, 7);
    int calls = 0;
    const ref_rules rules = {.stored = only_y, .finished = take_over, .context = &calls};
    bench_run(b, false, &rules);
    ck_assert_int_eq(calls, 4);
    for (size_t i = 0; i < 256; i++) ck_assert_double_eq(bench_result(b, "b")->value[i], exp(2));
    bench_close(b);
}
END_TEST

/* e is 0 except for rounding, and q tells whether it is above 0. */
static const char step[] =
    "block: t\ndtype: f32\ndims: {M: 1}\ninputs: {x: [M, 2], g: [M, 2], h: [M, 2]}\nops:\n  - {out: a, op: exp, in: [x]}\n"
    "  - {out: e, op: sub, in: [a, g]}\n  - {out: r, op: relu, in: [e]}\n  - {out: m, op: max, in: [r, 1.0e-20]}\n"
    "  - {out: q, op: div, in: [r, m]}\n  - {out: y, op: mul, in: [q, h]}\noutputs: {y: y}\n";

typedef struct choices {
    int of_e, of_y; /* elements whose value rounding decides */
} choices;
static bool only_e_and_y(void *context, const ir_value *v) { return (void)context, strcmp(v->name, "e") == 0 || strcmp(v->name, "y") == 0; }
static void choose_above(void *context, const ir_value *v, const bool *open, ref_tensor *t)
{
    choices *c = context;
    for (size_t i = 0; i < t->count; i++) {
        *(*v->name == 'e' ? &c->of_e : &c->of_y) += open[i];
        if (open[i] && *v->name == 'e') t->value[i] = 1e-7, t->error[i] = 0;
    }
}

START_TEST(a_choice_fixed_by_the_checker_adds_no_error)
{
    bench *b = open_text(step);
    choices seen = {0, 0};
    const ref_rules rules = {.stored = only_e_and_y, .choose = choose_above, .context = &seen};
    set(b, "x", (const double[]){1, 2}, 2);
    set(b, "g", (const double[]){(float)exp(1), (float)exp(2)}, 2);
    set(b, "h", (const double[]){3, 5}, 2);
    bench_run(b, false, &rules);
    ck_assert_int_eq(seen.of_e, 2);
    ck_assert_int_eq(seen.of_y, 0);
    ck_assert_double_eq_tol(bench_result(b, "y")->value[0], 3, 1e-6);
    ck_assert_double_eq_tol(bench_result(b, "y")->value[1], 5, 1e-6);
    ck_assert_double_lt(bench_result(b, "y")->error[1], 1e-5);
    bench_close(b);
}
END_TEST

/* A plan that folds g, or 1 + g, into the weight of every linear and stores the last result. */
typedef struct fold_rule {
    const bench *b;
    const char *factor;
    bool plus_one, stores_all;
} fold_rule;
static ref_fold fold_it(void *context, const ir_op *linear)
{
    const fold_rule *f = context;
    return (void)linear, (ref_fold){true, f->plus_one, graph_value(f->b->graph, f->factor)};
}
static bool fold_stores(void *context, const ir_value *v) { return ((fold_rule *)context)->stores_all || strcmp(v->name, "y") == 0; }

#define FOLDED(ops)                                                                                                                        \
    "block: t\ndtype: bf16\ndims: {M: 3, K: 8, N: 2}\ninputs: {x: [M, K]}\nparams: {g: [K], w: [N, K], b: [K]}\nops:\n" ops                \
    "  - {out: y, op: linear, in: [h, w]}\n  - {out: z, op: neg, in: [b]}\noutputs: {y: y, z: z}\n"
static const char by_hand[] = FOLDED("  - {out: s, op: row_max, in: [x]}\n  - {out: r, op: exp, in: [s]}\n"
                                     "  - {out: n, op: mul, in: [r, x]}\n  - {out: h, op: mul, in: [n, g]}\n");

START_TEST(a_folded_norm_rounds_the_weights_instead_of_the_row)
{
    bench *b = open_text(FOLDED("  - {out: h, op: rmsnorm, in: [x, g], eps: 1.0e-5, unit_offset: true}\n"));
    bench_fill(b, 9);
    fold_rule fold = {b, "g", true, false};
    const ref_rules rules = {.stored = fold_stores, .folded = fold_it, .context = &fold};
    bench_run(b, true, &rules);
    const double *x = bench_data(b, "x"), *g = bench_data(b, "g"), *w = bench_data(b, "w");
    for (size_t i = 0; i < 6; i++) {
        double squares = 0, sum = 0;
        for (size_t k = 0; k < 8; k++) squares += x[i / 2 * 8 + k] * x[i / 2 * 8 + k];
        for (size_t k = 0; k < 8; k++) sum += x[i / 2 * 8 + k] * dtype_round(dtype_bf16, (1 + g[k]) * w[i % 2 * 8 + k]);
        ck_assert_double_eq(bench_result(b, "y")->value[i], dtype_round(dtype_bf16, sum / sqrt(squares / 8 + 1e-5)));
    }
    bench_close(b);
}
END_TEST

START_TEST(a_factor_written_by_hand_is_folded_like_a_norms)
{
    bench *b = open_text(by_hand);
    bench_fill(b, 9);
    fold_rule fold = {b, "g", false, false};
    const ref_rules rules = {.stored = fold_stores, .folded = fold_it, .context = &fold};
    bench_run(b, true, &rules);
    const double *x = bench_data(b, "x"), *g = bench_data(b, "g"), *w = bench_data(b, "w");
    for (size_t i = 0; i < 6; i++) {
        double largest = -INFINITY, sum = 0;
        for (size_t k = 0; k < 8; k++) largest = fmax(largest, x[i / 2 * 8 + k]);
        for (size_t k = 0; k < 8; k++) sum += x[i / 2 * 8 + k] * dtype_round(dtype_bf16, g[k] * w[i % 2 * 8 + k]);
        ck_assert_double_eq(bench_result(b, "y")->value[i], dtype_round(dtype_bf16, sum * exp(largest)));
    }
    bench_close(b);
}
END_TEST

/* An error e in r shifts all of its row in the same direction, which a sum does not average out; it counts once and is nearly all of the
 * error. */
START_TEST(the_error_of_a_row_scalar_applies_to_its_whole_row)
{
    char text[sizeof by_hand];
    memcpy(text, by_hand, sizeof text);
    memcpy(strstr(text, "bf16"), "f32 ", 4);
    bench *b = open_text(text);
    for (size_t i = 0; i < 24; i++) bench_data(b, "x")[i] = 16;
    for (size_t k = 0; k < 8; k++) bench_data(b, "g")[k] = 1;
    for (size_t k = 0; k < 16; k++) bench_data(b, "w")[k] = 1;
    fold_rule fold = {b, "g", false, false};
    const ref_rules rules = {.stored = fold_stores, .folded = fold_it, .context = &fold};
    bench_run(b, false, &rules);
    const ref_tensor *r = bench_result(b, "r"), *y = bench_result(b, "y");
    ck_assert_double_gt(r->error[0], 0);
    for (size_t i = 0; i < 6; i++) {
        const double of_row = r->error[i / 2] / r->value[i / 2] * y->value[i];
        ck_assert_msg(y->error[i] >= of_row && y->error[i] < 1.2 * of_row, "%g, of r %g", y->error[i], of_row);
    }
    bench_close(b);
}
END_TEST

START_TEST(a_requested_input_is_copied_with_its_errors)
{
    bench *b = open_text(by_hand);
    bench_fill(b, 9);
    double error[24];
    ref_tensor *given = &b->data[graph_value(b->graph, "x")->id];
    for (int i = 0; i < 24; i++) error[i] = i;
    given->error = error;
    bench_run(b, false, NULL);
    const ref_tensor *x = bench_result(b, "x");
    ck_assert(x->value != given->value && x->error != error);
    for (int i = 0; i < 24; i++) ck_assert(x->value[i] == given->value[i] && x->error[i] == error[i]);
    given->error = NULL;
    bench_close(b);
}
END_TEST

/* Values are kept until the product that folds them has used them. */
START_TEST(a_folded_product_needs_its_operand_and_two_ops_before_it)
{
    static const char *const names[] = {"n", "g", "r", "x", NULL};
    bench *b = open_text(by_hand);
    const ir_value *needs[ref_fold_most_needs];
    ref_fold_needs(graph_value(b->graph, "y")->def, needs);
    for (int i = 0; i < ref_fold_most_needs; i++) {
        ck_assert_msg(!needs[i] == !names[i < 4 ? i : 4], "need %d", i);
        if (needs[i]) ck_assert_str_eq(needs[i]->name, names[i]);
    }
    bench_close(b);
}
END_TEST

static const struct {
    const char *yaml, *factor;
    bool plus_one, stores_all, allowed;
} fold_cases[] = {
    {by_hand, "g", false, false, true},
    {by_hand, "g", true, false, false},
    {by_hand, "b", false, false, false},
    {by_hand, "nobody", false, false, false},
    {by_hand, "r", false, false, false},
    {by_hand, "g", false, true, false}, /* h is stored, multiplied by g already */
    /* the norm has no factor per row */
    {FOLDED("  - {out: n, op: mul, in: [x, x]}\n  - {out: h, op: mul, in: [n, g]}\n"), "g", false, false, true},
    {FOLDED("  - {out: h, op: layernorm, in: [x, g]}\n"), "g", false, false, true},
    {FOLDED("  - {out: h, op: layernorm, in: [x, g, b]}\n"), "g", false, false, false},
    {FOLDED("  - {out: h, op: rmsnorm, in: [x, g]}\n"), "g", true, false, false},
    {FOLDED("  - {out: u, op: add, in: [1, g]}\n  - {out: h, op: rmsnorm, in: [x, u]}\n"), "g", true, false, true},
    {FOLDED("  - {out: u, op: add, in: [g, 2]}\n  - {out: h, op: rmsnorm, in: [x, u]}\n"), "g", true, false, false},
    {FOLDED("  - {out: h, op: add, in: [x, g]}\n"), "g", false, false, false},
    {FOLDED("  - {out: h, op: div, in: [x, g]}\n"), "g", false, false, false}};
enum { fold_case_count = sizeof fold_cases / sizeof *fold_cases };

START_TEST(a_plan_folds_only_a_factor_of_the_product_s_operand)
{
    for (int i = 0; i < fold_case_count; i++) {
        bench *b = open_text(fold_cases[i].yaml);
        bench_fill(b, 9);
        fold_rule fold = {b, fold_cases[i].factor, fold_cases[i].plus_one, fold_cases[i].stores_all};
        const ref_rules rules = {.stored = fold_stores, .folded = fold_it, .context = &fold};
        const bool taken = ref_run(b->graph, b->inputs, true, &rules, b->results, b->message, sizeof b->message);
        ck_assert_msg(taken == fold_cases[i].allowed, "case %d: %s", i, taken ? "taken" : b->message);
        if (!taken) ck_assert_ptr_nonnull(strstr(b->message, "reference: linear %y: the plan folds "));
        bench_close(b);
    }
}
END_TEST

/* A max, relu or broadcast makes many elements equal: they share one rounding and count as one element in the mean. */
START_TEST(equal_elements_count_once_in_the_spread)
{
    enum { count = 2000 };
    double value[count], error[count], got[count];
    const ref_tensor t = {.value = value, .error = error, .count = count};
    const int same[] = {0, 0, 1500, 1900}; /* elements that are equal */
    const double off[] = {0.1, 0.25, 0.1, 0.1}, expected[] = {0.1, 0.25, sqrt((500 * 0.1 * 0.1 + 0.3 * 0.3) / 501), 0};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count; i++) {
            const bool equal = i < same[k];
            value[i] = equal ? 3 : 1 + i, error[i] = 1e-3;
            got[i] = value[i] + (equal ? 0.3 : off[k]) * ref_sigmas * error[i];
        }
        ck_assert_double_eq_tol(ref_compare(&t, got).spread, expected[k], 1e-9);
    }
}
END_TEST

/* Of equal ratios the first is named; of equal elements the worst counts. */
START_TEST(the_first_of_equal_ratios_and_the_worst_of_equal_elements_count)
{
    enum { pairs = 300 };
    double value[2 * pairs], error[2 * pairs], got[2 * pairs];
    for (int i = 0; i < 2 * pairs; i++) {
        value[i] = i / 2, error[i] = 1;
        got[i] = value[i] + ((i / 2 + i) % 2 ? 1.8 : 0.6);
    }
    const ref_tensor t = {.value = value, .error = error, .count = 2 * pairs};
    const ref_verdict v = ref_compare(&t, got);
    ck_assert_double_eq_tol(v.ratio, 0.3, 1e-12);
    ck_assert_double_eq_tol(v.spread, 0.3, 1e-12);
    for (int i = 0; i < 2 * pairs; i++) value[i] = 0, got[i] = 3;
    ck_assert_uint_eq(ref_compare(&t, got).worst, 0);
}
END_TEST

START_TEST(verdicts_handle_infinities_and_nan)
{
    double value[] = {1, NAN, INFINITY, 7e4, 0, 2}, error[] = {0.5, 0, 0, 1, INFINITY, 0};
    double got[] = {4, NAN, INFINITY, 7e4, 55, 2};
    const ref_tensor t = {.value = value, .error = error, .count = 6};
    ref_verdict v = ref_compare(&t, got);
    ck_assert_double_eq(v.ratio, 1); /* 3 of 6 * 0.5 */
    ck_assert_uint_eq(v.worst, 0);
    ck_assert_uint_eq(v.unjudged, 1);
    got[4] = ref_unwritten(); /* could not be judged, but was never written */
    ck_assert(isinf(ref_compare(&t, got).ratio));
    got[4] = NAN, got[1] = ref_unwritten();
    ck_assert(isinf(ref_compare(&t, got).ratio));
    ck_assert_uint_eq(ref_compare(&t, got).worst, 1);
    got[1] = NAN, got[2] = -INFINITY;
    ck_assert(isinf(ref_compare(&t, got).ratio));
    got[2] = INFINITY, got[3] = INFINITY;
    ck_assert(isinf(ref_compare(&t, got).ratio));
    ck_assert_uint_eq(ref_compare(&t, got).worst, 3);
    got[5] = 2.0000001; /* exact values leave no room */
    ck_assert(isinf(ref_compare(&t, got).ratio));
    got[5] = 2, got[0] = NAN;
    ck_assert(isinf(ref_compare(&t, got).ratio));
    got[0] = 1, got[1] = 0;
    ck_assert(isinf(ref_compare(&t, got).ratio));
}
END_TEST

/* One number per row through ops; only y is stored. */
static const ref_tensor *through(bench **b, const char *type, const char *ops, const double *x, bool round_stored)
{
    static char yaml[1024];
    snprintf(yaml, sizeof yaml, "block: t\ndtype: %s\ndims: {M: 4}\ninputs: {x: {shape: [M], dtype: f32}}\nops:\n%soutputs: {y: y}\n", type,
             ops);
    *b = open_text(yaml);
    set(*b, "x", x, 4);
    const ref_rules rules = {.stored = only_y};
    bench_run(*b, round_stored, &rules);
    return bench_result(*b, "y");
}
#define OP(out, op, in) "  - {out: " out ", op: " op ", in: [" in "]}\n"

START_TEST(a_function_outside_its_domain_is_certainly_nan)
{
    bench *b;
    const ref_tensor *y =
        through(&b, "f32", OP("a", "mul", "x, 3") OP("b", "log", "a") OP("y", "exp", "b"), (const double[]){-1, 2, -1e-9, 0}, true);
    ck_assert(isnan(y->value[0]) && y->error[0] == 0);
    ck_assert(isfinite(y->error[1]));
    ck_assert(isnan(y->value[2]) && y->error[2] == 0);
    ck_assert(y->value[3] == 0 && y->error[3] == 0); /* exp(log 0), exactly */
    bench_close(b);
}
END_TEST

START_TEST(values_that_rounding_decides_are_unknown_in_all_later_ops)
{
    static const char *const ops[] = {OP("a", "sub", "x, 1.1") OP("b", "log", "a") OP("y", "tanh", "b"),
                                      OP("a", "sub", "x, 1.1") OP("b", "sqrt", "a") OP("y", "relu", "b"),
                                      OP("a", "sub", "x, 1.1") OP("b", "div", "1, a") OP("y", "sigmoid", "b"),
                                      OP("a", "sub", "x, 1.1") OP("b", "rsqrt", "a") OP("y", "neg", "b")};
    for (size_t i = 0; i < 4; i++) {
        bench *b;
        const ref_tensor *y = through(&b, "f32", ops[i], (const double[]){1.1f, 7, 1.0999999f, 0.5}, true);
        ck_assert_msg(isinf(y->error[0]) && isinf(y->error[2]), "%s", ops[i]);
        ck_assert_msg(isfinite(y->error[1]) && isfinite(y->error[3]), "%s", ops[i]);
        bench_close(b);
    }
}
END_TEST

START_TEST(sums_of_nan_are_nan_and_sums_of_unknown_values_are_unknown)
{
    const char *yaml =
        "block: t\ndtype: f32\ndims: {M: 4, K: 3}\ninputs: {x: [M, K]}\nparams: {w: [2, K]}\nops:\n"
        "  - {out: a, op: sub, in: [x, 0.1]}\n  - {out: b, op: log, in: [a]}\n  - {out: l, op: linear, in: [b, w]}\n"
        "  - {out: s, op: row_sum, in: [b]}\n  - {out: m, op: row_max, in: [b]}\n  - {out: y, op: add, in: [l, s]}\n"
        "outputs: {y: y, m: m}\n";
    bench *b = open_text(yaml);
    set(b, "x", (const double[]){1, 2, 3, -1, 2, 3, 1, 2, INFINITY, 1, 2, 3}, 12);
    set(b, "w", (const double[]){1, 1, 1, 1, 1, -1}, 6);
    const ref_rules rules = {.stored = only_y};
    for (int unknown = 0; unknown < 2; unknown++) {
        if (unknown) bench_data(b, "x")[9] = 0.1f; /* 0.1f - 0.1 in float32: log of 0 or of a little */
        bench_run(b, true, &rules);
        const ref_tensor *l = bench_result(b, "l"), *s = bench_result(b, "s"), *m = bench_result(b, "m");
        ck_assert(isnan(l->value[2]) && isnan(s->value[1]) && isnan(m->value[1]));
        ck_assert(isinf(l->value[4]) && l->value[5] == -INFINITY && isinf(s->value[2]));
        for (int row = 1; row < 3; row++) ck_assert(unknown || (l->error[2 * row] == 0 && s->error[row] == 0));
        ck_assert(isfinite(l->error[0]) && isfinite(s->error[0]));
        ck_assert_int_eq(isinf(l->error[6]) != 0, unknown);
        ck_assert_int_eq(isinf(s->error[3]) != 0, unknown);
        ck_assert_int_eq(isinf(bench_result(b, "y")->error[7]) != 0, unknown);
    }
    bench_close(b);
}
END_TEST

/* The first row's terms surely fit, those of the second and third only in some order, those of the last two in none. A mean may be a sum of
 * terms that are divided one by one. */
START_TEST(sums_with_partial_sums_beyond_f32_are_unknown)
{
    static const char *const ops[] = {"row_sum", "row_mean", "sum, axis: 1, keepdim: true", "mean, axis: 1, keepdim: true"};
    static const double x[] = {3e38, -3e38, 1, 3e38, 3e38, -3e38, INFINITY, -3e38, -3e38, 3e38, 3e38, 3e38, INFINITY, 3e38, 3e38};
    static const bool known[2][5] = {{true, false, false, true, true}, {true, false, false, false, true}};
    for (int i = 0; i < 4; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml, "block: t\ndtype: f32\ninputs: {x: [5, 3]}\nops: [{out: y, in: [x], op: %s}]\noutputs: {y: y}\n",
                 ops[i]);
        bench *b = open_text(yaml);
        set(b, "x", x, 15);
        const ref_tensor *y = run(b, "y");
        for (int row = 0; row < 5; row++) ck_assert_msg(isfinite(y->error[row]) == known[i % 2][row], "%s: row %d", ops[i], row);
        ck_assert(y->value[4] == INFINITY && (i % 2 || y->value[3] == INFINITY));
        bench_close(b);
    }
}
END_TEST

START_TEST(values_too_large_for_a_dtype_are_infinite)
{
    bench *b;
    for (int rounded = 0; rounded < 2; rounded++) {
        const ref_tensor *y = through(&b, "f16", OP("y", "mul", "x, 4"), (const double[]){20000, -20000, 16375, 16000}, rounded);
        ck_assert(y->value[0] == INFINITY && y->error[0] == 0 && y->value[1] == -INFINITY && y->error[1] == 0);
        ck_assert(isinf(y->error[2])); /* within half a step of overflow */
        ck_assert(y->value[3] == 64000 && isfinite(y->error[3]));
        bench_close(b);
        /* a is not stored, so the range of f16 does not matter, but that of float32 does */
        y = through(&b, "f16", OP("a", "mul", "x, 4") OP("y", "mul", "a, 0.25"), (const double[]){20000, -20000, 1e38, 0}, rounded);
        ck_assert(fabs(y->value[0] - 20000) <= 8 && fabs(y->value[1] + 20000) <= 8);
        ck_assert(y->value[2] == INFINITY && y->error[2] == 0);
        bench_close(b);
    }
}
END_TEST

/* Rows of two numbers: the squares of the first fit into f32, those of the third do not, the second is nearer to the limit than rounding,
 * and of the fourth products may overflow as well. */
START_TEST(norms_whose_squares_overflow_f32_are_zero_or_unknown)
{
    static const double x[] = {1e19, -1e19, 0x1.6a09e6p63, -0x1.6a09e6p63, 1e25, -3e25, 2e38, -2e38}; /* twice 2^63.5 squared is 2^128 */
    static const struct {
        const char *op;
        double zero, one; /* results for rows without and with finite squares */
    } norms[] = {{"rmsnorm, in: [x, w]", 0, 2}, {"layernorm, in: [x, w, c]", 5, 7}, {"l2norm, in: [x]", 0, 0.70710678}};
    for (int i = 0; i < 3; i++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml,
                 "block: t\ndtype: f32\ndims: {M: 4, K: 2}\ninputs: {x: [M, K], v: [K]}\nparams: {w: [K], c: [K]}\nops:\n"
                 "  - {out: h, op: %s}\n  - {out: u, op: mul, in: [w, v]}\n  - {out: t, op: add, in: [u, c]}\n"
                 "  - {out: y, op: add, in: [h, 0]}\noutputs: {y: y, t: t}\n", norms[i].op);
        bench *b = open_text(yaml);
        set(b, "x", x, 8);
        set(b, "w", (const double[]){2, 2}, 2);
        set(b, "c", (const double[]){5, 5}, 2);
        const ref_rules rules = {.stored = only_y};
        bench_run(b, true, &rules);
        const ref_tensor *y = bench_result(b, "y");
        ck_assert_double_eq_tol(y->value[0], norms[i].one, 1e-6);
        ck_assert(isfinite(y->error[0]));
        ck_assert(isinf(y->error[2]) && isinf(y->error[3]));
        ck_assert(y->value[4] == norms[i].zero && y->value[5] == norms[i].zero && y->error[5] < 1e-5);
        ck_assert(isinf(y->error[6]) && isinf(y->error[7]));
        bench_close(b);
    }
}
END_TEST

/* Squares below 2^-126 may be flushed to 0, and with them a divisor to which no larger eps is added. */
START_TEST(norms_whose_squares_may_be_flushed_to_0_are_unknown)
{
    static const double x[] = {0x1p-40, -0x1p-40, 0x1p-70, -0x1p-70, 0, 0x1p-100, 0, 0};
    static const struct {
        const char *op;
        bool divides_by_0; /* by the norm of a row of zeros, whose result is certainly NaN */
        bool added; /* eps, which is larger than the squares of rows 1 and 2 */
    } norms[] = {{"rmsnorm, in: [x], eps: 0", true, false},      {"layernorm, in: [x], eps: 0", true, false},
                 {"l2norm, in: [x], eps: 1.0e-35", false, false}, {"rmsnorm, in: [x], eps: 1.0e-30", false, true},
                 {"layernorm, in: [x], eps: 1.0e-30", false, true}, {"l2norm, in: [x]", false, true}};
    for (int i = 0; i < 6; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml, "block: t\ndtype: f32\ndims: {M: 4, K: 2}\ninputs: {x: [M, K]}\nops:\n  - {out: y, op: %s}\n"
                 "outputs: {y: y}\n", norms[i].op);
        bench *b = open_text(yaml);
        set(b, "x", x, 8);
        bench_run(b, true, NULL);
        const ref_tensor *y = bench_result(b, "y");
        for (int k = 0; k < 2; k++) {
            ck_assert(isfinite(y->error[k]));
            for (int row = 1; row < 3; row++) ck_assert_int_eq(isfinite(y->error[2 * row + k]) != 0, norms[i].added);
            ck_assert(norms[i].divides_by_0 ? isnan(y->value[6 + k]) : y->value[6 + k] == 0);
            ck_assert(y->error[6 + k] == 0);
        }
        bench_close(b);
    }
}
END_TEST

/* ---- rounding of functions, in units of f32 at 2 (and at 1.5), near which each result lies */
START_TEST(a_function_is_allowed_the_roundings_that_it_makes)
{
    static const struct {
        const char *op;
        double units;
    } functions[] = {{"neg, in: [x]", 0},
                     {"relu, in: [x]", 0},
                     {"max, in: [x, y]", 0},
                     {"min, in: [x, y]", 0},
                     {"add, in: [x, y]", 3.5},
                     {"sub, in: [x, y]", 0.5},
                     {"mul, in: [x, y]", 3},
                     {"square, in: [x]", 4},
                     {"sqrt, in: [x]", M_SQRT2},
                     {"div, in: [x, y]", 2 * (2 / 1.5)},
                     {"rsqrt, in: [x]", 2 * M_SQRT1_2},
                     {"log, in: [x]", 2 * M_LN2},
                     {"exp, in: [x]", 4 * 7.38905609893065},
                     {"sigmoid, in: [x]", (3 + 2 * 0.1192029220221176) * 0.8807970779778823},
                     {"silu, in: [x]", 3 * 1.7615941559557649},
                     {"sin, in: [x]", 2},
                     {"cos, in: [x]", 2},
                     {"tanh, in: [x]", 2},
                     {"gelu_erf, in: [x]", 4},
                     {"gelu_tanh, in: [x]", 4}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char yaml[256];
        snprintf(
            yaml, sizeof yaml,
            "block: t\ndtype: f32\ninputs: {x: [1], y: [1]}\nops:\n  - {out: z, op: %s}\n"
            "  - {out: w, op: add, in: [x, y]}\noutputs: {z: z, w: w}\n",
            functions[i].op);
        bench *b = open_text(yaml);
        set(b, "x", (const double[]){2}, 1);
        set(b, "y", (const double[]){1.5}, 1);
        const ref_tensor *z = run(b, "z");
        ck_assert_msg(fabs(z->error[0] / REF_UNIT - functions[i].units) <= 1e-9, "%s: %.9g", functions[i].op, z->error[0] / REF_UNIT);
        bench_close(b);
    }
}
END_TEST

/* ---- rounding of sums */
START_TEST(a_sum_has_the_rounding_of_its_partial_sums)
{
    static const struct {
        double terms[3];
        int count;
        double squared; /* in u^2: squares of partial sums (likely ones if larger), squares of terms, and a sixth of those per addition */
    } sums[] = {{{3}, 1, 9},
                {{3, 4}, 2, 9 + 49 + (1.0 / 6 + 1) * 25},
                {{1, -1, 1}, 3, 1 + 0 + 1 + (2.0 / 6 + 1) * 3},
                {{-5, 5}, 2, 25 + (1.0 / 6 + 1) * 50}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        ref_sum s = {0};
        for (int k = 0; k < sums[i].count; k++) ref_sum_add(&s, sums[i].terms[k], 0);
        near(ref_sum_rounding(&s) / (REF_UNIT * REF_UNIT), sums[i].squared);
    }
    ref_sum blocks = {0}, whole = {.whole = true};
    double in_order = 0;
    const double n = 8191, L = REF_CHAIN, m = n / L, terms = 8192, alike = terms * n / 36 * terms * terms; /* for equal terms */
    for (int k = 0; k < 8192; k++) {
        ref_sum_add(&blocks, 1, 0), ref_sum_add(&whole, 1, 0);
        in_order += (double)(k % 4096 + 1) * (k % 4096 + 1) + (k % 4096 == 4095 ? (double)(k + 1) * (k + 1) : 0);
    }
    near(ref_sum_rounding(&blocks) / (REF_UNIT * REF_UNIT),
         fmax(in_order, (L / m / 3 + (m + 1) / 3) * terms * terms) + (L / 2 + m / 6 + 1) * terms + alike);
    near(ref_sum_rounding(&whole) / (REF_UNIT * REF_UNIT),
         fmax(8192.0 * 8193 * 16385 / 6, n / 3 * terms * terms) + (n / 6 + 1) * terms + alike);
    ck_assert_double_eq(ref_repeated(1000, 49), 0); /* so many equal numbers of 16 bits are chance */
    near(ref_repeated(1000, 50), 1000.0 * 50 / 36);
}
END_TEST

/* ---- work in threads */
typedef struct shared_work {
    pthread_t caller;
    atomic_int begun_elsewhere, done;
} shared_work;

static bool slept(long long ns) { return nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL) == 0; }

/* The caller continues once another thread is at work, which takes longer than all the rest. */
static void work_slowly(void *context, size_t i)
{
    shared_work *w = context;
    (void)i;
    if (!pthread_equal(pthread_self(), w->caller)) {
        atomic_fetch_add(&w->begun_elsewhere, 1);
        slept(200000000);
    } else
        for (int turn = 0; turn < 500 && processor_count() > 1 && !w->begun_elsewhere; turn++) slept(1000000);
    atomic_fetch_add(&w->done, 1);
}

START_TEST(parallel_work_is_done_when_the_call_returns)
{
    shared_work w = {.caller = pthread_self()};
    ref_parallel(3, work_slowly, &w);
    ck_assert_int_eq(w.done, 3);
}
END_TEST

/* Six groups of a sampled run: the first, the last, and gaps that differ by at most one. */
START_TEST(sampled_groups_of_rows_are_evenly_spread)
{
    const ref_rules rules = {.sampled = true};
    const ref_state r = {.rules = &rules};
    for (size_t groups = 7; groups < 200; groups++) {
        const size_t rows = groups * ref_row_group - groups % ref_row_group;
        size_t taken = 0, last = 0, least = groups, most = 0;
        for (size_t i = 0; i < groups; i++) {
            if (!ref_takes_group(&r, i, rows)) continue;
            if (taken++ && i - last < least) least = i - last;
            if (taken > 1 && i - last > most) most = i - last;
            last = i;
        }
        ck_assert_msg(taken == 6 && ref_takes_group(&r, 0, rows) && last == groups - 1 && most - least <= 1, "%zu of %zu, %zu to %zu apart",
                      taken, groups, least, most);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {without_a_mask_every_key_is_visible,
                                  a_causal_query_sees_keys_up_to_its_own,
                                  a_window_counts_the_query_itself,
                                  more_keys_than_queries_are_aligned_at_the_end,
                                  keys_beyond_a_length_are_hidden_and_no_keys_give_zero,
                                  a_cache_is_seen_up_to_each_sequences_own_position,
                                  an_append_writes_its_rows_and_nothing_beyond_the_capacity,
                                  without_causal_all_filled_rows_of_a_cache_are_seen,
                                  query_heads_share_key_heads_in_order,
                                  scores_are_scaled_and_capped,
                                  rope_turns_pairs_by_position_times_frequency,
                                  partial_rope_leaves_the_rest_of_a_head,
                                  rope_scalings_slow_the_frequencies_that_they_name,
                                  rope_starts_at_each_sequences_own_position,
                                  a_weight_may_be_stored_transposed,
                                  matmul_multiplies_batch_by_batch,
                                  norms_agree_with_their_definitions,
                                  softmax_adds_to_one_and_a_row_of_minus_infinities_is_zero,
                                  rows_are_reduced_over_their_last_axis,
                                  operands_are_stretched_from_the_right,
                                  functions_agree_with_their_definitions,
                                  functions_are_exact_far_in_their_tails,
                                  split_concat_and_reshape_only_move,
                                  a_reshape_keeps_the_dtype_of_its_operand,
                                  the_reference_has_its_own_defaults,
                                  a_graph_with_a_wrong_shape_or_dtype_is_refused,
                                  a_matrix_of_another_batch_is_refused,
                                  missing_or_wrong_data_is_refused_by_name,
                                  numbers_are_rounded_where_they_are_stored_and_by_cast,
                                  a_move_rounds_if_one_of_its_operands_was_not_rounded,
                                  a_checker_may_replace_computed_values,
                                  a_choice_fixed_by_the_checker_adds_no_error,
                                  a_folded_norm_rounds_the_weights_instead_of_the_row,
                                  a_factor_written_by_hand_is_folded_like_a_norms,
                                  the_error_of_a_row_scalar_applies_to_its_whole_row,
                                  a_requested_input_is_copied_with_its_errors,
                                  a_folded_product_needs_its_operand_and_two_ops_before_it,
                                  a_plan_folds_only_a_factor_of_the_product_s_operand,
                                  a_function_outside_its_domain_is_certainly_nan,
                                  values_that_rounding_decides_are_unknown_in_all_later_ops,
                                  sums_of_nan_are_nan_and_sums_of_unknown_values_are_unknown,
                                  sums_with_partial_sums_beyond_f32_are_unknown,
                                  values_too_large_for_a_dtype_are_infinite,
                                  norms_whose_squares_overflow_f32_are_zero_or_unknown,
                                  norms_whose_squares_may_be_flushed_to_0_are_unknown,
                                  equal_elements_count_once_in_the_spread,
                                  the_first_of_equal_ratios_and_the_worst_of_equal_elements_count, verdicts_handle_infinities_and_nan,
                                  a_function_is_allowed_the_roundings_that_it_makes,
                                  a_sum_has_the_rounding_of_its_partial_sums,
                                  parallel_work_is_done_when_the_call_returns,
                                  sampled_groups_of_rows_are_evenly_spread};
    Suite *suite = suite_create("reference");
    TCase *c = tcase_create("reference");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
