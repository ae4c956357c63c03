// The rarer elementwise ops (APART in ir/op.def), by the rules of templates/base/ops.h. Only kernels with one of them include this
// template.
//
// Polynomials of erf: fitted at Chebyshev nodes.
#pragma once
#include "templates/base/ops.h"

#if defined(__clang__)
DEV float round_down(float x) { return __builtin_floorf(x); }
DEV float round_up(float x) { return __builtin_ceilf(x); }
#else
DEV float round_down(float x) { return floorf(x); }
DEV float round_up(float x) { return ceilf(x); }
#endif

// For x > 0.875, 1 - erf(x) = t * Q(t) * exp(-x*x) with t = 1 / (1 + 0.4 x). x*x is split into two floats, because its rounding error would
// become an error of the exponential. From x = 4 on the result is 1.
DEV float exact_erf(float x)
{
    const float a = at_most(magnitude(x), 4.0f), square = a * a;
    float near = -0.0006214585155248642f;
    near = fused(near, square, 0.005034370813518763f);
    near = fused(near, square, -0.026792947202920914f);
    near = fused(near, square, 0.11282496899366379f);
    near = fused(near, square, -0.3761255443096161f);
    near = fused(near, square, 0.12837915122509003f);
    const float t = quotient(1.0f, fused(0.4f, a, 1.0f));
    float u = -0.10281708836555481f;
    u = fused(u, t, 0.19911696016788483f);
    u = fused(u, t, 0.06889134645462036f);
    u = fused(u, t, 0.16951234638690948f);
    u = fused(u, t, 0.21615412831306458f);
    u = fused(u, t, 0.22304141521453857f);
    u = fused(u, t, 0.22594285011291504f);
    const power e = scaled_exp(-square, -fused(a, a, -square));
    const float tail = t * u, far = 1.0f - times_power(fused(tail, e.more, tail), e.n);
    return a < 0.875f ? fused(near, x, x) : x < 0.0f ? -far : x != x ? x : far;
}

// 2^(x + rest) for |x| <= 160 and a small rest.
DEV float power_of_two(float x, float rest)
{
    const float n = nearest(x), r = x - n;
    const float turn = r * 0.693147182464599609375f, turn_rest = fused(r, 0.693147182464599609375f, -turn);
    const power e = scaled_exp(turn, fused(r, -1.904654323148236017e-9f, fused(rest, 0.693147182464599609375f, turn_rest)));
    return times_power(1.0f + e.more, e.n + static_cast<int>(n));
}
DEV float exact_exp2(float x)
{
    const float y = power_of_two(at_most(at_least(x, -151.0f), 129.0f), 0.0f); // beyond: 0 and infinity
    return x != x ? x : y;
}

// Computes half of the result first, because 2^n may be 2^128, which is no float.
DEV float exact_expm1(float x)
{
    const power e = scaled_exp(x < -30.0f ? -30.0f : x > 89.0f ? 89.0f : x, 0.0f);
    const float half = bits_float(static_cast<unsigned>(e.n + 126) << 23), y = 2.0f * fused(half, e.more, half - 0.5f);
    return x != x ? x : e.n == 0 ? e.more : y;
}

// log(1 + x) by rounding 1 + x, then correcting the logarithm for the rounding error.
DEV float exact_log1p(float x)
{
    const float u = 1.0f + x, rest = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    const float y = exact_log(u);
    return is_finite(y) ? y + quotient(rest, u) : y;
}

DEV float exact_softplus(float x) { return at_least(x, 0.0f) + exact_log1p(exact_exp(-magnitude(x))); }

// tanh(log(1 + exp(x))) is a quotient of polynomials of e = exp(-|x|). The rounding errors of both polynomials are found and added at the
// end.
DEV float exact_mish(float x)
{
    const float a = at_most(magnitude(x), 110.0f), y = x < 0.0f ? -a : x; // below -110 the result is 0
    const power e = scaled_exp(-a, 0.0f);
    const float small = bits_float(static_cast<unsigned>((e.n < -126 ? -126 : e.n) + 127) << 23), s = fused(small, e.more, small);
    const bool negative = x < 0.0f;
    const float base = negative ? 2.0f : 1.0f, by = negative ? s : 2.0f * s, top = base + by, top_rest = by - (top - base);
    const float under = negative ? 2.0f : top, sum = fused(s, negative ? top : by, under);
    const float sum_rest = fused(s, negative ? top : by, under - sum) + (negative ? s * top_rest : top_rest);
    const float product = y * top, q = quotient(product, sum);
    const float left = fused(-q, sum, product) + fused(-q, sum_rest, fused(y, top_rest, fused(y, top, -product)));
    const float rest = left * near_reciprocal(sum), more = fused(q, e.more, fused(rest, e.more, rest));
    return activated(x, negative ? times_power(q + more, e.n) : q + rest);
}

// x * sigmoid(1.702 x), with the argument in two floats.
DEV float exact_quick_gelu(float x)
{
    const float a = at_most(magnitude(x), 65.0f), u = 1.70200002193450927734375f * a;
    const float rest = fused(1.70200002193450927734375f, a, -u) + a * -2.193450927734375e-8f;
    return activated(x, logistic(x < 0.0f, x < 0.0f ? -a : x, scaled_exp(-u, -rest)));
}

// ---- short forms (templates/base/ops.h)
template <class Machine> DEV float short_exp2(float x) { return Machine::power(x); }
template <class Machine> DEV float short_quick_gelu(float x) { return x * short_logistic<Machine>(x * -2.45546696f); }
template <class Machine> DEV float short_expm1(float x)
{
    const float u = fused(fused(0.041697368f, x, 0.166774571f), x, 0.499999851f);
    return magnitude(x) < 0.125f ? fused(x * u, x, x) : short_exp<Machine>(x) - 1.0f;
}
template <class Machine> DEV float short_log1p(float x)
{
    return magnitude(x) < 0.0625f ? log_near_one(x) : Machine::logarithm(1.0f + x) * 0.69314718056f;
}

// max(x, 0) + log(1 + e) for e = exp(-|x|), with a polynomial for log(1 + e).
template <class Machine> DEV float short_softplus(float x)
{
    const float e = Machine::power(magnitude(x) * -1.44269504089f);
    float u = 0.0141410166f;
    u = fused(u, e, -0.0664017797f);
    u = fused(u, e, 0.149223849f);
    u = fused(u, e, -0.235038593f);
    u = fused(u, e, 0.331094474f);
    u = fused(u, e, -0.499869645f);
    u = fused(u, e, 0.999998748f);
    return fused(u, e, at_least(x, 0.0f));
}

// x * s / (s + 2) for s = e * (e + 2) and e = exp(x).
template <class Machine> DEV float short_mish(float x)
{
    const float e = Machine::power(at_most(x, 20.0f) * 1.44269504089f), s = fused(e, e, 2.0f * e);
    return x * (s * Machine::reciprocal(s + 2.0f));
}

// x * P(x*x) with P in powers of x*x - 5.445; |x| above 3.3 is taken as 3.3, where erf is 1.
template <class Machine> DEV float short_erf(float x)
{
    const float a = at_least(at_most(x, 3.3f), -3.3f), z = fused(a, a, -5.445f);
    float u = 1.74998321e-10f;
    u = fused(u, z, -2.31775288e-09f);
    u = fused(u, z, 1.34863241e-08f);
    u = fused(u, z, -1.21900328e-07f);
    u = fused(u, z, 1.42259682e-06f);
    u = fused(u, z, -1.24519929e-05f);
    u = fused(u, z, 9.5541538e-05f);
    u = fused(u, z, -0.000708520878f);
    u = fused(u, z, 0.00512961391f);
    u = fused(u, z, -0.038870018f);
    return a * fused(u, z, 0.428135484f);
}

// log2(x) for finite x > 0 as `high` + `low`, with a relative error of 2^-28, or 2^-33 if Exact. One float would not do: pow multiplies the
// logarithm's error by y. With s = (m - 1) / (m + 1) and z = s * s, log2(m) = 2/ln 2 * s + z * s * t(z).
struct two_floats {
    float high, low;
};
template <class Machine, bool Exact> DEV two_floats long_log2(float x)
{
    const float first_factor = 2.885390043258667f, first_rest = 3.85192607e-8f, third = 0.9617967009544373f, third_rest = -7.02846181e-9f;
    const bool tiny = x < 0x1p-126f;
    const float scaled = tiny ? x * 0x1p24f : x;
    const int e = static_cast<int>(float_bits(scaled * 1.41421354f) >> 23) - 127;
    const float m = bits_float(float_bits(scaled) - (static_cast<unsigned>(e) << 23)); // sqrt(1/2) .. sqrt(2)
    const float f = m - 1.0f, d = m + 1.0f, r = Machine::reciprocal(d), s = f * r, z = s * s;
    const float s_rest = fused(-s, m - (d - 1.0f), fused(-s, d, f)) * r;
    const float n = static_cast<float>(tiny ? e - 24 : e), first = first_factor * s, sum = n + first;
    const float more = z * fused(fused(0.33251527f, z, 0.412065983f), z, 0.577078223f), t = third + more;
    const float cube = z * s, next = cube * t, both = sum + next;
    float low = (first - (sum - n)) + (next - (both - sum)) + fused(first_factor, s, -first);
    low += fused(first_rest, s, first_factor * s_rest);
    if (Exact) {
        const float t_rest = (more - (t - third)) + third_rest;
        const float cube_rest = fused(z, s, -cube) + fused(s, fused(s, s, -z), 3.0f * z * s_rest);
        low += fused(cube, t, -next) + fused(cube, t_rest, cube_rest * t);
    }
    const float high = both + low;
    return {high, low - (high - both)};
}

// y * log2(x) for finite x > 0. Where 2 to this power is infinite or 0, `low` could be NaN and is left out.
template <class Machine, bool Exact> DEV two_floats scaled_log2(float x, float y)
{
    const two_floats l = long_log2<Machine, Exact>(x);
    const float p = y * l.high;
    const bool inside = magnitude(p) < 160.0f;
    return {inside ? p : p > 0.0f ? 160.0f : -160.0f, inside ? fused(y, l.low, fused(y, l.high, -p)) : 0.0f};
}
struct exact_power {
    DEV static float of(float x, float y)
    {
        const two_floats p = scaled_log2<near_machine, true>(x, y);
        return power_of_two(p.high, p.low);
    }
};
template <class Machine> struct short_power {
    DEV static float of(float x, float y)
    {
        const two_floats p = scaled_log2<Machine, false>(x, y);
        return Machine::power(p.high) * fused(p.low, 0.693147182f, 1.0f);
    }
};

// pow as in IEEE 754: 1 if x = 1 or y = 0, even if the other operand is NaN; NaN for x < 0 and a fractional y. Small integer powers are
// products; for a constant y the choice is made at compile time. The cases are selections, not branches: with branches, NVRTC takes minutes
// for eight powers in a row.
template <class Power> DEV float any_pow(float x, float y)
{
    const float a = magnitude(x), infinity = bits_float(0x7f800000u), of_end = (a == 0.0f) == (y < 0.0f) ? infinity : 0.0f;
    const float inner = Power::of(a, y), size = a == 1.0f ? 1.0f : a == 0.0f || a == infinity ? of_end : inner;
    const bool whole = round_down(y) == y, odd = whole && round_down(0.5f * y) != 0.5f * y;
    const float signed_size = odd && float_bits(x) >> 31 ? -size : size;
    const float real = x < 0.0f && a != infinity && !whole ? bits_float(0x7fc00000u) : signed_size;
    const float other = x == 1.0f || y == 0.0f ? 1.0f : x != x || y != y ? x + y : real;
    return y == 1.0f ? x : y == 2.0f ? x * x : y == 3.0f ? x * x * x : y == 4.0f ? x * x * (x * x) : other;
}
DEV float exact_pow(float x, float y) { return any_pow<exact_power>(x, y); }
template <class Machine> DEV float short_pow(float x, float y) { return any_pow<short_power<Machine>>(x, y); }

// ---- the ops on floats
DEV float op_abs(float x) { return magnitude(x); }
DEV float op_sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }
DEV float op_floor(float x) { return round_down(x); }
DEV float op_ceil(float x) { return round_up(x); }
DEV float op_round(float x) { return nearest(x); }
DEV float op_erf(float x) { return TF_CHOSEN(erf)(x); }
DEV float op_exp2(float x) { return TF_CHOSEN(exp2)(x); }
DEV float op_expm1(float x) { return TF_CHOSEN(expm1)(x); }
DEV float op_log1p(float x) { return TF_CHOSEN(log1p)(x); }
DEV float op_softplus(float x) { return TF_CHOSEN(softplus)(x); }
DEV float op_mish(float x) { return TF_CHOSEN(mish)(x); }
DEV float op_quick_gelu(float x) { return TF_CHOSEN(quick_gelu)(x); }
DEV float op_selu(float x) { return 1.05070098f * (x > 0.0f ? x : 0.0f) + 1.75809934f * op_expm1(x > 0.0f ? 0.0f : x); } // as op_elu
DEV float op_hardsigmoid(float x)
{
    const float y = at_most(at_least(x + 3.0f, 0.0f), 6.0f);
    return fused(y, 0.166666672f, y * -4.96705388e-9f); // 1/6 in two floats
}
DEV float op_hardswish(float x) { return x * op_hardsigmoid(x); }
DEV float op_pow(float x, float y) { return TF_CHOSEN(pow)(x, y); }
DEV float op_leaky_relu(float x, float slope) { return x > 0.0f ? x : slope * x; }
// A sum, one of whose terms is 0: a condition around the exponential became a branch for each element.
DEV float op_elu(float x, float alpha) { return (x > 0.0f ? x : 0.0f) + alpha * op_expm1(x > 0.0f ? 0.0f : x); }
DEV float op_clamp(float x, float low, float high) { return op_min(op_max(x, low), high); }
DEV float op_where(float condition, float x, float y) { return condition == 0.0f ? y : x; }

// ---- the ops on register tiles, as in templates/base/ops.h
#if defined(TF_ON_HOST)
#define TF_EACH(N, value)                                                          \
    float r[N];                                                                    \
    vec<float, N> all;                                                             \
    _Pragma("clang loop vectorize(enable)") for (int i = 0; i < N; i++) r[i] = value; \
    __builtin_memcpy(&all, r, sizeof all);                                         \
    return all;
#define TF_LANES(N, x)   \
    float x##_lanes[N];  \
    __builtin_memcpy(x##_lanes, &x, sizeof x);
#define TF_LANE(x) x##_lanes[i]
#else
#define TF_EACH(N, value)                                          \
    vec<float, N> all;                                             \
    _Pragma("unroll") for (int i = 0; i < N; i++) all[i] = value;  \
    return all;
#define TF_LANES(N, x)
#define TF_LANE(x) static_cast<float>(x[i])
#endif
#define TF_UNARY(name) \
    template <int N> DEV vec<float, N> name(vec<float, N> x) { TF_LANES(N, x) TF_EACH(N, name(TF_LANE(x))) }
#define TF_BINARY(name)                                                                                  \
    template <int N> DEV vec<float, N> name(vec<float, N> x, vec<float, N> y)                            \
    {                                                                                                    \
        TF_LANES(N, x) TF_LANES(N, y) TF_EACH(N, name(TF_LANE(x), TF_LANE(y)))                           \
    }                                                                                                    \
    template <int N> DEV vec<float, N> name(float x, vec<float, N> y) { return name(splat<N>(x), y); }   \
    template <int N> DEV vec<float, N> name(vec<float, N> x, float y) { return name(x, splat<N>(y)); }
#define TF_TERNARY(name)                                                                                                     \
    template <int N> DEV vec<float, N> name(vec<float, N> x, vec<float, N> y, vec<float, N> z)                               \
    {                                                                                                                        \
        TF_LANES(N, x) TF_LANES(N, y) TF_LANES(N, z) TF_EACH(N, name(TF_LANE(x), TF_LANE(y), TF_LANE(z)))                    \
    }                                                                                                                        \
    template <int N> DEV vec<float, N> name(vec<float, N> x, vec<float, N> y, float z) { return name(x, y, splat<N>(z)); }   \
    template <int N> DEV vec<float, N> name(vec<float, N> x, float y, vec<float, N> z) { return name(x, splat<N>(y), z); }   \
    template <int N> DEV vec<float, N> name(float x, vec<float, N> y, vec<float, N> z) { return name(splat<N>(x), y, z); }   \
    template <int N> DEV vec<float, N> name(vec<float, N> x, float y, float z) { return name(x, splat<N>(y), splat<N>(z)); } \
    template <int N> DEV vec<float, N> name(float x, vec<float, N> y, float z) { return name(splat<N>(x), y, splat<N>(z)); } \
    template <int N> DEV vec<float, N> name(float x, float y, vec<float, N> z) { return name(splat<N>(x), splat<N>(y), z); }
TF_UNARY(op_abs)
TF_UNARY(op_sign)
TF_UNARY(op_floor)
TF_UNARY(op_ceil)
TF_UNARY(op_round)
TF_UNARY(op_erf)
TF_UNARY(op_exp2)
TF_UNARY(op_expm1)
TF_UNARY(op_log1p)
TF_UNARY(op_softplus)
TF_UNARY(op_mish)
TF_UNARY(op_quick_gelu)
TF_UNARY(op_selu)
TF_UNARY(op_hardsigmoid)
TF_UNARY(op_hardswish)
TF_BINARY(op_pow)
TF_BINARY(op_leaky_relu)
TF_BINARY(op_elu)
TF_TERNARY(op_clamp)
TF_TERNARY(op_where)
#undef TF_UNARY
#undef TF_BINARY
#undef TF_TERNARY
#undef TF_LANE
#undef TF_LANES
#undef TF_EACH
