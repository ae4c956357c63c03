/* The templates' functions and programs: the error of every op over all of float, conversions over all patterns, golden spec structs,
 * and results that do not depend on the grid or on how many other rows there are. TFGEN_GOLDEN_UPDATE=1 rewrites the spec.h files. */
#include "tests/test_host_common.h"
#include "gen/gen.h"
#include "gen/template_text.h"
#include "runtime/half.h"
#include "runtime/session.h"

/* ---- tests/template_ops.hip under the templates' own texts */
static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *data = calloc(1, 1 << 20);
    ck_assert_uint_lt(fread(data, 1, 1 << 20, f), 1 << 20);
    fclose(f);
    return data;
}

static host_module *ops_module(void)
{
    arena *a = arena_new();
    struct text source = {.a = a};
    text_printf(&source, "#define TF_TARGET_HOST 1\n#define TF_WAVE 1\n");
    for (size_t i = 0; i < template_total(); i++)
        if (template_at(i).users == use_all) template_append(&source, i);
    char *own = slurp("tests/template_ops.hip");
    ck_assert_ptr_nonnull(own);
    text_printf(&source, "#line 1 \"tests/template_ops.hip\"\n%s", own);
    free(own);
    const host_compile_options o = {.name = "template_ops.hip", .cache_dir = cache, .optimise = -1};
    host_log log = {0};
    host_module *m = NULL;
    const host_status s = host_compile(source.data, source.size, &o, &m, &log);
    ck_assert_msg(s == HOST_OK && log.size == 0, "%s: %s", host_status_name(s), log.text ? log.text : "");
    host_log_free(&log);
    arena_free(a);
    return m;
}

/* ---- floats: of every exponent and sign `each`, and what is special */
static const float specials[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f, 0x1p-126f,
                                 0x1.fffffcp-127f, 1.0f, -1.0f, 0.5f, -0.5f, 88.72283f, 88.72284f, -87.33654f, -103.97208f, -103.97209f,
                                 100000.0f, 99999.99f, 1.5707964f, 3.1415927f, 0x1.921fb6p+16f, 0x1.f9cbe2p7f, 0x1.6ac5b2p+122f, 0.625f, 0.62499994f,
                                 -13.0f, -14.4f, -14.5f, -10.5f, -11.0f, -110.0f, 9.0f, 1.17549435e-38f};
enum { special_count = sizeof specials / sizeof *specials };

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 32);
}

/* Returns how many; the mantissas are random, the exponents run through all of them. */
static size_t fill_floats(float *x, int each, uint64_t seed)
{
    size_t n = 0;
    for (int i = 0; i < special_count; i++) x[n++] = specials[i];
    for (uint32_t exponent = 0; exponent < 256; exponent++)
        for (int i = 0; i < each; i++) {
            const uint32_t r = random_bits(&seed);
            x[n++] = float_of((r & 0x80000000u) | exponent << 23 | (r & 0x7fffffu));
        }
    return n;
}

/* Where the functions do something: evenly from -120 to 120. */
static size_t fill_middle(float *x, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) x[i] = (float)((double)random_bits(&seed) * 0x1p-32 * 240.0 - 120.0);
    return count;
}

/* |got - expected| in units of the last place of a float at `expected`; 0 for two NaNs, infinite where only one is special. */
static double ulps(float got, double expected)
{
    if (isnan(expected) || isnan(got)) return isnan(expected) && isnan(got) ? 0 : INFINITY;
    const double rounded = (double)(float)expected;
    if (isinf(rounded) || isinf(got)) {
        if ((double)got == rounded) return 0;
        return fabs(expected) > 0x1.fffffp127 && fabsf(got) > 0x1.fffffp127f && (got > 0) == (expected > 0) ? 1 : INFINITY;
    }
    int exponent = expected == 0 ? -126 : ilogb(expected);
    if (exponent < -126) exponent = -126;
    return fabs((double)got - expected) / ldexp(1.0, exponent - 23);
}

/* ---- ops of one operand */
static double exact_neg(double x) { return -x; }
static double exact_square(double x) { return x * x; }
static double exact_rsqrt(double x) { return 1 / sqrt(x); }
static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double exact_silu(double x) { return x / (1 + exp(-x)); }
static double exact_gelu_erf(double x) { return x * erfc(-x * 0.70710678118654752440) / 2; }
static double exact_gelu_tanh(double x)
{
    return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
static double exact_relu(double x) { return x < 0 ? 0 : x; }
static double exact_finite(double x) { return isfinite(x) ? x : 0; }

typedef struct unary {
    const char *kernel;
    double (*exact)(double);
    double most_ulps; /* as the head of templates/ops.h says */
} unary;

static const unary unaries[] = {
    {"one_op_neg", exact_neg, 0},
    {"one_op_exp", exp, 1},
    {"one_op_log", log, 1},
    {"one_op_sqrt", sqrt, 0.5},
    {"one_op_square", exact_square, 0.5},
    {"one_op_rsqrt", exact_rsqrt, 1.5},
    {"one_op_sin", sin, 2.7},
    {"one_op_cos", cos, 2.7},
    {"one_op_tanh", tanh, 1.3},
    {"one_op_sigmoid", exact_sigmoid, 2.1},
    {"one_op_silu", exact_silu, 2.3},
    {"one_op_gelu_erf", exact_gelu_erf, 3.7},
    {"one_op_gelu_tanh", exact_gelu_tanh, 2.3},
    {"one_op_relu", exact_relu, 0},
    {"one_op_finite", exact_finite, 0},
};
enum { unary_count = sizeof unaries / sizeof *unaries };

typedef struct floats_args {
    const float *x, *y;
    float *out;
    int count;
} floats_args;

enum { sweep_each = 3200, sweep_middle = 180001, sweep_most = 256 * sweep_each + special_count + sweep_middle };

START_TEST(an_op_of_one_operand_is_as_exact_as_its_header_says)
{
    const unary *u = &unaries[_i];
    host_module *m = ops_module();
    float *x = floats(sweep_most, "x"), *out = floats(sweep_most, "out");
    const char *seed = getenv("TFGEN_SWEEP_SEED");
    size_t n = fill_floats(x, sweep_each, seed ? strtoull(seed, NULL, 10) : 7);
    n += fill_middle(x + n, sweep_middle, seed ? strtoull(seed, NULL, 10) : 9);
    floats_args p = {x, x, out, (int)n};
    const double start = now_ms();
    launch_ok(m, u->kernel, (host_launch_dims){.grid = {64}, .block = {1}}, &p);
    const double took = now_ms() - start;
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const double e = ulps(out[i], u->exact((double)x[i]));
        if (!(e <= worst)) worst = e, at = i;
    }
    if (getenv("TFGEN_SHOW_ERRORS"))
        printf("%-18s %.3f ulp at %a (%g): %a, exactly %a; %.2f ns a float\n", u->kernel, worst, (double)x[at], (double)x[at], (double)out[at],
               u->exact((double)x[at]), 1e6 * took / (double)n);
    ck_assert_msg(worst <= u->most_ulps, "%s: %.3f ulp at %a: %a, exactly %a", u->kernel, worst, (double)x[at], (double)out[at],
                  u->exact((double)x[at]));
    host_module_free(m);
}
END_TEST

/* ---- ops of two operands: rounded once, and NaN goes through max and min */
static double two_add(double x, double y) { return x + y; }
static double two_sub(double x, double y) { return x - y; }
static double two_mul(double x, double y) { return x * y; }
static double two_div(double x, double y) { return x / y; }
static double two_max(double x, double y) { return isnan(x) || isnan(y) ? NAN : x > y ? x : y; }
static double two_min(double x, double y) { return isnan(x) || isnan(y) ? NAN : x < y ? x : y; }
static double two_div_or_zero(double x, double y) { return y == 0 ? 0 : x / y; }

typedef struct binary {
    const char *kernel;
    double (*exact)(double, double);
} binary;

static const binary binaries[] = {
    {"two_op_add", two_add}, {"two_op_sub", two_sub}, {"two_op_mul", two_mul}, {"two_op_div", two_div},
    {"two_op_max", two_max}, {"two_op_min", two_min}, {"two_op_div_or_zero", two_div_or_zero},
};
enum { binary_count = sizeof binaries / sizeof *binaries, pair_each = 400, pair_most = 256 * pair_each + special_count * (special_count + 1) };

/* Every special with every other, then random ones whose exponents are close enough to matter to each other. */
static size_t fill_pairs(float *x, float *y)
{
    uint64_t state = 3;
    size_t n = 0;
    for (int i = 0; i < special_count; i++)
        for (int k = 0; k < special_count; k++) x[n] = specials[i], y[n++] = specials[k];
    const size_t from = n;
    n += fill_floats(x + n, pair_each, 5);
    for (size_t i = from; i < n; i++) y[i] = x[i] * float_of((random_bits(&state) & 0x83ffffffu) + 0x3e000000u);
    return n;
}

START_TEST(an_op_of_two_operands_is_rounded_once)
{
    const binary *b = &binaries[_i];
    host_module *m = ops_module();
    float *x = floats(pair_most, "x"), *y = floats(pair_most, "y"), *out = floats(pair_most, "out");
    const size_t n = fill_pairs(x, y);
    floats_args p = {x, y, out, (int)n};
    launch_ok(m, b->kernel, (host_launch_dims){.grid = {7}, .block = {1}}, &p);
    for (size_t i = 0; i < n; i++) {
        const float expected = (float)b->exact((double)x[i], (double)y[i]); /* double holds each exactly enough for one rounding */
        ck_assert_msg(out[i] == expected || (isnan(out[i]) && isnan(expected)), "%s(%a, %a): %a, not %a", b->kernel, (double)x[i], (double)y[i],
                      (double)out[i], (double)expected);
    }
    host_module_free(m);
}
END_TEST

/* ---- conversions */
typedef struct conversion_args {
    const uint16_t *from;
    const float *x;
    uint16_t *to;
    float *out;
    int count;
} conversion_args;

/* Floats around every value of a 16-bit type: itself, its neighbours in float, and the ties between it and the next. */
static size_t fill_near(float *x, dtype type)
{
    size_t n = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint32_t here = bits_of((float)(type == dtype_f16 ? f16_to_double((uint16_t)bits) : bf16_to_double((uint16_t)bits)));
        const uint32_t half = type == dtype_f16 ? 0x1000u : 0x8000u;
        const uint32_t near[] = {here, here + 1, here - 1, here + half, here + half + 1, here + half - 1};
        for (size_t i = 0; i < sizeof near / sizeof *near; i++) x[n++] = float_of(near[i]);
    }
    return n;
}

enum { conversion_most = 6 * 65536 + 256 * 400 + special_count + 8 };

START_TEST(sixteen_bit_types_convert_as_the_reference_does)
{
    const dtype type = _i ? dtype_f16 : dtype_bf16;
    host_module *m = ops_module();
    float *x = floats(conversion_most, "x"), *out = floats(conversion_most, "out");
    uint16_t *from = memory(2 * conversion_most, "from"), *to = memory(2 * conversion_most, "to");
    size_t n = fill_near(x, type);
    n += fill_floats(x + n, 400, 11);
    for (size_t i = 0; i < n; i++) from[i] = (uint16_t)i;
    conversion_args p = {from, x, to, out, (int)n};
    launch_ok(m, _i ? "convert_f16" : "convert_bf16", (host_launch_dims){.grid = {1}, .block = {1}}, &p);
    for (size_t i = 0; i < n; i++) {
        const double value = dtype_get(type, from, i);
        ck_assert_msg(isnan(value) ? isnan(out[i]) : (double)out[i] == value && !signbit(out[i]) == !signbit(value), "load of %04x: %a", from[i],
                      (double)out[i]);
        uint16_t expected;
        dtype_put(type, &expected, 0, (double)x[i]);
        const bool same = isnan(x[i]) ? isnan(dtype_get(type, to, i)) : to[i] == expected;
        ck_assert_msg(same, "store of %a (%08x): %04x, not %04x", (double)x[i], bits_of(x[i]), to[i], expected);
    }
    host_module_free(m);
}
END_TEST

START_TEST(casts_and_free_stores_round_alike)
{
    host_module *m = ops_module();
    enum { count = 256 * 100 + special_count };
    float *x = floats(count, "x"), *out = floats(count, "out");
    uint16_t *to = memory(2 * count, "to");
    const size_t n = fill_floats(x, 100, 13);
    conversion_args p = {to, x, to, out, (int)n};
    launch_ok(m, "cast_both", (host_launch_dims){.grid = {1}, .block = {1}}, &p);
    for (size_t i = 0; i < n; i++) {
        const float f16 = (float)dtype_round(dtype_f16, (double)x[i]), bf16 = (float)dtype_round(dtype_bf16, (double)x[i]);
        ck_assert_msg(out[i] == f16 || (isnan(out[i]) && isnan(f16)), "f16 of %a: %a", (double)x[i], (double)out[i]);
        const float stored = (float)bf16_to_double(to[i]);
        ck_assert_msg(stored == bf16 || (isnan(stored) && isnan(bf16)), "bf16 of %a: %a", (double)x[i], (double)stored);
    }
    host_module_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("templates");
    TCase *t = tcase_create("functions");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_loop_test(t, an_op_of_one_operand_is_as_exact_as_its_header_says, 0, unary_count);
    tcase_add_loop_test(t, an_op_of_two_operands_is_rounded_once, 0, binary_count);
    tcase_add_loop_test(t, sixteen_bit_types_convert_as_the_reference_does, 0, 2);
    tcase_add_test(t, casts_and_free_stores_round_alike);
    suite_add_tcase(s, t);
    return run_suite(s);
}
