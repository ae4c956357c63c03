// A function for each common elementwise op of ir/op.def, on floats and on register tiles; base/functions.h has the rarer ops. Exact forms
// call no vendor function, so they compute the same on every target, except where compilers contract a multiply and an add. NaN and
// infinities follow IEEE arithmetic on the op's formula; max and min propagate NaN.
//
// Largest errors of each form: FORM in ir/op.def (asserted by tests/templates/test_templates.c).
// Polynomials: exp and log as in SLEEF 3 (N. Shibata, F. Petrogalli, "SLEEF", IEEE TPDS 2020), sin, cos and tanh as in Cephes (S. Moshier).
//
// With TF_QUICK ops use their short forms. It is defined if all values that the kernel stores have 16 bits, not counting row scalars, or if
// no tensor of the caller is f32. Short forms pay: an epilogue does not overlap its product, so all of its time counts, and in rows kernels
// the exact forms would take longer than the memory traffic.
#pragma once
#include "templates/base/device.h"

#if defined(__clang__)
DEV float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEV float nearest(float x) { return __builtin_rintf(x); }
DEV float exact_sqrt(float x) { return __builtin_sqrtf(x); }
DEV float magnitude(float x) { return __builtin_fabsf(x); }
#else
DEV float fused(float x, float y, float z) { return fmaf(x, y, z); }
DEV float nearest(float x) { return rintf(x); }
DEV float exact_sqrt(float x) { return sqrtf(x); }
DEV float magnitude(float x) { return fabsf(x); }
#endif

DEV float exact_rsqrt(float x) { return 1.0f / exact_sqrt(x); }

// The sum of the squares of eight neighbours of a 16-bit type T, given as words.
template <class T> DEV float squares_of(const unsigned (&x)[4])
{
    union {
        unsigned word[4];
        neighbours<T, 8> of;
    } raw = {{x[0], x[1], x[2], x[3]}};
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum = fused(to_float(raw.of.e[i]), to_float(raw.of.e[i]), sum);
    return sum;
}

#if defined(TF_ON_HOST)
DEV float near_reciprocal(float x) { return 1.0f / x; }
#elif !defined(__clang__)
DEV float near_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#else
DEV float near_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
#endif
// x / y for |y| of 2^-64 to 2^64, without a division's branches: a reciprocal with an error of 2^-23, then two correction steps. The result
// is correctly rounded if |x| and the quotient are at least 2^-100, else off by at most an ulp (P. Markstein, "Computation of elementary
// functions on the IBM RISC System/6000 processor", 1990).
template <class Machine> DEV float quotient_by(float x, float y)
{
    const float first = Machine::reciprocal(y), r = fused(fused(-y, first, 1.0f), first, first), q = x * r;
    return fused(fused(-y, q, x), r, q);
}
struct near_machine {
    DEV static float reciprocal(float x) { return near_reciprocal(x); }
};
#if defined(TF_ON_HOST)
DEV float quotient(float x, float y) { return x / y; }
#else
DEV float quotient(float x, float y) { return quotient_by<near_machine>(x, y); }
#endif

// The test x - x == 0 would be wrong: if x is a product, compilers contract x - x, which is then the product's rounding error.
DEV bool is_finite(float x) { return magnitude(x) <= 3.40282347e38f; }

// x * 2^n for n in -252..252, by two factors, so that subnormal results are rounded once.
DEV float times_power(float x, int n)
{
    const int half = n / 2;
    return x * bits_float(static_cast<unsigned>(half + 127) << 23) * bits_float(static_cast<unsigned>(n - half + 127) << 23);
}

// The exponential (1 + more) * 2^n as a factor of a result. It is kept in parts because it may underflow although the result does not:
// y * (1 + more) is computed first, as fused(y, more, y) with one rounding. rest: the rounding error of `more`.
struct power {
    float more;
    int n;
    float rest;
};
// exp(x + rest) for |x| <= 170 and a small rest.
DEV power scaled_exp(float x, float rest)
{
    const float n = nearest(x * 1.442695040888963f);
    const float near = fused(n, -0.693145751953125f, x), low = fused(n, -1.428606765330187045e-06f, rest), r = near + low; // near is exact
    float u = 0.000198527617612853646278381f;
    u = fused(u, r, 0.00139304355252534151077271f);
    u = fused(u, r, 0.00833336077630519866943359f);
    u = fused(u, r, 0.0416664853692054748535156f);
    u = fused(u, r, 0.166666671633720397949219f);
    u = fused(u, r, 0.5f);
    const float more = fused(r * r, u, r);
    return {more, static_cast<int>(n), (low - (r - near)) + fused(r * r, u, r - more)};
}

DEV float exact_exp(float x)
{
    const power e = scaled_exp(x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x, 0.0f); // beyond: 0 and infinity
    return x != x ? x : times_power(1.0f + e.more, e.n);
}

DEV float exact_log(float x)
{
    const bool tiny = x < 1.17549435e-38f;
    const float scaled = tiny ? x * 8388608.0f : x; // 2^23
    const unsigned b = float_bits(scaled * 1.3333334f);
    const int e = static_cast<int>(b >> 23) - 127;
    const float m = bits_float(float_bits(scaled) - (static_cast<unsigned>(e) << 23)); // 0.75 .. 1.5
    const float f = m - 1.0f, s = quotient(f, m + 1.0f), z = s * s;                           // log m = 2s + z*s*t and 2s = f - s*f
    float t = 0.2392828464508056640625f;
    t = fused(t, z, 0.28518211841583251953125f);
    t = fused(t, z, 0.400005877017974853515625f);
    t = fused(t, z, 0.666666686534881591796875f);
    const float part = fused(-s, fused(-z, t, f), f);
    const float n = static_cast<float>(tiny ? e - 23 : e);
    const float y = fused(n, 0.693359375f, fused(n, -2.1219444e-4f, part));
    const float infinity = bits_float(0x7f800000u);
    return x == 0.0f ? -infinity : !(x >= 0.0f) ? bits_float(0x7fc00000u) : x == infinity ? x : y;
}

struct reduced_angle {
    float x, rest; // x + rest in -pi/4 .. pi/4
    int quarters;  // modulo 4
};

// 2/pi in 32-bit words; the first word is the integer part.
TF_TABLE unsigned two_over_pi[8] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// Reduces |x| >= 2^-7: multiplies the integer mantissa by the 96 bits of 2/pi that matter modulo 4 (M. Payne, R. Hanek, 1983).
DEV reduced_angle reduce_large_angle(float x)
{
    const unsigned b = float_bits(x), m = (b & 0x7fffffu) | 0x800000u;
    const int at = static_cast<int>(b >> 23 & 255u) - 120, word = at >> 5, shift = 32 - (at & 31);
    unsigned long long f[3];
#pragma unroll
    for (int i = 0; i < 3; i++)
        f[i] = (static_cast<unsigned long long>(two_over_pi[word + i]) << 32 | two_over_pi[word + i + 1]) >> shift & 0xffffffffu;
    const unsigned long long middle = m * f[1] + (m * f[2] >> 32);
    unsigned long long quarters = (m * f[0] << 32) + middle; // in units of 2^-62
    if (b >> 31) quarters = 0 - quarters;
    const unsigned long long whole = (quarters + (1ull << 61)) >> 62;
    const long long part = static_cast<long long>(quarters - (whole << 62));
    const float high = static_cast<float>(part), low = static_cast<float>(part - static_cast<long long>(high));
    const float unit = 3.40612167e-19f, unit_rest = -9.47839643e-27f, r = high * unit; // pi/2 * 2^-62
    return {r, fused(low, unit, fused(high, unit_rest, fused(high, unit, -r))), static_cast<int>(whole)};
}

// Up to |x| = 1e5 an angle is reduced by subtracting a multiple of pi/2, which is the sum of three floats (Cody and Waite).
DEV bool is_large_angle(float x) { return !(magnitude(x) < 1e5f); }
DEV reduced_angle reduce_small_angle(float x)
{
    const float n = nearest(x * 0.636619772367581343f);
    const float r = fused(n, 1.71512449e-15f, fused(n, 4.37113883e-8f, fused(n, -1.57079637050628662f, x)));
    return {r, 0.0f, static_cast<int>(n) & 3};
}

DEV float sine_near_zero(reduced_angle t)
{
    const float x = t.x, z = x * x, u = fused(z, fused(z, -1.9515295891e-4f, 8.3321608736e-3f), -1.6666654611e-1f);
    return x + fused(x * z, u, fused(-0.5f * z, t.rest, t.rest));
}
DEV float cosine_near_zero(reduced_angle t)
{
    const float x = t.x, z = x * x, u = fused(z, fused(z, 2.443315711809948e-5f, -1.388731625493765e-3f), 4.166664568298827e-2f);
    return fused(z * z, u, fused(-x, t.rest, fused(-0.5f, z, 1.0f)));
}
template <bool Cosine> struct exact_wave {
    using angle = reduced_angle;
    DEV static angle reduce(float x) { return reduce_small_angle(x); }
    DEV static angle reduce_large(float x)
    {
        angle t = reduce_large_angle(x);
        if (!is_finite(x)) t.x = x - x;
        return t;
    }
    DEV static float of(angle t)
    {
        const float y = (t.quarters & 1) != Cosine ? cosine_near_zero(t) : sine_near_zero(t);
        return (t.quarters + Cosine) & 2 ? -y : y;
    }
};
template <class Wave> DEV float wave(float x)
{
    return Wave::of(is_large_angle(x) ? Wave::reduce_large(x) : Wave::reduce(x));
}
// Sines or cosines of a vector, with one branch for all elements and one copy of the arithmetic for large angles.
template <class Wave, int N> DEV vec<float, N> waves(vec<float, N> x)
{
    typename Wave::angle t[N];
    bool large = false;
#pragma unroll
    for (int i = 0; i < N; i++) t[i] = Wave::reduce(x[i]), large |= is_large_angle(x[i]);
    if (large)
#pragma unroll 1
        for (int k = 0; k < N; k++) {
            float from = x[0];
#pragma unroll
            for (int i = 1; i < N; i++) from = i == k ? static_cast<float>(x[i]) : from;
            if (!is_large_angle(from)) continue;
            const typename Wave::angle reduced = Wave::reduce_large(from);
#pragma unroll
            for (int i = 0; i < N; i++)
                if (i == k) t[i] = reduced;
        }
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = Wave::of(t[i]);
    return x;
}
DEV float exact_sin(float x) { return wave<exact_wave<false>>(x); }
DEV float exact_cos(float x) { return wave<exact_wave<true>>(x); }

// min(x, limit) and max(x, limit); NaN if x is NaN.
#if defined(__CUDACC_RTC__)
DEV float at_most(float x, float limit)
{
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(limit));
    return y;
}
DEV float at_least(float x, float limit)
{
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(limit));
    return y;
}
#else
DEV float at_most(float x, float limit) { return x > limit ? limit : x; }
DEV float at_least(float x, float limit) { return x < limit ? limit : x; }
#endif

DEV float exact_tanh(float x)
{
    const float a = magnitude(x), z = x * x;
    float t = -5.70498872745e-3f;
    t = fused(t, z, 2.06390887954e-2f);
    t = fused(t, z, -5.37397155531e-2f);
    t = fused(t, z, 1.33314422036e-1f);
    t = fused(t, z, -3.33332819422e-1f);
    const float near = fused(t * z, x, x);
    const float far = 1.0f - quotient(2.0f, exact_exp(2.0f * at_most(a, 10.0f)) + 1.0f); // beyond 10: 1
    return a < 0.625f ? near : x < 0.0f ? -far : far;
}

// y * sigmoid(argument), for e = exp(-|argument|): y / (1 + e) for arguments >= 0, y * e / (1 + e) for negative ones. Neither form cancels
// or underflows before the result does. `rest` corrects the rounding of the sum and of the quotient; for this correction a straight line
// approximates 1 / (1 + e) well enough.
DEV float logistic(bool negative, float y, power e)
{
    const float small = bits_float(static_cast<unsigned>((e.n < -126 ? -126 : e.n) + 127) << 23), s = fused(small, e.more, small);
    const float sum = 1.0f + s, q = quotient(y, sum), more = negative ? e.more : 0.0f;
    const float rest = fused(-q, s - (sum - 1.0f), fused(-q, sum, y)) * fused(-0.5f, sum, 1.457f);
    return times_power(q + fused(q, more, fused(rest, more, rest)), negative ? e.n : 0);
}

DEV float exact_sigmoid(float x)
{
    const float y = logistic(x < 0.0f, 1.0f, scaled_exp(-at_most(magnitude(x), 110.0f), 0.0f));
    return x != x ? x : y;
}

// For activations x * f(x) with f(-inf) = 0: y if x is finite, else what the formula gives, which for -inf is NaN (-inf * 0).
DEV float activated(float x, float y) { return is_finite(x) ? y : x > 0.0f ? x : x - x; }

DEV float exact_silu(float x)
{
    const float a = at_most(magnitude(x), 110.0f); // below -110 the result is 0
    return activated(x, logistic(x < 0.0f, x < 0.0f ? -a : x, scaled_exp(-a, 0.0f)));
}

// x * (1 + tanh(u)) / 2 = x * sigmoid(2u), which does not cancel for negative x. 2u = a * (A + B*a*a) is kept in two floats, because the
// sigmoid magnifies an error of its argument.
DEV float exact_gelu_tanh(float x)
{
    const float A = 1.59576917f, A_rest = -4.53406805e-8f, B = 0.0713548139f, B_rest = 2.39883247e-9f;
    const float a = at_most(magnitude(x), 11.0f), square = a * a, square_rest = fused(a, a, -square);
    const float sum = fused(B, square, A), from = sum - A;
    const float rest = (A - (sum - from)) + fused(B, square, -from) + fused(B, square_rest, fused(B_rest, square, A_rest));
    const float u = a * sum, u_rest = fused(a, rest, fused(a, sum, -u));
    return activated(x, logistic(x < 0.0f, x < 0.0f ? -a : x, scaled_exp(-u, -u_rest)));
}

// The normal distribution function at -|x| is t * P(t) * exp(-x*x/2) for t = 1 / (1 + 5/16 |x|); P was fitted at Chebyshev nodes. x*x is
// split into two floats, because its rounding error would become an error of the exponential.
DEV float exact_gelu_erf(float x)
{
    const float a = at_most(magnitude(x), 14.5f), square = a * a;
    const float d = fused(0.3125f, a, 1.0f), d_rest = fused(0.3125f, a, 1.0f - d), t = quotient(1.0f, d);
    const float t_error = fused(-t, d_rest, fused(-t, d, 1.0f)); // relative; t * P(t) magnifies it 0.927 + 1.626 t times
    float u = -0.0183027256f;
    u = fused(u, t, 0.0876925662f);
    u = fused(u, t, -0.142753288f);
    u = fused(u, t, 0.0638322532f);
    u = fused(u, t, 0.005577642f);
    u = fused(u, t, 0.0515116677f);
    u = fused(u, t, 0.0913644955f);
    u = fused(u, t, 0.111636281f);
    const float last = fused(u, t, 0.124776952f), last_rest = fused(u, t, 0.124776952f - last);
    const float sum = fused(last, t, 0.12466415f), sum_rest = fused(last_rest, t, fused(last, t, 0.12466415f - sum));
    const power e = scaled_exp(-0.5f * square, -0.5f * fused(a, a, -square));
    const float tu = t * sum, tu_rest = fused(t, sum_rest, fused(t, sum, -tu)), half = a * tu;
    const float half_rest = fused(a, fused(tu, fused(1.626f, t, 0.927f) * t_error, tu_rest), fused(a, tu, -half));
    const float more = fused(half, e.more, fused(half_rest, e.more, fused(half, e.rest, half_rest)));
    const float tail = times_power(half + more, e.n); // |x| times the distribution function at -|x|
    return activated(x, x > 0.0f ? x - tail : -tail);
}

// ---- short forms for 16-bit results, by the GPU's own instructions. These flush subnormal numbers to 0. A subnormal operand is scaled if
// the result is normal; a product with a subnormal exponential is 0. Relative errors: reciprocal, root and inverse_root 2^-23; power (2^x)
// 2^-22; logarithm (log2) 2^-22, but for x from 0.5 to 2 an absolute error of 2^-22.
#if defined(TF_ON_HOST)
struct machine {
    DEV static float reciprocal(float x) { return near_reciprocal(x); }
    DEV static float power(float x)
    {
        const float n = nearest(x < -150.0f ? -150.0f : x > 150.0f ? 150.0f : x); // beyond: 0 and infinity
        return x != x ? x : times_power(exact_exp((x - n) * 0.693147180559945f), static_cast<int>(n));
    }
    DEV static float logarithm(float x) { return exact_log(x) * 1.44269504089f; }
    DEV static float root(float x) { return exact_sqrt(x); }
    DEV static float inverse_root(float x) { return exact_rsqrt(x); }
};
#elif !defined(__clang__)
#define TF_INSTRUCTION(name, text)                \
    DEV static float name(float x)                \
    {                                             \
        float y;                                  \
        asm(text " %0, %1;" : "=f"(y) : "f"(x)); \
        return y;                                 \
    }
struct machine {
    DEV static float reciprocal(float x) { return near_reciprocal(x); }
    TF_INSTRUCTION(power, "ex2.approx.ftz.f32")
    TF_INSTRUCTION(logarithm, "lg2.approx.ftz.f32")
    TF_INSTRUCTION(root, "sqrt.approx.ftz.f32")
    TF_INSTRUCTION(inverse_root, "rsqrt.approx.ftz.f32")
};
#undef TF_INSTRUCTION
#else
struct machine {
    DEV static float reciprocal(float x) { return near_reciprocal(x); }
#if __has_builtin(__builtin_amdgcn_exp2f) && __has_builtin(__builtin_amdgcn_logf)
    DEV static float power(float x) { return __builtin_amdgcn_exp2f(x); }
    DEV static float logarithm(float x) { return __builtin_amdgcn_logf(x); }
#else
    DEV static float power(float x) { return exact_exp(x * 0.693147180559945f); }
    DEV static float logarithm(float x) { return exact_log(x) * 1.44269504089f; }
#endif
    DEV static float root(float x) { return __builtin_amdgcn_sqrtf(x); }
    DEV static float inverse_root(float x) { return __builtin_amdgcn_rsqf(x); }
};
#endif

template <class Machine> DEV float short_exp(float x) { return Machine::power(x * 1.44269504089f); }

// log(1 + x) for |x| <= 1/16.
DEV float log_near_one(float x)
{
    const float u = fused(fused(-0.250923902f, x, 0.33398214f), x, -0.499998927f);
    return fused(x * u, x, x);
}
template <class Machine> DEV float short_log(float x)
{
    const bool tiny = x < 0x1p-126f;
    const float l = Machine::logarithm(tiny ? x * 0x1p24f : x), from = x - 1.0f;
    return magnitude(from) < 0.0625f ? log_near_one(from) : (tiny ? l - 24.0f : l) * 0.69314718056f;
}

template <class Machine> DEV float short_sqrt(float x)
{
    const bool tiny = x < 0x1p-126f;
    return Machine::root(tiny ? x * 0x1p24f : x) * (tiny ? 0x1p-12f : 1.0f);
}
template <class Machine> DEV float short_rsqrt(float x)
{
    const bool tiny = x < 0x1p-126f;
    return Machine::inverse_root(tiny ? x * 0x1p24f : x) * (tiny ? 0x1p12f : 1.0f);
}

template <class Machine> DEV float short_div(float x, float y)
{
    const float size = magnitude(y), scale = size < 0x1p-126f ? 0x1p24f : size > 0x1p126f ? 0.25f : 1.0f;
    return x * scale * Machine::reciprocal(y * scale);
}

// 1 - 2 / (exp(2x) + 1), and a polynomial where that cancels, near 0.
template <class Machine> DEV float short_tanh(float x)
{
    const float square = x * x, near = fused(x * square, fused(0.128771141f, square, -0.333246082f), x);
    const float far = fused(-2.0f, Machine::reciprocal(Machine::power(x * 2.88539008178f) + 1.0f), 1.0f);
    return magnitude(x) < 0.25f ? near : far;
}

// sin(n * pi + r) = (-1)^n * sin(r) needs one polynomial (error 1.1e-6), whereas exact forms choose between two. Adding 1.5 * 2^23 rounds
// to an integer and leaves it in the low bits of the sum. A cosine is the sine of x + pi/2.
struct half_turns {
    float rest;     // in -pi/2 .. pi/2
    unsigned whole; // the lowest bit tells whether pi was subtracted an odd number of times; the other bits mean nothing
};
template <bool Cosine> struct short_wave {
    using angle = half_turns;
    DEV static angle reduce(float x)
    {
        const float sum = fused(x, 0.318309886183790672f, Cosine ? 0.5f : 0.0f) + 12582912.0f;
        const float n = sum - 12582912.0f - (Cosine ? 0.5f : 0.0f);
        return {fused(n, 3.43024902e-15f, fused(n, 8.74227766e-8f, fused(n, -3.14159274101257324f, x))), float_bits(sum)};
    }
    DEV static angle reduce_large(float x)
    {
        const reduced_angle t = exact_wave<Cosine>::reduce_large(x);
        const int quarters = t.quarters + Cosine;
        return {quarters & 1 ? 1.57079632679489662f - magnitude(t.x) : t.x, static_cast<unsigned>(quarters) >> 1};
    }
    DEV static float of(angle t)
    {
        const float r = t.rest, z = r * r, y = fused(r * z, fused(z, fused(z, -1.854222e-4f, 8.314274e-3f), -0.16665854f), r);
        return bits_float(float_bits(y) ^ t.whole << 31);
    }
};
template <class> DEV float short_sin(float x) { return wave<short_wave<false>>(x); }
template <class> DEV float short_cos(float x) { return wave<short_wave<true>>(x); }

// 1 / (1 + exp(-x)) for `scaled` = -x / ln 2. Its relative error comes from rounding `scaled`: 2^-19 for x down to -16, 2^-16 below.
template <class Machine> DEV float short_logistic(float scaled) { return Machine::reciprocal(1.0f + Machine::power(scaled)); }
template <class Machine> DEV float short_sigmoid(float x) { return short_logistic<Machine>(x * -1.44269504089f); }
template <class Machine> DEV float short_silu(float x) { return x * short_logistic<Machine>(x * -1.44269504089f); }
template <class Machine> DEV float short_gelu_tanh(float x)
{
    return x * short_logistic<Machine>(x * fused(-0.102943240f, x * x, -2.30220819f));
}

// max(x, 0) - |x| * (the distribution function at -|x|), which is t * P(t) * exp(-x*x/2), t = 1 / (1 + 0.26 |x|). The power of two is
// scaled up by 2^64 and P down, so that it is never subnormal. -inf becomes NaN by 0 * inf.
template <class Machine> DEV float short_gelu_erf(float x)
{
    const float a = magnitude(at_most(x, 14.5f)), t = Machine::reciprocal(fused(0.26f, a, 1.0f));
    const float e = Machine::power(fused(-0.72134752f * a, a, 64.0f));
    float u = -0.07180278f * 0x1p-64f;
    u = fused(u, t, 0.225049257f * 0x1p-64f);
    u = fused(u, t, -0.101180881f * 0x1p-64f);
    u = fused(u, t, 0.16286087f * 0x1p-64f);
    u = fused(u, t, 0.0745903924f * 0x1p-64f);
    u = fused(u, t, 0.106951229f * 0x1p-64f);
    u = fused(u, t, 0.103532493f * 0x1p-64f);
    return fused(-(t * u * e), a, at_least(x, 0.0f));
}

#if defined(TF_QUICK)
#define TF_CHOSEN(name) short_##name<machine>
template <bool Cosine> using chosen_wave = short_wave<Cosine>;
#else
#define TF_CHOSEN(name) exact_##name
template <bool Cosine> using chosen_wave = exact_wave<Cosine>;
#endif

// ---- the ops on floats
DEV float op_neg(float x) { return -x; }
DEV float op_exp(float x) { return TF_CHOSEN(exp)(x); }
DEV float op_log(float x) { return TF_CHOSEN(log)(x); }
DEV float op_sqrt(float x) { return TF_CHOSEN(sqrt)(x); }
DEV float op_square(float x) { return x * x; }
DEV float op_rsqrt(float x) { return TF_CHOSEN(rsqrt)(x); }
DEV float op_sin(float x) { return TF_CHOSEN(sin)(x); }
DEV float op_cos(float x) { return TF_CHOSEN(cos)(x); }
DEV float op_tanh(float x) { return TF_CHOSEN(tanh)(x); }
DEV float op_sigmoid(float x) { return TF_CHOSEN(sigmoid)(x); }
DEV float op_silu(float x) { return TF_CHOSEN(silu)(x); }
DEV float op_gelu_erf(float x) { return TF_CHOSEN(gelu_erf)(x); }
DEV float op_gelu_tanh(float x) { return TF_CHOSEN(gelu_tanh)(x); }
DEV float op_relu(float x) { return at_least(x, 0.0f); }
// For a row's largest score: -infinity (all scores masked) becomes 0; +infinity stays, so that the row's softmax is NaN.
DEV float op_finite(float x) { return x < -3.40282347e38f ? 0.0f : x; }
DEV float op_add(float x, float y) { return x + y; }
DEV float op_sub(float x, float y) { return x - y; }
DEV float op_mul(float x, float y) { return x * y; }
DEV float op_div(float x, float y) { return x / y; } // correctly rounded; for vectors, TF_QUICK has a short form below
DEV float op_max(float x, float y) { return x > y || x != x ? x : y; }
DEV float op_min(float x, float y) { return x < y || x != x ? x : y; }
DEV float op_div_or_zero(float x, float y) { return y == 0.0f ? 0.0f : x / y; }

template <class T> DEV float op_cast(float x) { return rounded<T>(x); }

// ---- the ops on register tiles
template <class T, int N> DEV vec<float, N> op_cast(vec<float, N> x)
{
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = rounded<T>(x[i]);
    return x;
}
#if defined(TF_ON_HOST)
// The compiler vectorises a loop over an array; for a loop over a vector's elements it would make N calls.
#define TF_UNARY(name)                                                                         \
    template <int N> DEV vec<float, N> name(vec<float, N> x)                                   \
    {                                                                                          \
        float e[N];                                                                            \
        __builtin_memcpy(e, &x, sizeof e);                                                     \
        _Pragma("clang loop vectorize(enable)") for (int i = 0; i < N; i++) e[i] = name(e[i]); \
        __builtin_memcpy(&x, e, sizeof e);                                                     \
        return x;                                                                              \
    }
#define TF_BINARY_VECTORS(name)                                                                      \
    template <int N> DEV vec<float, N> name(vec<float, N> x, vec<float, N> y)                        \
    {                                                                                                \
        float e[N], f[N];                                                                            \
        __builtin_memcpy(e, &x, sizeof e);                                                           \
        __builtin_memcpy(f, &y, sizeof f);                                                           \
        _Pragma("clang loop vectorize(enable)") for (int i = 0; i < N; i++) e[i] = name(e[i], f[i]); \
        __builtin_memcpy(&x, e, sizeof e);                                                           \
        return x;                                                                                    \
    }
#else
#define TF_BINARY_VECTORS(name)                                                                                        \
    template <int N> DEV vec<float, N> name(vec<float, N> x, vec<float, N> y)                                          \
    {                                                                                                                  \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = name(static_cast<float>(x[i]), static_cast<float>(y[i])); \
        return x;                                                                                                      \
    }
#define TF_UNARY(name)                                                                       \
    template <int N> DEV vec<float, N> name(vec<float, N> x)                                 \
    {                                                                                        \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = name(static_cast<float>(x[i])); \
        return x;                                                                            \
    }
#endif
#define TF_BINARY_FROM(name) \
    TF_BINARY_VECTORS(name)  \
    template <int N> DEV vec<float, N> name(float x, vec<float, N> y) { return name(splat<N>(x), y); }
#define TF_BINARY(name)  \
    TF_BINARY_FROM(name) \
    template <int N> DEV vec<float, N> name(vec<float, N> x, float y) { return name(x, splat<N>(y)); }
TF_UNARY(op_neg)
TF_UNARY(op_exp)
TF_UNARY(op_log)
TF_UNARY(op_sqrt)
TF_UNARY(op_square)
TF_UNARY(op_rsqrt)
#if defined(TF_ON_HOST)
TF_UNARY(op_sin)
TF_UNARY(op_cos)
#else
template <int N> DEV vec<float, N> op_sin(vec<float, N> x) { return waves<chosen_wave<false>>(x); }
template <int N> DEV vec<float, N> op_cos(vec<float, N> x) { return waves<chosen_wave<true>>(x); }
#endif
// For long arithmetic on several columns: with small_angles, sines and cosines do not branch. For a large angle they set a flag and return
// a wrong value; the caller then computes everything again with any_angles.
struct small_angles {
    bool failed = false;
};
struct any_angles {};
template <class Wave, int N> DEV vec<float, N> small_waves(vec<float, N> x, small_angles &angles)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        angles.failed |= is_large_angle(x[i]);
        x[i] = Wave::of(Wave::reduce(x[i]));
    }
    return x;
}
template <int N> DEV vec<float, N> op_sin(vec<float, N> x, small_angles &a) { return small_waves<chosen_wave<false>>(x, a); }
template <int N> DEV vec<float, N> op_cos(vec<float, N> x, small_angles &a) { return small_waves<chosen_wave<true>>(x, a); }
template <int N> DEV vec<float, N> op_sin(vec<float, N> x, any_angles &) { return op_sin(x); }
template <int N> DEV vec<float, N> op_cos(vec<float, N> x, any_angles &) { return op_cos(x); }
TF_UNARY(op_tanh)
TF_UNARY(op_sigmoid)
TF_UNARY(op_silu)
TF_UNARY(op_gelu_erf)
TF_UNARY(op_gelu_tanh)
TF_UNARY(op_relu)
TF_UNARY(op_finite)
TF_BINARY(op_add)
TF_BINARY(op_sub)
TF_BINARY(op_mul)
TF_BINARY(op_max)
TF_BINARY(op_min)
// Divides columns by a row scalar: one reciprocal, then a correction step per quotient, which rounds as a division would (P. Markstein,
// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990). Subnormal quotients are rounded twice. Both operands
// are scaled if the reciprocal would be infinite or subnormal; the quotient is then infinite, zero or subnormal anyway.
template <int N> DEV vec<float, N> row_div(vec<float, N> x, float y)
{
    const float size = magnitude(y), scale = size < 0x1p-100f ? 0x1p100f : size > 0x1p100f ? 0x1p-100f : 1.0f;
    const float by = y * scale, r = 1.0f / by;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const float from = x[i] * scale, q = from * r, better = fused(fused(-q, by, from), r, q);
        x[i] = magnitude(q) >= 0x1p-126f && is_finite(q) ? better : q; // zeros keep their sign, infinities stay
    }
    return x;
}
// The same for 16-bit results, without the correction step.
template <int N> DEV vec<float, N> short_row_div(vec<float, N> x, float y)
{
    const float size = magnitude(y), scale = size < 0x1p-100f ? 0x1p100f : size > 0x1p100f ? 0x1p-100f : 1.0f;
    return x * scale * (1.0f / (y * scale));
}
#if defined(TF_TARGET_HOST) // a CPU divides vectors almost as fast as it multiplies them
TF_BINARY(op_div)
TF_BINARY(op_div_or_zero)
#else
#if defined(TF_QUICK)
template <int N> DEV vec<float, N> op_div(vec<float, N> x, vec<float, N> y)
{
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = short_div<machine>(x[i], y[i]);
    return x;
}
template <int N> DEV vec<float, N> op_div(float x, vec<float, N> y) { return op_div(splat<N>(x), y); }
template <int N> DEV vec<float, N> op_div(vec<float, N> x, float y) { return short_row_div(x, y); }
template <int N> DEV vec<float, N> op_div_or_zero(vec<float, N> x, vec<float, N> y)
{
    const vec<float, N> q = op_div(x, y);
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = y[i] == 0.0f ? 0.0f : static_cast<float>(q[i]);
    return x;
}
template <int N> DEV vec<float, N> op_div_or_zero(float x, vec<float, N> y) { return op_div_or_zero(splat<N>(x), y); }
#else
TF_BINARY_FROM(op_div)
TF_BINARY_FROM(op_div_or_zero)
template <int N> DEV vec<float, N> op_div(vec<float, N> x, float y) { return row_div(x, y); }
#endif
template <int N> DEV vec<float, N> op_div_or_zero(vec<float, N> x, float y) { return y == 0.0f ? splat<N>(0.0f) : op_div(x, y); }
#endif
#undef TF_UNARY
#undef TF_BINARY_FROM
#undef TF_BINARY
#undef TF_BINARY_VECTORS
