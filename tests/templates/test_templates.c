/* The templates' functions and programs: the error of every op over all of float, conversions over all patterns, golden spec structs,
 * and results that do not depend on the grid or on how many other rows there are. TFGEN_GOLDEN_UPDATE=1 rewrites the spec.h files. */
#include "tests/templates/kernels_under.h"
#include "gen/gen.h"
#include "ir/graph/half.h"
#include "runtime/module/guarded_run.h"

/* ---- tests/templates/template_ops.hip under the templates' own texts */
/* rows.h and pack.h each define `pack`, so a module has only one of them. */
static host_module *functions_module(bool packs)
{
    const char *const templates[] = {"templates/frame/chiplets.h", "templates/base/functions.h", "templates/base/rope.h",
                                     "templates/gemm/pieces.h", packs ? "templates/gemm/pack.h" : "templates/rows/rows.h"};
    const char *head = packs ? "#define TF_TARGET_HOST 1\n#define TF_WAVE 1\n#define TF_TEST_PACK 1\n"
                             : "#define TF_TARGET_HOST 1\n#define TF_WAVE 1\n";
    return kernels_under(head, templates, sizeof templates / sizeof *templates, "tests/templates/template_ops.hip");
}

static host_module *ops_module(void) { return functions_module(false); }

/* ---- floats: `each` of every exponent and sign, and special numbers */
static const float specials[] = {0.0f,
                                 -0.0f,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1p-149f,
                                 -0x1p-149f,
                                 0x1.fffffep127f,
                                 -0x1.fffffep127f,
                                 0x1p-126f,
                                 0x1.fffffcp-127f,
                                 1.0f,
                                 -1.0f,
                                 0.5f,
                                 -0.5f,
                                 88.72283f,
                                 88.72284f,
                                 -87.33654f,
                                 -103.97208f,
                                 -103.97209f,
                                 100000.0f,
                                 99999.99f,
                                 1.5707964f,
                                 3.1415927f,
                                 0x1.921fb6p+16f,
                                 0x1.f9cbe2p7f,
                                 0x1.6ac5b2p+122f,
                                 0.625f,
                                 0.62499994f,
                                 -13.0f,
                                 -14.4f,
                                 -14.5f,
                                 -10.5f,
                                 -11.0f,
                                 -110.0f,
                                 9.0f,
                                 1.17549435e-38f};
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

/* Evenly from -120 to 120, where the functions are not constant. */
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
static double exact_finite(double x) { return x == -INFINITY ? 0 : x; }
static double exact_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double exact_softplus(double x) { return x > 40 ? x : log1p(exp(x)); }
static double exact_mish(double x) { return x * tanh(exact_softplus(x)); }
static double exact_quick_gelu(double x) { return x / (1 + exp(-1.702 * x)); }
static double exact_selu(double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x)); }
static double exact_hardsigmoid(double x) { return isnan(x) ? x : x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6; }
static double exact_hardswish(double x) { return x * exact_hardsigmoid(x); }
static double exact_elu(double x) { return x > 0 ? x : 1.5 * expm1(x); }
static double exact_clamp(double x) { return x < -2 ? -2 : x > 3 ? 3 : x; }

static const struct form { const char *op; double exact, quick; } forms[] = {
#define FORM(op, exact, quick) {#op, exact, quick},
#include "ir/op.def"
};
enum { form_count = sizeof forms / sizeof *forms };

static const struct form *form_of(const char *op)
{
    for (int i = 0; i < form_count; i++)
        if (strcmp(forms[i].op, op) == 0) return &forms[i];
    ck_abort_msg("%s has no FORM in ir/op.def", op);
}

typedef struct unary {
    const char *kernel, *op;
    double (*exact)(double);
} unary;

static const unary unaries[] = {
    {"one_op_neg", "neg", exact_neg},
    {"one_op_exp", "exp", exp},
    {"one_op_log", "log", log},
    {"one_op_sqrt", "sqrt", sqrt},
    {"one_op_square", "square", exact_square},
    {"one_op_rsqrt", "rsqrt", exact_rsqrt},
    {"one_op_sin", "sin", sin},
    {"one_op_cos", "cos", cos},
    {"one_sin_waves", "sin", sin},
    {"one_cos_waves", "cos", cos},
    {"one_sin_attempts", "sin", sin},
    {"one_cos_attempts", "cos", cos},
    {"one_op_tanh", "tanh", tanh},
    {"one_op_sigmoid", "sigmoid", exact_sigmoid},
    {"one_op_silu", "silu", exact_silu},
    {"one_op_gelu_erf", "gelu_erf", exact_gelu_erf},
    {"one_op_gelu_tanh", "gelu_tanh", exact_gelu_tanh},
    {"one_op_relu", "relu", exact_relu},
    {"one_op_finite", "finite", exact_finite},
    {"one_op_abs", "abs", fabs},
    {"one_op_sign", "sign", exact_sign},
    {"one_op_floor", "floor", floor},
    {"one_op_ceil", "ceil", ceil},
    {"one_op_round", "round", nearbyint},
    {"one_op_erf", "erf", erf},
    {"one_op_exp2", "exp2", exp2},
    {"one_op_expm1", "expm1", expm1},
    {"one_op_log1p", "log1p", log1p},
    {"one_op_softplus", "softplus", exact_softplus},
    {"one_op_mish", "mish", exact_mish},
    {"one_op_quick_gelu", "quick_gelu", exact_quick_gelu},
    {"one_op_selu", "selu", exact_selu},
    {"one_op_hardsigmoid", "hardsigmoid", exact_hardsigmoid},
    {"one_op_hardswish", "hardswish", exact_hardswish},
    {"one_elu_of", "elu", exact_elu},
    {"one_clamp_of", "clamp", exact_clamp},
};
enum { unary_count = sizeof unaries / sizeof *unaries };

typedef struct floats_args {
    const float *x, *y;
    float *out;
    int count;
} floats_args;

enum { sweep_each = 3200, sweep_middle = 180001, sweep_most = 256 * sweep_each + special_count + sweep_middle };

START_TEST(an_op_of_one_operand_is_as_exact_as_its_form_says)
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
        printf("%-18s %.3f ulp at %a (%g): %a, exactly %a; %.2f ns a float\n", u->kernel, worst, (double)x[at], (double)x[at],
               (double)out[at], u->exact((double)x[at]), 1e6 * took / (double)n);
    ck_assert_msg(worst <= form_of(u->op)->exact, "%s: %.3f ulp at %a: %a, exactly %a", u->kernel, worst, (double)x[at], (double)out[at],
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
static double two_leaky_relu(double x, double y) { return x > 0 ? x : y * x; }
static double two_where(double x, double y) { return y == 0 ? 7 : x; }

typedef struct binary {
    const char *kernel;
    double (*exact)(double, double);
} binary;

static const binary binaries[] = {
    {"two_op_add", two_add}, {"two_op_sub", two_sub}, {"two_op_mul", two_mul}, {"two_op_div", two_div},
    {"two_op_max", two_max}, {"two_op_min", two_min}, {"two_op_div_or_zero", two_div_or_zero},
    {"two_op_leaky_relu", two_leaky_relu}, {"two_where_of", two_where},
};
enum {
    binary_count = sizeof binaries / sizeof *binaries,
    pair_each = 400,
    pair_most = 256 * pair_each + special_count * (special_count + 1)
};

/* Every special number with every other, then random pairs with exponents close enough that both matter. */
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
        /* in double the result is exact enough that rounding it to float rounds once */
        const float expected = (float)b->exact((double)x[i], (double)y[i]);
        ck_assert_msg(out[i] == expected || (isnan(out[i]) && isnan(expected)), "%s(%a, %a): %a, not %a", b->kernel, (double)x[i],
                      (double)y[i], (double)out[i], (double)expected);
    }
    host_module_free(m);
}
END_TEST

/* Every special number to every special power; then powers with results from 2^-159 to 2^159, every second one of a whole exponent. */
static size_t fill_powers(float *x, float *y)
{
    uint64_t state = 11;
    size_t n = 0;
    for (int i = 0; i < special_count; i++)
        for (int k = 0; k < special_count; k++) x[n] = specials[i], y[n++] = specials[k];
    const size_t from = n;
    n += fill_floats(x + n, pair_each, 5);
    for (size_t i = from; i < n; i++) {
        const double power = ((double)random_bits(&state) * 0x1p-32 * 220 - 110) / log(fabs((double)x[i]));
        y[i] = (float)(i % 2 ? nearbyint(power) : power);
    }
    return n;
}

/* All numbers of both 16-bit types, each to a few powers. */
static const float exponents[] = {-7.25f, -2.5f, -0.5f, 0.1f, 0.333333343f, 1.5f, 2.2f, 12.0f};
enum { exponent_count = sizeof exponents / sizeof *exponents, power_most = 2 * 65536 * exponent_count };
static size_t fill_powers_of_16_bits(float *x, float *y)
{
    size_t n = 0;
    for (uint32_t bits = 0; bits < 65536; bits++)
        for (int k = 0; k < 2 * exponent_count; k++, n++) {
            x[n] = (float)(k % 2 ? f16_to_double((uint16_t)bits) : bf16_to_double((uint16_t)bits));
            y[n] = exponents[k / 2];
        }
    return n;
}

START_TEST(a_power_is_within_its_error)
{
    host_module *m = ops_module();
    float *x = floats(power_most, "x"), *y = floats(power_most, "y"), *out = floats(power_most, "out");
    const size_t n = _i ? fill_powers_of_16_bits(x, y) : fill_powers(x, y);
    floats_args p = {x, y, out, (int)n};
    launch_ok(m, "two_op_pow", (host_launch_dims){.grid = {7}, .block = {1}}, &p);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double exact = pow((double)x[i], (double)y[i]), e = ulps(out[i], exact);
        ck_assert_msg(e <= form_of("pow")->exact, "%a ^ %a: %g ulp: %a, exactly %a", (double)x[i], (double)y[i], e, (double)out[i], exact);
        worst = fmax(worst, e);
    }
    if (getenv("TFGEN_SHOW_ERRORS")) printf("%-18s %.3f ulp\n", "two_op_pow", worst);
    host_module_free(m);
}
END_TEST

START_TEST(dividing_a_row_is_as_exact_as_dividing_each_number)
{
    host_module *m = ops_module();
    float *x = floats(pair_most, "x"), *y = floats(pair_most, "y"), *out = floats(pair_most, "out");
    const size_t n = fill_pairs(x, y);
    floats_args p = {x, y, out, (int)n};
    launch_ok(m, "two_row_div_each", (host_launch_dims){.grid = {7}, .block = {1}}, &p);
    for (size_t i = 0; i < n; i++) {
        const float expected = (float)((double)x[i] / (double)y[i]);
        const bool twice = fabsf(expected) < 0x1p-126f && fabs((double)out[i] - (double)expected) <= 0x1p-149; /* subnormal */
        ck_assert_msg((out[i] == expected && !signbit(out[i]) == !signbit(expected)) || (isnan(out[i]) && isnan(expected)) || twice,
                      "%a / %a: %a, not %a", (double)x[i], (double)y[i], (double)out[i], (double)expected);
    }
    host_module_free(m);
}
END_TEST

/* ---- short forms, for results of 16 bits */
static const unary shorts[] = {
    {"two_short_exp_each", "exp", exp},
    {"two_short_log_each", "log", log},
    {"two_short_sqrt_each", "sqrt", sqrt},
    {"two_short_rsqrt_each", "rsqrt", exact_rsqrt},
    {"two_short_sin_each", "sin", sin},
    {"two_short_cos_each", "cos", cos},
    {"two_short_tanh_each", "tanh", tanh},
    {"two_short_sigmoid_each", "sigmoid", exact_sigmoid},
    {"two_short_silu_each", "silu", exact_silu},
    {"two_short_gelu_erf_each", "gelu_erf", exact_gelu_erf},
    {"two_short_gelu_tanh_each", "gelu_tanh", exact_gelu_tanh},
    {"two_short_erf_each", "erf", erf},
    {"two_short_exp2_each", "exp2", exp2},
    {"two_short_expm1_each", "expm1", expm1},
    {"two_short_log1p_each", "log1p", log1p},
    {"two_short_softplus_each", "softplus", exact_softplus},
    {"two_short_mish_each", "mish", exact_mish},
    {"two_short_quick_gelu_each", "quick_gelu", exact_quick_gelu},
    {"two_short_selu_each", "selu", exact_selu},
    {"two_short_elu_each", "elu", exact_elu},
};
enum { short_count = sizeof shorts / sizeof *shorts, short_machines = 4, short_most = 2 * 65536 + sweep_middle };

/* All numbers of both 16-bit types, and floats between them. */
static size_t fill_16_bits(float *x)
{
    size_t n = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        x[n++] = (float)bf16_to_double((uint16_t)bits);
        x[n++] = (float)f16_to_double((uint16_t)bits);
    }
    const size_t between = fill_middle(x + n, sweep_middle, 9);
    for (size_t i = n; i < n + between / 2; i++) x[i] /= 24; /* -5 to 5, where gelu is curved */
    return n + between;
}

/* What a product may lose if its exponential is subnormal and flushed to 0, as the reference allows (rounding(), ref_element.c). */
static double lost(const unary *u, double x)
{
    static const char *const products[] = {"silu", "gelu_tanh", "quick_gelu", "mish"};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strcmp(u->op, products[i]) == 0) return (1 + fabs(x)) * 0x1p-126;
    return 0;
}

/* The largest error where the result is a normal float. */
static double worst_short(const unary *u, const float *x, const float *out, size_t n, float machine)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double exact = u->exact((double)x[i]), e = fabs(exact) < 0x1.01p-126 ? 0 : ulps(out[i], exact);
        if (fabs((double)out[i] - exact) <= lost(u, (double)x[i])) continue;
        ck_assert_msg(e <= form_of(u->op)->quick, "%s(%a) on machine %g: %g ulp: %a, exactly %a", u->kernel, (double)x[i], (double)machine,
                      e, (double)out[i], exact);
        ck_assert_msg(!(fabs(exact) < 0x1.01p-126) || fabsf(out[i]) <= 0x1.02p-126f, "%s(%a): %a", u->kernel, (double)x[i], (double)out[i]);
        worst = fmax(worst, e);
    }
    return worst;
}

START_TEST(a_16_bit_form_of_a_function_is_within_its_error_for_all_inputs)
{
    const unary *u = &shorts[_i];
    host_module *m = ops_module();
    float *x = floats(short_most, "x"), *y = floats(short_most, "y"), *out = floats(short_most, "out");
    const size_t n = fill_16_bits(x);
    double worst = 0;
    for (int machine = 0; machine < short_machines; machine++) {
        for (size_t i = 0; i < n; i++) y[i] = (float)machine;
        floats_args p = {x, y, out, (int)n};
        launch_ok(m, u->kernel, (host_launch_dims){.grid = {64}, .block = {1}}, &p);
        worst = fmax(worst, worst_short(u, x, out, n, (float)machine));
    }
    if (getenv("TFGEN_SHOW_ERRORS")) printf("%-26s %.3f ulp\n", u->kernel, worst);
    /* The row of FORM is for this function, and its bound is not far too large. */
    ck_assert_msg(worst > form_of(u->op)->exact && worst >= form_of(u->op)->quick / 2, "%s: %g ulp", u->kernel, worst);
    host_module_free(m);
}
END_TEST

/* ---- quotients in exact forms: computed from a reciprocal that is off by as much as a GPU's, up or down, yet rounded as a division is */
START_TEST(a_quotient_by_a_reciprocal_is_as_exact_as_a_division)
{
    host_module *m = ops_module();
    float *x = floats(pair_most, "x"), *y = floats(pair_most, "y"), *out = floats(pair_most, "out");
    const size_t n = fill_pairs(x, y);
    for (size_t i = 0; i < n; i++) y[i] = (float)ldexp(frexp((double)y[i], &(int){0}), (int)(i % 129) - 64);
    floats_args p = {x, y, out, (int)n};
    launch_ok(m, _i ? "two_quotient_by_up" : "two_quotient_by_down", (host_launch_dims){.grid = {7}, .block = {1}}, &p);
    for (size_t i = 0; i < n; i++) {
        const double exact = (double)x[i] / (double)y[i];
        if (y[i] == 0 || fabsf(x[i]) < 0x1p-100f || !isfinite(exact) || fabs(exact) < 0x1p-100 || fabs(exact) > 0x1p126) continue;
        /* 1 / (2 - 2^-23) is next to a tie, which rounds the other way */
        ck_assert_msg(ulps(out[i], exact) <= 0.50001, "%a / %a: %a, exactly %a", (double)x[i], (double)y[i], (double)out[i], exact);
    }
    host_module_free(m);
}
END_TEST

/* ---- short forms of two operands */
static const struct { const char *kernel, *op; double (*exact)(double, double); size_t (*fill)(float *, float *); } short_pairs[] = {
    {"two_short_div_up", "div", two_div, fill_pairs},
    {"two_short_div_down", "div", two_div, fill_pairs},
    {"two_short_row_div_each", "div", two_div, fill_pairs},
    {"two_short_pow_up", "pow", pow, fill_powers},
    {"two_short_pow_down", "pow", pow, fill_powers},
    {"two_short_pow_up", "pow", pow, fill_powers_of_16_bits},
    {"two_short_pow_down", "pow", pow, fill_powers_of_16_bits},
};

START_TEST(a_16_bit_form_of_two_operands_is_within_its_error)
{
    host_module *m = ops_module();
    float *x = floats(power_most, "x"), *y = floats(power_most, "y"), *out = floats(power_most, "out");
    const size_t n = short_pairs[_i].fill(x, y);
    const struct form *form = form_of(short_pairs[_i].op);
    floats_args p = {x, y, out, (int)n};
    launch_ok(m, short_pairs[_i].kernel, (host_launch_dims){.grid = {7}, .block = {1}}, &p);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double exact = short_pairs[_i].exact((double)x[i], (double)y[i]);
        if (fabs(exact) < 0x1.01p-126 || (isfinite(exact) && fabs(exact) >= 0x1p127)) continue;
        const double e = ulps(out[i], exact);
        ck_assert_msg(e <= form->quick, "%s(%a, %a): %g ulp: %a, exactly %a", short_pairs[_i].kernel, (double)x[i], (double)y[i], e,
                      (double)out[i], exact);
        worst = fmax(worst, e);
    }
    if (getenv("TFGEN_SHOW_ERRORS")) printf("%-26s %.3f ulp\n", short_pairs[_i].kernel, worst);
    ck_assert_msg(worst > form->exact, "%g ulp", worst);
    host_module_free(m);
}
END_TEST

/* Each row of FORM is measured: it is in one of the tables above. */
START_TEST(every_form_of_an_op_has_its_error_measured)
{
    static const char *const binary[] = {"add", "sub", "mul", "div", "max", "min", "div_or_zero", "leaky_relu", "where"}; /* rounded once */
    for (int i = 0; i < op_count; i++)
        if (op_table[i].class == class_ELEMENT || op_table[i].class == class_INTERNAL) form_of(op_table[i].name);
    for (int i = 0; i < form_count; i++) {
        const struct form *f = &forms[i];
        /* these have tests of their own */
        bool exact = strcmp(f->op, "cast") == 0 || strcmp(f->op, "rope") == 0 || strcmp(f->op, "pow") == 0;
        bool quick = f->quick == f->exact || strcmp(f->op, "rope") == 0 || strcmp(f->op, "div_or_zero") == 0;
        for (int k = 0; k < unary_count; k++) exact |= strcmp(unaries[k].op, f->op) == 0;
        for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) exact |= strcmp(binary[k], f->op) == 0 && f->exact <= 0.5;
        for (int k = 0; k < short_count; k++) quick |= strcmp(shorts[k].op, f->op) == 0;
        for (size_t k = 0; k < sizeof short_pairs / sizeof *short_pairs; k++) quick |= strcmp(short_pairs[k].op, f->op) == 0;
        ck_assert_msg(exact && quick, "%s", f->op);
    }
}
END_TEST

/* ---- tf32: 11 bits */
START_TEST(a_weight_of_tf32_is_the_nearest_one)
{
    host_module *m = functions_module(true);
    float *x = floats(256 * 400 + special_count, "x"), *out = floats(256 * 400 + special_count, "out");
    const size_t n = fill_floats(x, 400, 17);
    floats_args p = {x, x, out, (int)n};
    launch_ok(m, "one_tf32_each", (host_launch_dims){.grid = {1}, .block = {1}}, &p);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) continue; /* its NaN may be in the low bits, which are dropped */
        const int exponent = x[i] == 0 || fabsf(x[i]) < 0x1p-126f ? -126 : ilogbf(x[i]);
        const double most = ldexp(1, exponent - 11); /* half a step */
        ck_assert_msg((bits_of(out[i]) & 0x1fffu) == 0 && isfinite(out[i]), "%a: %a is no finite number of tf32", (double)x[i],
                      (double)out[i]);
        ck_assert_msg(fabs((double)out[i] - (double)x[i]) <= (fabsf(x[i]) > 0x1.ffdp127f ? 2 * most : most), "%a: %a", (double)x[i],
                      (double)out[i]);
    }
    host_module_free(m);
}
END_TEST

/* ---- rotations: pairs of a head of 128 at positions up to 131072, compared with position * theta^(-2i/128) in long double */
typedef struct rope_args {
    const int *position;
    const unsigned long long *turns;
    float *c, *s;
    int count;
} rope_args;

START_TEST(a_rotation_is_as_exact_at_position_131072_as_at_1)
{
    enum { pairs = 64, positions = 1500, count = pairs * positions };
    const long double turn = 6.283185307179586476925286766559005768L, theta = _i ? 500000 : 10000;
    host_module *m = ops_module();
    int *position = memory(count * sizeof *position, "position");
    unsigned long long *turns = memory(count * sizeof *turns, "turns");
    float *c = floats(count, "c"), *s = floats(count, "s");
    for (int i = 0; i < count; i++) {
        const long double frequency = powl(theta, -2.0L * (i % pairs) / (2 * pairs)) / turn;
        const int at = i / pairs;
        position[i] = at < 200 ? at : at < 400 ? 131272 - at : (int)((unsigned)at * 2654435761u % 131072); /* both ends, and in between */
        turns[i] = (unsigned long long)(frequency * 18446744073709551616.0L);
    }
    rope_args p = {position, turns, c, s, count};
    launch_ok(m, "rope_points", (host_launch_dims){.grid = {1}, .block = {1}}, &p);
    for (int i = 0; i < count; i++) {
        const long double angle = position[i] * powl(theta, -2.0L * (i % pairs) / (2 * pairs));
        const double off = fmax(fabs((double)(c[i] - cosl(angle))), fabs((double)(s[i] - sinl(angle))));
        ck_assert_msg(off <= form_of("rope")->exact * 0x1p-23, "position %d, pair %d: %g off", position[i], i % pairs, off);
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
        ck_assert_msg(isnan(value) ? isnan(out[i]) : (double)out[i] == value && !signbit(out[i]) == !signbit(value), "load of %04x: %a",
                      from[i], (double)out[i]);
        uint16_t expected;
        dtype_put(type, &expected, 0, (double)x[i]);
        const bool same = isnan(x[i]) ? isnan(dtype_get(type, to, i)) : to[i] == expected;
        ck_assert_msg(same, "store of %a (%08x): %04x, not %04x", (double)x[i], bits_of(x[i]), to[i], expected);
    }
    host_module_free(m);
}
END_TEST

START_TEST(casts_and_unaligned_stores_round_alike)
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

/* ---- chiplets */
typedef struct chiplet_args {
    int *tile;
    int first, most;
} chiplet_args;

static const struct {
    const char *kernel;
    int chiplets, chunk;
} deals[] = {{"deal_1_1", 1, 1}, {"deal_6_38", 6, 38}, {"deal_8_1", 8, 1}, {"deal_8_32", 8, 32}, {"deal_8_38", 8, 38}, {"deal_8_76", 8, 76},
             {"deal_8_1000", 8, 1000}};

/* Each tile is computed once; workgroups i and i + chiplets run on one chiplet, which within a round gets neighbouring tiles. */
static void check_deal(int deal, int first, const int *tile, int count)
{
    const int chiplets = deals[deal].chiplets, all = first < 0 ? chiplets * deals[deal].chunk : count;
    unsigned char seen[2048] = {0};
    for (int i = 0; i < count; i++) {
        if (tile[i] < 0 || tile[i] >= count || seen[tile[i]])
            ck_abort_msg("%s of %d after %d: workgroup %d takes tile %d", deals[deal].kernel, count, first, i, tile[i]);
        seen[tile[i]] = 1;
        if (i >= chiplets && i / all == (i - chiplets) / all && tile[i] != tile[i - chiplets] + 1)
            ck_abort_msg("%s of %d after %d: %d and %d are no neighbours", deals[deal].kernel, count, first, i - chiplets, i);
    }
}

static void check_deals(host_module *m, int deal, chiplet_args p)
{
    launch_ok(m, deals[deal].kernel, (host_launch_dims){.grid = {1}, .block = {1}}, &p);
    for (int count = 1; count <= p.most; p.tile += count++) check_deal(deal, p.first, p.tile, count);
}

START_TEST(each_tile_belongs_to_one_chiplet_and_tiles_of_a_chiplet_are_neighbours)
{
    enum { most = 2000 };
    host_module *m = ops_module();
    int *tile = memory(most * (most + 1) / 2 * sizeof *tile, "tile");
    check_deals(m, _i, (chiplet_args){tile, -1, most});
    for (int first = 0; first <= 2 * deals[_i].chiplets; first++) check_deals(m, _i, (chiplet_args){tile, first, 300});
    host_module_free(m);
}
END_TEST

/* ---- plans of specs */
typedef struct build {
    arena *a;
    const char *name, *text, *target;
    fusion_level level;
    const tuning *tuning; /* NULL: register tiles */
    plan *p;
    tfgen_code code;
} build;

static void build_body(void *argument)
{
    build *b = argument;
    const target_info *target = target_find(b->target);
    const fuse_options fusion = {.level = b->level};
    const graph_options options = {0};
    arena_source(b->a, b->name, b->text, strlen(b->text));
    const char *const lines[] = {"gemm layer=simt", "attention layer=simt"}; /* templates/gemm/gemm.h, templates/attention/attention.h */
    const tuning t = {.lines = lines, .count = strcmp(target->family, "cdna") == 0 ? 2 : 1}; /* other targets have only one attention */
    b->p = plan_choose(b->a, fuse(b->a, lower(b->a, graph_read(b->a, b->text, strlen(b->text), b->name, &options)), &fusion),
                       device_model_default(b->a, target), b->tuning ? b->tuning : &t);
    emit(b->a, b->p);
}

static build build_tuned(const char *name, const char *text, const char *target, fusion_level level, const tuning *lines)
{
    build b = {.a = arena_new(), .name = name, .text = text, .target = target, .level = level, .tuning = lines};
    b.code = arena_run(b.a, build_body, &b);
    ck_assert_msg(b.code == code_ok, "%s", arena_diagnostics(b.a));
    return b;
}

static build build_plan(const char *name, const char *text, const char *target, fusion_level level)
{
    return build_tuned(name, text, target, level, NULL);
}

/* ---- a real spec struct beside each template */
typedef struct golden {
    const char *path, *spec, *program, *kernel; /* program: the template's struct in the source */
    const char *target;                         /* NULL: register tiles on gfx942 */
    const char *line;                           /* tile settings, if the planner would choose another program */
} golden;

static const golden goldens[] = {
    {"templates/rows/rows.spec.h", "specs/layernorm.yaml", "rows", "layernorm_n", NULL, NULL},
    {"templates/gemm/gemm.spec.h", "specs/llama-block.yaml", "gemm", "llama_qkv", NULL, NULL},
    {"templates/attention/attention.spec.h", "specs/llama-block.yaml", "attention", "llama_attention", NULL, NULL},
    {"templates/attention/decode.spec.h", "specs/llama-decode.yaml", "decode", NULL, "gfx942",
     "attention layer=decode_simt"}, /* the first of its family */
    {"templates/gemm/pack.spec.h", "specs/llama-block.yaml", "pack", "llama_qkv_pack", NULL, NULL},
    {"templates/gemm/gemm_mfma.spec.h", "specs/llama-block.yaml", "gemm_mfma", "llama_qkv", "gfx942", "gemm layer=mfma"},
    {"templates/attention/attention_mfma.spec.h", "specs/llama-block.yaml", "attention_mfma", "llama_attention", "gfx942", NULL},
    {"templates/gemm/gemm_ws.spec.h", "specs/llama-block.yaml", "gemm_ws", "llama_qkv", "sm_90a", "gemm layer=wgmma"},
};
enum { golden_count = sizeof goldens / sizeof *goldens, golden_plain = golden_count - 3 };

static bool runs(const char *source, const char *program)
{
    char kernel[64];
    const char *at = strstr(source, "\nTF_KERNEL");
    snprintf(kernel, sizeof kernel, at && at[10] == '(' ? ", %s<" : "<%s<", program);
    return at && strstr(at, kernel);
}

/* What follows the templates in a source, without its line directives, up to the kernel. */
static const char *struct_text(arena *a, const char *name, const char *spec, const char *source)
{
    struct text out = {.a = a};
    text_printf(&out, "// Written by tfgen: %s of %s for cdna; read it beside templates/gemm/pack.h.\n", name, spec);
    const char *from = source, *end = strstr(source, "static_assert(sizeof(mixed_memory<");
    for (const char *at = source; (at = strstr(at, "\n#line 1 \"templates/")); at++) from = at + 1;
    from = strstr(from, "\nstruct ") + 1;
    for (const char *next; from < end; from = next) {
        next = strchr(from, '\n') + 1;
        if (strncmp(from, "#line", 5) != 0) text_append(&out, from, (size_t)(next - from));
    }
    return out.data;
}

static const char *golden_text(const golden *g, const build *b)
{
    for (int i = 0; i < b->p->launch_count; i++) {
        const launch *l = &b->p->launches[i];
        if (runs(l->source.body, g->program) && (!g->kernel || strcmp(g->kernel, l->name) == 0)) return l->spec_header;
    }
    for (int i = 0; i < b->p->pack_count; i++)
        if (g->kernel && strcmp(g->kernel, b->p->packs[i].name) == 0)
            return struct_text(b->a, g->kernel, g->spec, source_join(b->a, &b->p->packs[i].source));
    ck_abort_msg("%s has no %s kernel %s", g->spec, g->program, g->kernel ? g->kernel : "");
}

START_TEST(the_spec_struct_beside_a_template_is_what_the_emitter_writes)
{
    const golden *g = &goldens[_i];
    const char *lines = g->line;
    const tuning asked = {.lines = &lines, .count = g->line ? 1 : 0};
    const char *update = getenv("TFGEN_GOLDEN_UPDATE");
    char *spec = slurp(g->spec);
    ck_assert_ptr_nonnull(spec);
    build b = build_tuned(g->spec, spec, g->target ? g->target : "gfx942", fusion_tile, g->target ? &asked : NULL);
    const char *text = golden_text(g, &b);
    if (update && *update && strcmp(update, "0") != 0) {
        FILE *f = fopen(g->path, "wb");
        ck_assert_ptr_nonnull(f);
        fputs(text, f);
        ck_assert_int_eq(fclose(f), 0);
    }
    char *expected = slurp(g->path);
    ck_assert_msg(expected && strcmp(expected, text) == 0, "%s is not what tfgen emits now; make golden rewrites it", g->path);
    free(expected);
    free(spec);
    arena_free(b.a);
}
END_TEST

START_TEST(a_template_with_its_spec_struct_compiles_without_warnings)
{
    const golden *g = &goldens[_i];
    char path[] = "/tmp/tfgen-template-XXXXXX", command[512];
    if (system("clang-22 --version > /dev/null 2>&1") != 0) {
        printf("skipped: no clang-22\n");
        return;
    }
    char *header = slurp(g->path);
    ck_assert_ptr_nonnull(header);
    char name[64] = "";
    for (const char *at = header; (at = strstr(at, "\nstruct ")); at++) sscanf(at, "\nstruct %63[a-z0-9A-Z_]", name); /* the last one */
    free(header);
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "wb");
    fprintf(f, "#define TF_TARGET_AMD 1\n#define TF_WAVE 64\n#define TF_TRACED(...)\n");
    static const char *const before[] = {"base/device.h",       "base/ops.h",  "isa/simt.h",  "base/sums.h",
                                         "frame/frame_mixed.h", "base/spec.h", "base/rope.h", "gemm/pieces.h", "attention/attention.h"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) fprintf(f, "#include \"templates/%s\"\n", before[i]);
    const int folder = (int)(strrchr(g->path, '/') - g->path);
    fprintf(f, "#include \"%.*s/%s.h\"\n#include \"%s\"\nTF_KERNEL(kernel, %s::threads, %s, %s<%s>)\n", folder, g->path, g->program,
            g->path, name, name, g->program, name);
    fclose(f);
    snprintf(
        command, sizeof command,
        "clang-22 -x hip --offload-arch=gfx942 --offload-device-only -nogpulib -nogpuinc -std=c++17 -Wall -Wextra -Werror -fsyntax-only "
        "-I. %s",
        path);
    const int status = system(command);
    unlink(path);
    ck_assert_msg(status == 0, "%s: %s", g->path, command);
}
END_TEST

/* ---- the same bits for any grid and whatever else is in the batch */
static const char prefill_spec[] =
    "block: t\ndtype: bf16\ndims: {B: 1, S: 37, D: 65, H: 4, KV: 2, hd: 33}\ndynamic: {B: [1, 64], S: [1, 512]}\n"
    "inputs: {x: [B, S, D]}\nparams: {n: [D], wq: [H*hd, D], wk: [KV*hd, D], wv: [KV*hd, D], wo: [D, H*hd]}\n"
    "ops:\n  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: q, op: linear, in: [h, wq]}\n  - {out: k, op: linear, in: [h, wk]}\n"
    "  - {out: v, op: linear, in: [h, wv]}\n  - {out: a, op: attention, in: [q, k, v], heads: H, kv_heads: KV, causal: true}\n"
    "  - {out: o, op: linear, in: [a, wo]}\n  - {out: x1, op: add, in: [x, o]}\noutputs: {y: x1}\n";
static const char decode_spec[] =
    "block: t\ndtype: f16\ndims: {B: 1, S: 1, L: 1100, H: 6, KV: 2, hd: 65}\ndynamic: {B: [1, 64]}\n"
    "inputs: {q: [B, S, H*hd], k: [B, L, KV*hd], v: [B, L, KV*hd], lengths: {shape: [B], dtype: i32, range: [0, L]}}\n"
    "ops:\n  - {out: a, op: attention, in: [q, k, v], heads: H, kv_heads: KV, lengths: lengths}\noutputs: {y: a}\n";

/* Data by index, so that a larger batch begins with the smaller one. With `nan_beyond`, all but the first sequence is NaN, and so are the
 * keys and values after its 1000th; the third sequence has no keys. */
static void fill_value(const ir_value *v, void *data, long long count, long long first_count, bool nan_beyond)
{
    for (long long i = 0; i < count; i++) {
        const double x = (double)number((size_t)i + (size_t)(v->id * 977));
        const bool cache = v->name[0] == 'k' || v->name[0] == 'v', hidden = cache && i % first_count * 1100 / first_count >= 1000;
        const bool bad = nan_beyond && v->kind == value_input && (i >= first_count || hidden);
        dtype_put(v->type, data, (size_t)i, v->type == dtype_i32 ? (double)(1000 - i % 3 * 500) : bad ? NAN : x);
    }
}

/* The output, `bytes` for each sequence; the caller frees it. */
static void *run_plan(const build *b, int batch, int grid, bool nan_beyond, size_t *bytes)
{
    ir_graph *g = (ir_graph *)b->p->ir;
    const ir_value *y = NULL;
    host_log log = {0};
    tfgen_code code;
    dim_find(&g->dims, "B")->value = batch;
    for (int i = 0; i < b->p->launch_count; i++) b->p->launches[i].grid_limit = grid;
    const guarded_options options = {.cache_dir = cache};
    guarded_run *s = guarded_open(b->p, &options, &code, &log);
    ck_assert_msg(s != NULL, "%s", log.text ? log.text : "");
    for (int i = 0; i < g->value_count; i++) {
        const ir_value *v = g->values[i];
        const long long count = value_count(v, &g->dims);
        const size_t size = guarded_bytes(s, v);
        if (v->output) y = v;
        if (!size || (v->kind != value_input && v->kind != value_param)) continue;
        void *data = calloc(1, size);
        fill_value(v, data, count, count / batch, nan_beyond);
        guarded_put(s, v, data, size, &log);
        free(data);
    }
    ck_assert_msg(guarded_poison(s, &log) == code_ok && guarded_pack(s, &log) == code_ok && guarded_execute(s, NULL, &log) == code_ok, "%s",
                  log.text ? log.text : "");
    *bytes = (size_t)(value_count(y, &g->dims) / batch) * (size_t)dtype_size(y->type);
    void *out = malloc(*bytes * (size_t)batch);
    guarded_get(s, y, out, *bytes * (size_t)batch, &log);
    guarded_close(s);
    host_log_free(&log);
    return out;
}

typedef struct invariance {
    const char *spec, *target;
} invariance;

static const invariance invariances[] = {{prefill_spec, "host"}, {prefill_spec, "gfx942"}, {decode_spec, "host"}, {decode_spec, "gfx1100"}};

START_TEST(a_sequence_has_the_same_bits_alone_in_a_batch_and_on_a_small_grid)
{
    const build b = build_plan("t.yaml", invariances[_i].spec, invariances[_i].target, fusion_ops);
    static const struct {
        int batch, grid;
        bool nan_beyond;
    } runs[] = {{1, 1, false}, {3, 0, false}, {3, 5, true}};
    size_t bytes, again;
    unsigned char *alone = run_plan(&b, 1, 0, false, &bytes);
    const dtype type = graph_value(b.p->ir, "x") ? dtype_bf16 : dtype_f16;
    for (size_t i = 0; i < bytes / 2; i++) ck_assert_msg(isfinite(dtype_get(type, alone, i)), "element %zu is not finite", i);
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        unsigned char *other = run_plan(&b, runs[r].batch, runs[r].grid, runs[r].nan_beyond, &again);
        ck_assert_uint_eq(bytes, again);
        for (size_t i = 0; i < bytes; i++)
            ck_assert_msg(alone[i] == other[i], "%s, batch %d, grid %d: byte %zu differs", invariances[_i].target, runs[r].batch,
                          runs[r].grid, i);
        const bool no_key = invariances[_i].spec == decode_spec && runs[r].batch == 3;
        for (size_t i = 0; no_key && i < bytes; i++) ck_assert_msg(other[2 * bytes + i] == 0, "no key, but byte %zu is not 0", i);
        free(other);
    }
    free(alone);
    arena_free(b.a);
}
END_TEST

/* ---- the same bits for any assignment of tiles to chiplets: whole rounds and a partial one, 12 heads on 8 or 6 chiplets */
static const char matrix_spec[] =
    "block: t\ndtype: bf16\ndims: {B: 1, S: 301, D: 40, H: 12, KV: 4, hd: 16}\ndynamic: {B: [1, 64]}\n"
    "inputs: {x: [B, S, D]}\nparams: {wq: [H*hd, D], wk: [KV*hd, D], wv: [KV*hd, D], wo: [333, H*hd]}\n"
    "ops:\n  - {out: q, op: linear, in: [x, wq]}\n  - {out: k, op: linear, in: [x, wk]}\n  - {out: v, op: linear, in: [x, wv]}\n"
    "  - {out: a, op: attention, in: [q, k, v], heads: H, kv_heads: KV, causal: true}\n  - {out: y, op: linear, in: [a, wo]}\n"
    "outputs: {y: y}\n";
/* The watchdog ends a launch that makes no progress. Persistent workgroups of sm_90a may run for minutes without a barrier of the block, so
 * each completed phase of the emulated barriers must count as progress. */
START_TEST(phases_of_an_emulated_barrier_count_as_progress)
{
    static const char *const templates[] = {"templates/isa/wgmma.h", "templates/isa/bulk.h"};
    host_module *m = kernels_under("#define TF_TARGET_NVIDIA 1\n#define TF_WAVE 32\n", templates, 2, "tests/host_kernels/phases.hip");
    const int n = 7;
    const host_log *log = launch_bad(m, "phases", (host_launch_dims){.grid = {1}, .block = {64}, .wave = 32, .shared_bytes = 2048},
                                     (void *)&n, HOST_DEADLOCK);
    says(log, "its worker has seen 29 barriers, phases and blocks complete"); /* four kinds, and the first barrier */
    host_module_free(m);
}
END_TEST

static const char *const orders[][2] = {{"gemm m=32 n=128 chiplets=1", "attention chiplets=1"},
                                        {"gemm m=32 n=128", "attention block_q=64 threads=128"},
                                        {"gemm m=32 n=128 chunk=1", "attention chiplets=3"},
                                        {"gemm m=32 n=128 chunk=2 group_m=3", "attention chiplets=8"},
                                        {"gemm m=64 n=64 chiplets=6 chunk=3", "attention chiplets=6"}};

START_TEST(tiles_in_another_order_give_the_same_bits)
{
    const tuning plain = {.lines = orders[0], .count = 2}, other = {.lines = orders[1 + _i % 4], .count = 2};
    const char *target = _i < 4 ? "gfx942" : "gfx950";
    const build a = build_tuned("t.yaml", matrix_spec, target, fusion_ops, &plain),
                b = build_tuned("t.yaml", matrix_spec, target, fusion_ops, &other);
    size_t bytes, again;
    unsigned char *first = run_plan(&a, 2, 0, false, &bytes), *second = run_plan(&b, 2, 0, false, &again);
    ck_assert_uint_eq(bytes, again);
    ck_assert_msg(memcmp(first, second, 2 * bytes) == 0, "%s %s, %s", target, orders[1 + _i % 4][0], orders[1 + _i % 4][1]);
    free(first);
    free(second);
    arena_free(a.a);
    arena_free(b.a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("templates");
    TCase *t = tcase_create("functions");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_loop_test(t, an_op_of_one_operand_is_as_exact_as_its_form_says, 0, unary_count);
    tcase_add_loop_test(t, an_op_of_two_operands_is_rounded_once, 0, binary_count);
    tcase_add_loop_test(t, a_power_is_within_its_error, 0, 2);
    tcase_add_test(t, dividing_a_row_is_as_exact_as_dividing_each_number);
    tcase_add_loop_test(t, a_16_bit_form_of_a_function_is_within_its_error_for_all_inputs, 0, short_count);
    tcase_add_loop_test(t, a_quotient_by_a_reciprocal_is_as_exact_as_a_division, 0, 2);
    tcase_add_loop_test(t, a_16_bit_form_of_two_operands_is_within_its_error, 0, sizeof short_pairs / sizeof *short_pairs);
    tcase_add_test(t, every_form_of_an_op_has_its_error_measured);
    tcase_add_test(t, a_weight_of_tf32_is_the_nearest_one);
    tcase_add_loop_test(t, a_rotation_is_as_exact_at_position_131072_as_at_1, 0, 2);
    tcase_add_loop_test(t, sixteen_bit_types_convert_as_the_reference_does, 0, 2);
    tcase_add_test(t, casts_and_unaligned_stores_round_alike);
    tcase_add_loop_test(t, each_tile_belongs_to_one_chiplet_and_tiles_of_a_chiplet_are_neighbours, 0, sizeof deals / sizeof *deals);
    tcase_add_test(t, phases_of_an_emulated_barrier_count_as_progress);
    suite_add_tcase(s, t);
    TCase *g = tcase_create("spec structs");
    tcase_set_timeout(g, 60);
    tcase_add_loop_test(g, the_spec_struct_beside_a_template_is_what_the_emitter_writes, 0, golden_count);
    tcase_add_loop_test(g, a_template_with_its_spec_struct_compiles_without_warnings, 0, golden_plain);
    suite_add_tcase(s, g);
    TCase *i = tcase_create("invariance");
    tcase_set_timeout(i, 120);
    tcase_add_loop_test(i, a_sequence_has_the_same_bits_alone_in_a_batch_and_on_a_small_grid, 0, sizeof invariances / sizeof *invariances);
    TCase *more = tcase_create("more orders");
    tcase_set_tags(more, "long");
    tcase_set_timeout(more, 120);
    for (int n = 0; n < 8; n++) /* each order once, on both targets in turn */
        tcase_add_loop_test(n % 2 == n / 4 ? i : more, tiles_in_another_order_give_the_same_bits, n, n + 1);
    suite_add_tcase(s, more);
    suite_add_tcase(s, i);
    return run_suite(s);
}
