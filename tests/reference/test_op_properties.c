/* Properties of single ops for any data: linearity, softmax rows that sum to 1, composition of rotations, masks, propagation of NaN. Each
 * spec is one or two kernels, in a CPU's geometry and in two of GPUs. */
#include "ir/graph/half.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {"host", "gfx942", "gfx1100"}; /* waves of 1, 64 and 32 */

static rig *open_yaml(const char *yaml, const char *target)
{
    return rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = target});
}

static const double *run_and_read(rig *r, const char *name)
{
    rig_run(r);
    return rig_read(r, name);
}

static bool all_zero(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (x[i] != 0) return false;
    return true;
}

/* ---- rows */
enum { rows = 5, columns = 37 };

START_TEST(rows_of_a_softmax_sum_to_1_and_rows_of_minus_infinity_are_0)
{
    rig *r = open_yaml(
        "block: small\ndtype: f32\ndims: {M: 5}\ninputs: {x: [M, 37]}\nops:\n  - {out: y, op: softmax, in: [x]}\noutputs: {y: y}\n",
        targets[_i]);
    double *x = rig_data(r, "x");
    for (int i = 0; i < columns; i++) x[columns + i] = -INFINITY, x[2 * columns + i] = i == 3 ? 80 : -INFINITY, x[3 * columns + i] *= 1e4;
    x[4 * columns + 7] = NAN;
    const double *y = run_and_read(r, "y");
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (int i = 0; i < columns; i++) sum += y[row * columns + i];
        if (row == 1) ck_assert(all_zero(y + columns, columns));
        else if (row == 4) ck_assert_msg(isnan(y[row * columns]), "NaN in a row must show");
        else ck_assert_msg(fabs(sum - 1) < 1e-6, "row %d sums to %.9g", row, sum);
    }
    ck_assert_double_eq(y[2 * columns + 3], 1);
    rig_judge(r);
    rig_close(r);
}
END_TEST

START_TEST(max_and_min_pass_nan_on)
{
    rig *r =
        open_yaml("block: small\ndtype: f32\ndims: {M: 5}\ninputs: {x: [M, 37], z: [M, 37]}\nops:\n"
                  "  - {out: most, op: max, in: [x, z]}\n  - {out: least, op: min, in: [x, z]}\n  - {out: high, op: row_max, in: [x]}\n"
                  "  - {out: low, op: row_min, in: [x]}\noutputs: {most: most, least: least, high: high, low: low}\n",
                  targets[_i]);
    double *x = rig_data(r, "x"), *z = rig_data(r, "z");
    x[0] = NAN, z[columns + 36] = NAN, x[2 * columns + 36] = NAN, x[3 * columns] = INFINITY, x[3 * columns + 1] = -INFINITY;
    rig_run(r);
    const double *most = rig_read(r, "most"), *least = rig_read(r, "least"), *high = rig_read(r, "high"), *low = rig_read(r, "low");
    for (int i = 0; i < rows * columns; i++) {
        const bool given = isnan(x[i]) || isnan(z[i]);
        ck_assert_msg(given ? isnan(most[i]) && isnan(least[i]) : most[i] == fmax(x[i], z[i]) && least[i] == fmin(x[i], z[i]), "element %d",
                      i);
    }
    ck_assert(isnan(high[0]) && isnan(low[0]) && isnan(high[2]) && isnan(low[2]));
    ck_assert(!isnan(high[1]) && !isnan(low[1]) && high[3] == INFINITY && low[3] == -INFINITY);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* ---- products */
/* x, z and 2x - z are all exact in f32, since x and z have 8 bits each. */
START_TEST(linear_is_linear)
{
    rig *r = open_yaml("block: small\ndtype: f32\ndims: {M: 5}\ninputs: {x: [M, 37]}\nparams: {w: [19, 37]}\nops:\n"
                       "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", targets[_i]);
    double *x = rig_data(r, "x"), both[2][rows * columns];
    const int y = rig_value(r, "y")->id, count = rows * 19;
    const double *part[2];
    double error[rows * 19] = {0};
    for (int k = 0; k < 3; k++) {
        rig_fill(r, (unsigned long long)k + 1);
        for (int i = 0; i < rows * columns; i++)
            x[i] = k < 2 ? (both[k][i] = nearbyint(x[i] * 32) / 32) : 2 * both[0][i] - both[1][i];
        for (int i = 0; i < 19 * columns; i++) rig_data(r, "w")[i] = (float)(0.1 * sin(i)); /* the same each time */
        rig_run(r);
        rig_judge(r);
        for (int i = 0; i < count; i++) error[i] += (k == 0 ? 2 : 1) * ref_sigmas * r->exact[y].error[i];
        if (k < 2) part[k] = rig_read(r, "y");
    }
    const double *whole = rig_read(r, "y");
    for (int i = 0; i < count; i++) ck_assert_double_le(fabs(whole[i] - (2 * part[0][i] - part[1][i])), error[i]);
    rig_close(r);
}
END_TEST

/* ---- rotations */
enum { tokens = 9, width = 16 };

static double dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void check_pairs(const double *x, const double *y, int rotary, bool half)
{
    for (int t = 0; t < tokens; t++)
        for (int i = 0; i < rotary / 2; i++) {
            const int a = t * width + (half ? i : 2 * i), b = half ? a + rotary / 2 : a + 1;
            ck_assert_msg(fabs(hypot(x[a], x[b]) - hypot(y[a], y[b])) < 1e-6, "token %d, pair %d", t, i);
        }
    for (int i = 0; i < tokens * width; i++)
        if (i % width >= rotary) ck_assert_double_eq(x[i], y[i]);
}

START_TEST(rope_turns_pairs_and_products_depend_on_relative_positions_only)
{
    rig *r = open_yaml("block: small\ndtype: f32\ndims: {S: 9}\ninputs: {x: [1, S, 16], at: {shape: [1], dtype: i32}}\nops:\n"
                       "  - {out: h, op: rope, in: [x], heads: 1, pairing: half, at: at}\n"
                       "  - {out: i, op: rope, in: [x], heads: 1, pairing: interleaved, at: at}\n"
                       "  - {out: p, op: rope, in: [x], heads: 1, pairing: half, rotary: 8, at: at}\noutputs: {h: h, i: i, p: p}\n",
                       targets[_i]);
    static const char *const names[] = {"h", "i", "p"};
    const double *x = rig_data(r, "x"), *early[3], *late;
    rig_data(r, "at")[0] = 0;
    rig_run(r);
    rig_judge(r);
    for (int k = 0; k < 3; k++) early[k] = rig_read(r, names[k]);
    check_pairs(x, early[0], width, true);
    check_pairs(x, early[1], width, false);
    check_pairs(x, early[2], 8, true);
    rig_data(r, "at")[0] = 300;
    rig_run(r);
    for (int k = 0; k < 3; k++) {
        late = rig_read(r, names[k]);
        ck_assert_msg(same_numbers(early[k], x, width) && !same_numbers(late, x, width), "position 0 does not turn, 300 does");
        for (int t = 0; t < tokens; t++)
            for (int u = 0; u < tokens; u++) /* an angle near 300 is rounded to 2^-15 */
                ck_assert_msg(fabs(dot(early[k] + t * width, early[k] + u * width, width) -
                                   dot(late + t * width, late + u * width, width)) < 2e-3,
                              "%s: tokens %d and %d", names[k], t, u);
    }
    rig_close(r);
}
END_TEST

enum { rope_sequences = 6, rope_heads = 2, rope_head = 64 };
static const int rope_positions[rope_sequences] = {0, 1, 4095, 65536, 131069, 100003};

/* Checks that `got` is a number within `most` of `exact`, rounded to the dtype. In 16 bits nearly always only one number qualifies. */
static void must_hold(double got, double exact, double most, dtype type, int row, int pair)
{
    const double low = type == dtype_f32 ? exact - most : dtype_round(type, exact - most),
                 high = type == dtype_f32 ? exact + most : dtype_round(type, exact + most);
    ck_assert_msg(got >= low && got <= high, "row %d, pair %d: %.9g, not %.9g to %.9g", row, pair, got, low, high);
}

/* Compares with the rotation by the angle position * theta^(-2i/64), computed in long double. The device's cosine and sine are off by at
 * most 2^-22 (templates/base/rope.h); both products and their sum are rounded. */
static void must_turn(const double *x, const double *y, dtype type)
{
    for (int row = 0; row < rope_sequences * 3 * rope_heads; row++)
        for (int i = 0; i < rope_head / 2; i++) {
            const long double angle =
                (rope_positions[row / rope_heads / 3] + row / rope_heads % 3) * powl(500000.0L, -2.0L * i / rope_head);
            const double low = x[row * rope_head + i], high = x[row * rope_head + rope_head / 2 + i], size = fabs(low) + fabs(high),
                         most = size * (0x1p-22 + 3 * 0x1p-24);
            const double c = (double)cosl(angle), s = (double)sinl(angle);
            must_hold(y[row * rope_head + i], low * c - high * s, most, type, row, i);
            must_hold(y[row * rope_head + rope_head / 2 + i], high * c + low * s, most, type, row, i);
        }
}

/* Rope alone, and after a product with the identity. */
START_TEST(rope_turns_by_the_angle_of_position_131071_too)
{
    static const char *const types[] = {"f32", "bf16", "f16"};
    dtype type;
    rig *r = rig_open(&(rig_request){.yaml =
        "block: small\ndtype: f32\ndims: {B: 6, S: 3}\ninputs: {x: [B, S, 128], at: {shape: [B], dtype: i32, range: [0, 131069]}}\n"
        "params: {w: [128, 128]}\nops:\n  - {out: y, op: rope, in: [x], heads: 2, pairing: half, theta: 500000, at: at}\n"
        "  - {out: l, op: linear, in: [x, w]}\n"
        "  - {out: z, op: rope, in: [l], heads: 2, pairing: half, theta: 500000, at: at}\noutputs: {y: y, z: z}\n",
        .level = fusion_tile, .target = targets[_i % 3], .dtype = types[_i / 3]});
    ck_assert(dtype_parse(types[_i / 3], &type));
    for (int b = 0; b < rope_sequences; b++) rig_data(r, "at")[b] = rope_positions[b];
    for (int i = 0; i < 128 * 128; i++) rig_data(r, "w")[i] = i % 129 == 0;
    rig_round(r);
    const double *y = run_and_read(r, "y");
    must_turn(rig_data(r, "x"), y, type);
    if (type != dtype_f32) must_turn(rig_data(r, "x"), rig_read(r, "z"), type); /* f32 products may be computed from tf32 terms */
    rig_close(r);
}
END_TEST

/* x / max(|x|, eps): rows of zeros, rows whose squares are 0 in f32, and rows around eps. */
START_TEST(l2norm_of_zero_tiny_and_large_rows)
{
    enum { rows = 8, columns = 24 };
    static const double sizes[rows] = {0, 1e-30, 1e-3 / 2, 1e-3, 2e-3, 1, 1e15, 3e-3};
    rig *r = open_yaml("block: small\ndtype: f32\ndims: {M: 8, D: 24}\ninputs: {x: [M, D]}\nops:\n"
                       "  - {out: y, op: l2norm, in: [x], eps: 1.0e-3}\noutputs: {y: y}\n", targets[_i]);
    double *x = rig_data(r, "x"), norm[rows] = {0};
    for (int i = 0; i < rows * columns; i++) norm[i / columns] += x[i] * x[i];
    for (int i = 0; i < rows * columns; i++) x[i] *= sizes[i / columns] / sqrt(norm[i / columns]);
    rig_round(r);
    const double *y = run_and_read(r, "y");
    rig_judge(r);
    ck_assert(all_zero(y, columns));
    for (int row = 1; row < rows; row++) {
        double size = 0;
        for (int i = 0; i < columns; i++) size += y[row * columns + i] * y[row * columns + i];
        ck_assert_double_eq_tol(sqrt(size), fmin(sizes[row] / 1e-3, 1), 1e-5);
    }
    rig_close(r);
}
END_TEST

/* 1 / s is infinite where s is less than 2^-128, and 0 where it is more than 2^126; x / s is neither. */
START_TEST(rows_are_divided_by_tiny_and_by_huge_numbers)
{
    enum { rows = 6, columns = 24 };
    static const double sizes[rows] = {0x1p-132, -0x1p-128, 0x1p-100, 3, 0x1p100, -0x1p127};
    rig *r = rig_open(&(rig_request){.yaml = "block: small\ndtype: bf16\ndims: {M: 6, D: 24}\ninputs: {x: [M, D], s: [M, 1]}\n"
                                             "params: {w: [D]}\nops:\n  - {out: z, op: div, in: [x, s]}\n"
                                             "  - {out: y, op: rmsnorm, in: [z, w], eps: 1.0e-5}\noutputs: {y: y, z: z}\n",
                                     .level = fusion_tile,
                                     .target = "sm_90a"});
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[0].source.head, "#define TF_QUICK 1"));
    double *x = rig_data(r, "x"), *s = rig_data(r, "s");
    for (int row = 0; row < rows; row++) s[row] = sizes[row];
    for (int i = 0; i < rows * columns; i++) x[i] = sizes[i / columns] * ldexp(i % columns - 11, -3);
    rig_round(r);
    rig_run(r);
    rig_judge(r);
    const double *z = rig_read(r, "z");
    for (int i = 0; i < rows * columns; i++) ck_assert_double_eq_tol(z[i], x[i] / sizes[i / columns], 0x1p-7);
    rig_close(r);
}
END_TEST

/* ---- attention */
enum { batch = 3, queries = 41, heads = 2, keys_window = 5 };

#define ATTENTION(more, op)                                                                                                                \
    "block: small\ndtype: f32\ndims: {B: 3, S: 41}\ndynamic: {S: [1, 64]}\ninputs: {q: [B, S, 32], k: [B, S, 16], v: [B, S, 16]" more      \
    "}\nops:\n"                                                                                                                            \
    "  - {out: y, op: attention, in: [q, k, v], heads: 2, kv_heads: 1, " op "}\noutputs: {y: y}\n"

/* Scores of thousands become +-3 by the cap, so each key has at least e^-6 / 5 of a row's weight: v is 1 for one key and 0 for the others,
 * which shows that weight. */
static void check_softcap(rig *r)
{
    double *q = rig_data(r, "q"), *v = rig_data(r, "v");
    for (size_t i = 0; i < rig_count(r, "q"); i++) q[i] *= 1e4;
    for (size_t i = 0; i < rig_count(r, "v"); i++) v[i] = i / 16 % queries == 20;
    const double *y = run_and_read(r, "y");
    for (int t = 20; t < 20 + keys_window; t++)
        for (int i = 0; i < 32; i++) ck_assert_double_ge(y[t * 32 + i], exp(-6) / keys_window);
}

START_TEST(a_window_hides_what_lies_before_it_and_a_softcap_bounds_scores)
{
    rig *r = open_yaml(ATTENTION("", "causal: true, window: 5, softcap: 3"), targets[_i]);
    double *k = rig_data(r, "k"), *v = rig_data(r, "v");
    const double *y = run_and_read(r, "y");
    rig_judge(r);
    static const int changed[] = {0, 8, 33, 40};
    for (size_t c = 0; c < sizeof changed / sizeof *changed; c++) {
        double kept[2];
        memcpy(kept, (double[]){k[changed[c] * 16], v[changed[c] * 16]}, sizeof kept);
        k[changed[c] * 16] = v[changed[c] * 16] = NAN;
        const double *after = run_and_read(r, "y");
        for (int t = 0; t < queries; t++) {
            const bool sees = t >= changed[c] && t - changed[c] < keys_window;
            ck_assert_msg(same_numbers(y + t * 32, after + t * 32, 32) == !sees, "query %d, key %d", t, changed[c]);
        }
        k[changed[c] * 16] = kept[0], v[changed[c] * 16] = kept[1];
    }
    check_softcap(r);
    rig_close(r);
}
END_TEST

START_TEST(lengths_hide_keys_and_a_sequence_of_none_is_0)
{
    rig *r = open_yaml(ATTENTION(", n: {shape: [B], dtype: i32, range: [0, S]}", "lengths: n"), targets[_i]);
    static const int lengths[batch] = {17, 0, queries};
    double *k = rig_data(r, "k"), *v = rig_data(r, "v");
    for (int b = 0; b < batch; b++) rig_data(r, "n")[b] = lengths[b];
    rig_run(r);
    rig_judge(r);
    const double *y = rig_read(r, "y");
    for (int i = 0; i < batch * queries * 16; i++)
        if (i / 16 % queries >= lengths[i / 16 / queries]) k[i] = v[i] = i % 2 ? NAN : INFINITY;
    const double *after = run_and_read(r, "y");
    ck_assert_msg(same_numbers(y, after, batch * queries * 32), "keys beyond the length are read");
    ck_assert_msg(all_zero(after + queries * 32, queries * 32), "a sequence without keys is not 0");
    ck_assert(!all_zero(after, 32) && !all_zero(after + 2 * queries * 32, 32));
    rig_close(r);
}
END_TEST

START_TEST(a_window_beyond_the_length_sees_nothing_and_gives_0)
{
    rig *r = open_yaml(ATTENTION(", n: {shape: [B], dtype: i32, range: [0, S]}", "causal: true, window: 5, lengths: n"), targets[_i]);
    static const int lengths[batch] = {17, 0, queries};
    for (int b = 0; b < batch; b++) rig_data(r, "n")[b] = lengths[b];
    const double *y = run_and_read(r, "y");
    rig_judge(r);
    for (int b = 0; b < batch; b++)
        for (int t = 0; t < queries; t++) {
            const bool none = lengths[b] == 0 || t - keys_window + 1 >= lengths[b];
            ck_assert_msg(all_zero(y + (b * queries + t) * 32, 32) == none, "sequence %d, query %d", b, t);
        }
    rig_close(r);
}
END_TEST

/* The keys of a cache are split among workgroups: a split without a visible key must not change the result. */
START_TEST(splits_without_visible_keys_change_no_result)
{
    enum { capacity = 1300 };
    rig *r = open_yaml(
        "block: small\ndtype: f32\ndims: {B: 3, L: 1300}\n"
        "inputs: {q: [B, 1, 32], x: [B, 1, 16], pos: {shape: [B], dtype: i32, range: [0, L-1]},\n"
        "  n: {shape: [B], dtype: i32, range: [0, L]}}\nstate: {cache: [B, 1, L, 16]}\nops:\n"
        "  - {out: c, op: kv_append, in: [x], state: cache, at: pos}\n"
        "  - {out: y, op: attention, in: [q, c, c], heads: 2, kv_heads: 1, lengths: n}\noutputs: {y: y}\n",
        targets[_i]);
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[1].spec_header, _i ? "splits = 6" : "splits = 3"));
    static const int lengths[batch] = {1, 0, 1266};
    double *cache = rig_data(r, "cache");
    for (int b = 0; b < batch; b++) rig_data(r, "n")[b] = lengths[b], rig_data(r, "pos")[b] = lengths[b] ? lengths[b] - 1 : 0;
    for (int i = 0; i < batch * capacity * 16; i++)
        if (i / 16 % capacity >= lengths[i / 16 / capacity]) cache[i] = NAN;
    const double *y = run_and_read(r, "y"), *x = rig_data(r, "x");
    rig_judge(r);
    ck_assert_msg(all_zero(y + 32, 32), "a sequence without keys is not 0");
    for (int h = 0; h < heads; h++)
        for (int d = 0; d < 16; d++) ck_assert_msg(fabs(y[h * 16 + d] - x[d]) < 1e-6, "of one key the result is its value");
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("properties of ops");
    TCase *c = tcase_create("ops");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, rows_of_a_softmax_sum_to_1_and_rows_of_minus_infinity_are_0, 0, 3);
    tcase_add_loop_test(c, max_and_min_pass_nan_on, 0, 3);
    tcase_add_loop_test(c, linear_is_linear, 0, 1);
    tcase_add_loop_test(c, rope_turns_pairs_and_products_depend_on_relative_positions_only, 0, 1);
    /* Each target once and each dtype once. */
    add_some_now(c, suite_long(suite, "more angles", 120), rope_turns_by_the_angle_of_position_131071_too, 9, (const int[]){0, 4, 8, -1});
    tcase_add_loop_test(c, l2norm_of_zero_tiny_and_large_rows, 0, 3);
    tcase_add_test(c, rows_are_divided_by_tiny_and_by_huge_numbers);
    tcase_add_loop_test(c, a_window_hides_what_lies_before_it_and_a_softcap_bounds_scores, 0, 3);
    tcase_add_loop_test(c, lengths_hide_keys_and_a_sequence_of_none_is_0, 0, 3);
    tcase_add_loop_test(c, a_window_beyond_the_length_sees_nothing_and_gives_0, 0, 1);
    tcase_add_loop_test(c, splits_without_visible_keys_change_no_result, 0, 3);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
