/* Half precision and random data. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ir/graph/half.h"
#include "runtime/data/random.h"

/* ---- half precision: every bit pattern, and every midpoint between two numbers */
typedef struct half_type {
    dtype type;
    uint16_t (*from)(double);
    double (*to)(uint16_t);
    unsigned infinity;
} half_type;
static const half_type halves[] = {{dtype_f16, f16_from_double, f16_to_double, 0x7c00},
                                   {dtype_bf16, bf16_from_double, bf16_to_double, 0x7f80}};

START_TEST(every_16_bit_number_survives_a_round_trip)
{
    const half_type *h = &halves[_i];
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const double x = h->to((uint16_t)bits);
        if ((bits & 0x7fff) > h->infinity) {
            ck_assert(isnan(x));
            ck_assert(isnan(h->to(h->from(x))));
            ck_assert_int_eq(signbit(x) != 0, bits >> 15);
        } else {
            ck_assert_uint_eq(h->from(x), bits);
            ck_assert_double_eq(dtype_round(h->type, x), x);
        }
    }
}
END_TEST

START_TEST(rounding_is_to_nearest_even)
{
    const half_type *h = &halves[_i];
    for (unsigned bits = 0; bits + 1 < h->infinity; bits++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double low = h->to((uint16_t)bits), high = h->to((uint16_t)(bits + 1)), middle = (low + high) / 2;
            const uint16_t s = sign < 0 ? 0x8000 : 0;
            ck_assert_uint_eq(h->from(sign * middle), s | (bits + (bits & 1)));
            ck_assert_uint_eq(h->from(sign * nextafter(middle, 0)), s | bits);
            ck_assert_uint_eq(h->from(sign * nextafter(middle, INFINITY)), s | (bits + 1));
            ck_assert_double_eq(dtype_round(h->type, sign * nextafter(middle, INFINITY)), sign * high);
        }
}
END_TEST

START_TEST(a_double_is_rounded_once)
{
    /* Converted through float this would be a tie, and round down to even. */
    ck_assert_double_eq(dtype_round(dtype_bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
    ck_assert_double_eq(dtype_round(dtype_f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
}
END_TEST

START_TEST(numbers_too_large_become_infinite_and_numbers_too_small_become_zero)
{
    ck_assert_double_eq(dtype_round(dtype_f16, 65519.999), 65504);
    ck_assert(isinf(dtype_round(dtype_f16, 65520)));
    ck_assert_double_eq(dtype_round(dtype_bf16, 0x1.fefffffp127), 0x1.fep127);
    ck_assert(isinf(dtype_round(dtype_bf16, 0x1.ffp127)));
    ck_assert(isinf(dtype_round(dtype_bf16, 1e300)) && dtype_round(dtype_bf16, -1e300) < 0);
    ck_assert_double_eq(dtype_round(dtype_f16, 0x1p-25), 0);
    ck_assert_double_eq(dtype_round(dtype_f16, 0x1.000001p-25), 0x1p-24);
    ck_assert_double_eq(dtype_round(dtype_bf16, 1e-300), 0);
    ck_assert(signbit(dtype_round(dtype_f16, -1e-300)));
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(dtype_round((dtype)i, dtype_largest((dtype)i)), dtype_largest((dtype)i));
}
END_TEST

START_TEST(every_dtype_is_put_and_got)
{
    static const dtype types[] = {dtype_f32, dtype_f16, dtype_bf16, dtype_i32};
    for (int i = 0; i < 4; i++) {
        unsigned char memory[16] = {0};
        dtype_put(types[i], memory + 1, 2, -3); /* any alignment */
        ck_assert_double_eq(dtype_get(types[i], memory + 1, 2), -3);
        ck_assert_double_eq(dtype_get(types[i], memory + 1, 1), 0);
    }
    ck_assert_double_eq(dtype_round(dtype_i32, 1e20), INT32_MAX);
    ck_assert_double_eq(dtype_round(dtype_i32, NAN), 0);
    ck_assert_double_eq(dtype_round(dtype_i32, 2.5), 2);
}
END_TEST

/* ---- random numbers */
START_TEST(numbers_are_the_same_everywhere)
{
    /* Fixed numbers, so that another machine, compiler or change that draws others is noticed. */
    ck_assert_uint_eq(random_bits(1, random_stream("x"), 0), 0xb262333b673aecb8u);
    ck_assert_double_eq(random_normal(1, random_stream("x"), 0), 0x1.07cee1545d793p-1);
    ck_assert_double_eq(random_normal(1, random_stream("x"), 1000003), -0x1.655d6f276efa7p-1);
}
END_TEST

START_TEST(drawn_numbers_are_normally_distributed)
{
    enum { n = 200000, bins = 12 };
    double sum = 0, squares = 0, fourth = 0, lag = 0, before = 0;
    int count[bins] = {0};
    for (int i = 0; i < n; i++) {
        const double z = random_normal(7, 3, (uint64_t)i);
        const int bin = (int)floor((z + 3) * 2);
        if (bin >= 0 && bin < bins) count[bin]++;
        sum += z, squares += z * z, fourth += z * z * z * z, lag += z * before, before = z;
    }
    const double s = sqrt(n);
    ck_assert_double_lt(fabs(sum / s), 4);
    ck_assert_double_lt(fabs(squares - n) / s / sqrt(2), 4);
    ck_assert_double_lt(fabs(fourth - 3.0 * n) / s / sqrt(96), 4);
    ck_assert_double_lt(fabs(lag / s), 4);
    for (int i = 0; i < bins; i++) {
        const double low = i / 2.0 - 3, p = (erf((low + 0.5) / sqrt(2)) - erf(low / sqrt(2))) / 2;
        ck_assert_double_lt(fabs(count[i] - n * p) / sqrt(n * p), 5);
    }
}
END_TEST

START_TEST(the_inverse_of_the_normal_distribution_is_right_to_seven_digits)
{
    for (uint64_t i = 0; i < 5000; i++) {
        const double p = random_uniform(2, 9, i), z = random_normal(2, 9, i);
        ck_assert_double_eq_tol(0.5 * erfc(-z / sqrt(2)), p, 2e-7 * (p < 0.5 ? p : 1 - p) * (1 + z * z));
    }
}
END_TEST

START_TEST(seed_name_and_index_all_matter)
{
    const uint64_t x = random_stream("x");
    ck_assert_uint_ne(random_bits(1, x, 0), random_bits(2, x, 0));
    ck_assert_uint_ne(random_bits(1, x, 0), random_bits(1, random_stream("y"), 0));
    int same = 0;
    for (uint64_t i = 0; i < 1000; i++) same += random_bits(1, x, i) >> 32 == random_bits(1, x, i + 1) >> 32;
    ck_assert_int_le(same, 1);
}
END_TEST

/* ---- data of a graph */
typedef struct reading {
    arena *a;
    ir_graph *graph;
} reading;

static void read_graph(void *argument)
{
    static const char yaml[] =
        "block: t\ndtype: bf16\ndims: {B: 64, S: 3, L: 9, D: 256, H: 2, hd: D/H}\n"
        "inputs: {x: [B, S, D], e: [B, D], pos: {shape: [B], dtype: i32}, ten: {shape: [B], dtype: i32, range: [3, "
        "L]}}\n"
        "state: {kc: [B, H, L, hd], vc: [B, H, L, hd]}\n"
        "params: {g: [D], g1: [D], c: [D], w: [4*D, D], wt: [4*D, D], b: [4*D]}\n"
        "ops:\n  - {out: h, op: rmsnorm, in: [x, g]}\n  - {out: h1, op: rmsnorm, in: [h, g1], unit_offset: true}\n"
        "  - {out: h2, op: layernorm, in: [h1, g, c]}\n  - {out: l, op: linear, in: [h2, w, b]}\n  - {out: m, op: "
        "linear, in: [l, wt], layout: in_out}\n"
        "  - {out: kn, op: kv_append, in: [m], state: kc, at: pos}\n  - {out: vn, op: kv_append, in: [m], state: vc, "
        "at: pos}\n"
        "  - {out: a, op: attention, in: [m, kn, vn], heads: H, causal: true, at: pos, lengths: ten}\n  - {out: s, op: "
        "log, in: [e]}\n"
        "outputs: {y: a, s: s}\n";
    reading *r = argument;
    r->graph = graph_read(r->a, yaml, sizeof yaml - 1, "t.yaml", &(graph_options){0});
}

static void moments(const reading *r, const char *name, double *mean, double *deviation, double *least, double *most)
{
    const ir_value *v = graph_value(r->graph, name);
    const size_t n = (size_t)value_count(v, &r->graph->dims);
    double *out = calloc(n, sizeof *out), sum = 0, squares = 0;
    random_fill(r->graph, v, 1, out);
    *least = *most = out[0];
    for (size_t i = 0; i < n; i++) {
        sum += out[i], squares += out[i] * out[i];
        *least = fmin(*least, out[i]), *most = fmax(*most, out[i]);
        ck_assert_double_eq(out[i], dtype_round(v->type, out[i]));
    }
    *mean = sum / (double)n;
    *deviation = sqrt(squares / (double)n - *mean * *mean);
    free(out);
}

START_TEST(drawn_inputs_have_the_spread_that_their_use_needs)
{
    static const struct {
        const char *name;
        double mean, deviation;
    } expected[] = {{"x", 0, 1},   {"kc", 0, 1},       {"g", 1, 0.1},       {"g1", 0, 0.1},     {"c", 0, 0.1},
                    {"b", 0, 0.1}, {"w", 0, 1.0 / 16}, {"wt", 0, 1.0 / 32}, {"e", 1.298, 0.603}};
    reading r = {arena_new(), NULL};
    double mean, deviation, least, most;
    ck_assert_msg(arena_run(r.a, read_graph, &r) == code_ok, "%s", arena_diagnostics(r.a));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        moments(&r, expected[i].name, &mean, &deviation, &least, &most);
        ck_assert_msg(fabs(mean - expected[i].mean) < 0.3 * expected[i].deviation &&
                          fabs(deviation / expected[i].deviation - 1) < 0.15,
                      "%s: %g, %g", expected[i].name, mean, deviation);
    }
    ck_assert_double_ge(least, 0.5); /* e is an operand of a logarithm */
    moments(&r, "pos", &mean, &deviation, &least, &most);
    ck_assert(least == 0 && most == 6); /* L - S */
    moments(&r, "ten", &mean, &deviation, &least, &most);
    ck_assert(least == 3 && most == 9);
    static const char *const cut[] = {"x", "pos"}; /* with little memory, data are drawn in parts */
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        enum { from = 13, count = 40 };
        const ir_value *v = graph_value(r.graph, cut[i]);
        double *whole = calloc((size_t)value_count(v, &r.graph->dims), sizeof *whole), part[count];
        random_fill(r.graph, v, 1, whole);
        random_part(r.graph, v, 1, from, count, part);
        ck_assert_mem_eq(part, whole + from, sizeof part);
        free(whole);
    }
    arena_free(r.a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *c = tcase_create("data");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, every_16_bit_number_survives_a_round_trip, 0, 2);
    tcase_add_loop_test(c, rounding_is_to_nearest_even, 0, 2);
    tcase_add_test(c, a_double_is_rounded_once);
    tcase_add_test(c, numbers_too_large_become_infinite_and_numbers_too_small_become_zero);
    tcase_add_test(c, every_dtype_is_put_and_got);
    tcase_add_test(c, numbers_are_the_same_everywhere);
    tcase_add_test(c, drawn_numbers_are_normally_distributed);
    tcase_add_test(c, the_inverse_of_the_normal_distribution_is_right_to_seven_digits);
    tcase_add_test(c, seed_name_and_index_all_matter);
    tcase_add_test(c, drawn_inputs_have_the_spread_that_their_use_needs);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
