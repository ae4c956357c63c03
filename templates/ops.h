// In: floats and register tiles. Out: one function for every elementwise op of ir/op.def, the same arithmetic on every target: no vendor
// function, so results differ only by how a compiler contracts multiply and add. Refuses nothing; NaN and infinities behave as in
// IEEE arithmetic on the op's formula, and max and min pass NaN on.
//
// Errors in ulp, measured by tests/test_templates.c over the whole range: exp 2, log 2, tanh 3, erfc 8, sin and cos 2 up to |x| = 1e5.
// Polynomials: exp and log as SLEEF 3 (N. Shibata, F. Petrogalli, "SLEEF", IEEE TPDS 2020), sin, cos and tanh as Cephes (S. Moshier),
// erfc as Numerical Recipes 6.2 (Chebyshev fit).
#pragma once

#if defined(__clang__)
DEV float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEV float nearest(float x) { return __builtin_rintf(x); }
DEV double nearest(double x) { return __builtin_rint(x); }
DEV double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEV float root(float x) { return __builtin_sqrtf(x); }
DEV float magnitude(float x) { return __builtin_fabsf(x); }
#else
DEV float fused(float x, float y, float z) { return fmaf(x, y, z); }
DEV float nearest(float x) { return rintf(x); }
DEV double nearest(double x) { return rint(x); }
DEV double fused(double x, double y, double z) { return fma(x, y, z); }
DEV float root(float x) { return sqrtf(x); }
DEV float magnitude(float x) { return fabsf(x); }
#endif

// x * 2^n for n in -252..252: two factors, so that subnormal results are rounded once.
DEV float times_power(float x, int n)
{
    const int half = n / 2;
    return x * bits_float(static_cast<unsigned>(half + 127) << 23) * bits_float(static_cast<unsigned>(n - half + 127) << 23);
}

DEV float exact_exp(float x)
{
    const float bounded = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x; // beyond: 0 and infinity
    const float n = nearest(bounded * 1.442695040888963f);
    const float r = fused(n, -1.428606765330187045e-06f, fused(n, -0.693145751953125f, bounded));
    float u = 0.000198527617612853646278381f;
    u = fused(u, r, 0.00139304355252534151077271f);
    u = fused(u, r, 0.00833336077630519866943359f);
    u = fused(u, r, 0.0416664853692054748535156f);
    u = fused(u, r, 0.166666671633720397949219f);
    u = fused(u, r, 0.5f);
    u = 1.0f + fused(r * r, u, r);
    return x != x ? x : times_power(u, static_cast<int>(n));
}

DEV float exact_log(float x)
{
    const bool tiny = x < 1.17549435e-38f;
    const float scaled = tiny ? x * 8388608.0f : x; // 2^23
    const unsigned b = float_bits(scaled * 1.3333334f);
    const int e = static_cast<int>(b >> 23) - 127;
    const float m = bits_float(float_bits(scaled) - (static_cast<unsigned>(e) << 23)); // 0.75 .. 1.5
    const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    float t = 0.2392828464508056640625f;
    t = fused(t, z, 0.28518211841583251953125f);
    t = fused(t, z, 0.400005877017974853515625f);
    t = fused(t, z, 0.666666686534881591796875f);
    t = fused(t, z, 2.0f);
    const float n = static_cast<float>(tiny ? e - 23 : e);
    const float y = fused(n, 0.693359375f, fused(n, -2.1219444e-4f, s * t));
    const float infinity = bits_float(0x7f800000u);
    return x == 0.0f ? -infinity : !(x >= 0.0f) ? bits_float(0x7fc00000u) : x == infinity ? x : y;
}

struct turned {
    float x;      // in -pi/4 .. pi/4
    int quarters; // modulo 4
};

// Up to 1e5 by three parts of pi/2 in float (Cody and Waite); beyond, two parts in double, good to |x| = 1e15.
DEV turned reduce_angle(float x)
{
    if (magnitude(x) < 1e5f) {
        const float n = nearest(x * 0.636619772367581343f);
        const float r = fused(n, 1.71512449e-15f, fused(n, 4.37113883e-8f, fused(n, -1.57079637050628662f, x)));
        return {r, static_cast<int>(n) & 3};
    }
    const double d = static_cast<double>(x), n = nearest(d * 0.63661977236758134308);
    const double r = fused(n, -6.123233995736766e-17, fused(n, -1.5707963267948966, d));
    const double four = n - 4.0 * nearest(n * 0.25); // -2 .. 2
    return {static_cast<float>(r), static_cast<int>(four) & 3};
}

DEV float sine_near_zero(float x)
{
    const float z = x * x;
    return fused(x * z, fused(z, fused(z, -1.9515295891e-4f, 8.3321608736e-3f), -1.6666654611e-1f), x);
}
DEV float cosine_near_zero(float x)
{
    const float z = x * x;
    return fused(z * z, fused(z, fused(z, 2.443315711809948e-5f, -1.388731625493765e-3f), 4.166664568298827e-2f), fused(-0.5f, z, 1.0f));
}
DEV float exact_sin(float x)
{
    const turned t = reduce_angle(x);
    const float y = t.quarters & 1 ? cosine_near_zero(t.x) : sine_near_zero(t.x);
    return x - x != 0.0f ? x - x : t.quarters & 2 ? -y : y;
}
DEV float exact_cos(float x)
{
    const turned t = reduce_angle(x);
    const float y = t.quarters & 1 ? sine_near_zero(t.x) : cosine_near_zero(t.x);
    return x - x != 0.0f ? x - x : (t.quarters + 1) & 2 ? -y : y;
}

DEV float exact_tanh(float x)
{
    const float a = magnitude(x), z = x * x;
    float t = -5.70498872745e-3f;
    t = fused(t, z, 2.06390887954e-2f);
    t = fused(t, z, -5.37397155531e-2f);
    t = fused(t, z, 1.33314422036e-1f);
    t = fused(t, z, -3.33332819422e-1f);
    const float near = fused(t * z, x, x);
    const float far = 1.0f - 2.0f / (exact_exp(2.0f * a) + 1.0f);
    return a < 0.625f ? near : x < 0.0f ? -far : far;
}

// 1 - erf(x) with a small relative error in its tail too. x*x is split, so that a large square's rounding does not become an error
// of the exponential.
DEV float exact_erfc(float x)
{
    const float a = magnitude(x), t = 1.0f / fused(0.5f, a, 1.0f), square = a * a, rest = fused(a, a, -square);
    float u = 0.17087277f;
    u = fused(u, t, -0.82215223f);
    u = fused(u, t, 1.48851587f);
    u = fused(u, t, -1.13520398f);
    u = fused(u, t, 0.27886807f);
    u = fused(u, t, -0.18628806f);
    u = fused(u, t, 0.09678418f);
    u = fused(u, t, 0.37409196f);
    u = fused(u, t, 1.00002368f);
    u = fused(u, t, -1.26551223f);
    const float y = a > 10.0f ? 0.0f : t * exact_exp(u) * (exact_exp(-square) * (1.0f - rest));
    return x != x ? x : x < 0.0f ? 2.0f - y : y;
}

DEV float exact_sigmoid(float x) { return 1.0f / (1.0f + exact_exp(-x)); }

// ---- the ops, on floats
DEV float op_neg(float x) { return -x; }
DEV float op_exp(float x) { return exact_exp(x); }
DEV float op_log(float x) { return exact_log(x); }
DEV float op_sqrt(float x) { return root(x); }
DEV float op_square(float x) { return x * x; }
DEV float op_rsqrt(float x) { return 1.0f / root(x); }
DEV float op_sin(float x) { return exact_sin(x); }
DEV float op_cos(float x) { return exact_cos(x); }
DEV float op_tanh(float x) { return exact_tanh(x); }
DEV float op_sigmoid(float x) { return exact_sigmoid(x); }
DEV float op_silu(float x) { return x / (1.0f + exact_exp(-x)); }
DEV float op_gelu_erf(float x) { return 0.5f * x * exact_erfc(-0.707106781186547524f * x); }
// x * (1 + tanh(u)) / 2 is x * sigmoid(2u), which loses nothing for negative x
DEV float op_gelu_tanh(float x) { return x / (1.0f + exact_exp(-1.5957691216057308f * fused(0.044715f * x * x, x, x))); }
DEV float op_relu(float x) { return x < 0.0f ? 0.0f : x; }
DEV float op_finite(float x) { return x - x == 0.0f ? x : 0.0f; }
DEV float op_add(float x, float y) { return x + y; }
DEV float op_sub(float x, float y) { return x - y; }
DEV float op_mul(float x, float y) { return x * y; }
DEV float op_div(float x, float y) { return x / y; }
DEV float op_max(float x, float y) { return x > y || x != x ? x : y; }
DEV float op_min(float x, float y) { return x < y || x != x ? x : y; }
DEV float op_div_or_zero(float x, float y) { return y == 0.0f ? 0.0f : x / y; }

template <class T> DEV float op_cast(float x) { return rounded<T>(x); }

// ---- and on register tiles
template <class T, int N> DEV vec<float, N> op_cast(vec<float, N> x)
{
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = rounded<T>(x[i]);
    return x;
}
#define TF_UNARY(name)                                                                                                          \
    template <int N> DEV vec<float, N> name(vec<float, N> x)                                                                    \
    {                                                                                                                           \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = name(static_cast<float>(x[i]));                                    \
        return x;                                                                                                               \
    }
#define TF_BINARY(name)                                                                                                         \
    template <int N> DEV vec<float, N> name(vec<float, N> x, vec<float, N> y)                                                   \
    {                                                                                                                           \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = name(static_cast<float>(x[i]), static_cast<float>(y[i]));          \
        return x;                                                                                                               \
    }                                                                                                                           \
    template <int N> DEV vec<float, N> name(vec<float, N> x, float y)                                                           \
    {                                                                                                                           \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = name(static_cast<float>(x[i]), y);                                 \
        return x;                                                                                                               \
    }                                                                                                                           \
    template <int N> DEV vec<float, N> name(float x, vec<float, N> y)                                                           \
    {                                                                                                                           \
        _Pragma("unroll") for (int i = 0; i < N; i++) y[i] = name(x, static_cast<float>(y[i]));                                 \
        return y;                                                                                                               \
    }
TF_UNARY(op_neg)
TF_UNARY(op_exp)
TF_UNARY(op_log)
TF_UNARY(op_sqrt)
TF_UNARY(op_square)
TF_UNARY(op_rsqrt)
TF_UNARY(op_sin)
TF_UNARY(op_cos)
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
TF_BINARY(op_div)
TF_BINARY(op_max)
TF_BINARY(op_min)
TF_BINARY(op_div_or_zero)
#undef TF_UNARY
#undef TF_BINARY
