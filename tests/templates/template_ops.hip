// In: arrays of floats. Out: what each op of templates/base/ops.h and each conversion of templates/base/device.h makes of them. The test
// puts the templates' texts before this one.
struct floats_args {
    const float *x, *y;
    float *out;
    int count;
};

// A vector at a time, as kernels use them; a launch's blocks share the array.
template <class Do> DEV void each_vector(const floats_args &p, Do what)
{
    for (int i = 16 * block_index(); i < p.count; i += 16 * block_total())
        store<16>(p.out + i, p.count - i, what(load<16>(p.x + i, p.count - i), load<16>(p.y + i, p.count - i)));
}

#define UNARY(name)                                                                                                             \
    extern "C" __global__ void one_##name(const floats_args p)                                                                  \
    {                                                                                                                           \
        each_vector(p, [](vec<float, 16> x, vec<float, 16>) { return name(x); });                                               \
    }                                                                                                                           \
    TF_EXPORT(one_##name)
#define BINARY(name)                                                                                                            \
    extern "C" __global__ void two_##name(const floats_args p)                                                                  \
    {                                                                                                                           \
        each_vector(p, [](vec<float, 16> x, vec<float, 16> y) { return name(x, y); });                                          \
    }                                                                                                                           \
    TF_EXPORT(two_##name)
UNARY(op_neg)
UNARY(op_exp)
UNARY(op_log)
UNARY(op_sqrt)
UNARY(op_square)
UNARY(op_rsqrt)
UNARY(op_sin)
UNARY(op_cos)
// Sines as GPUs compute a vector of them: the arithmetic for large angles is there once, not for each lane of the vector.
template <int N> DEV vec<float, N> sin_waves(vec<float, N> x) { return waves<exact_wave<false>>(x); }
template <int N> DEV vec<float, N> cos_waves(vec<float, N> x) { return waves<exact_wave<true>>(x); }
UNARY(sin_waves)
UNARY(cos_waves)
// As epilogues compute them: without branches, and again where an angle was large.
template <class Wave, int N> DEV vec<float, N> attempted(vec<float, N> x)
{
    small_angles small;
    const vec<float, N> y = small_waves<Wave>(x, small);
    return small.failed ? waves<Wave>(x) : y;
}
template <int N> DEV vec<float, N> sin_attempts(vec<float, N> x) { return attempted<exact_wave<false>>(x); }
template <int N> DEV vec<float, N> cos_attempts(vec<float, N> x) { return attempted<exact_wave<true>>(x); }
UNARY(sin_attempts)
UNARY(cos_attempts)
UNARY(op_tanh)
UNARY(op_sigmoid)
UNARY(op_silu)
UNARY(op_gelu_erf)
UNARY(op_gelu_tanh)
UNARY(op_relu)
UNARY(op_finite)
UNARY(op_abs)
UNARY(op_sign)
UNARY(op_floor)
UNARY(op_ceil)
UNARY(op_round)
UNARY(op_erf)
UNARY(op_exp2)
UNARY(op_expm1)
UNARY(op_log1p)
UNARY(op_softplus)
UNARY(op_mish)
UNARY(op_quick_gelu)
UNARY(op_selu)
UNARY(op_hardsigmoid)
UNARY(op_hardswish)
// Ops with parameters, which are the same for all lanes, as in kernels.
template <int N> DEV vec<float, N> elu_of(vec<float, N> x) { return op_elu(x, 1.5f); }
template <int N> DEV vec<float, N> clamp_of(vec<float, N> x) { return op_clamp(x, -2.0f, 3.0f); }
UNARY(elu_of)
UNARY(clamp_of)
BINARY(op_add)
BINARY(op_sub)
BINARY(op_mul)
BINARY(op_div)
BINARY(op_max)
BINARY(op_min)
BINARY(op_div_or_zero)
BINARY(op_pow)
BINARY(op_leaky_relu)
// x where y is not 0, else 7
template <int N> DEV vec<float, N> where_of(vec<float, N> x, vec<float, N> y) { return op_where(y, x, 7.0f); }
BINARY(where_of)
// Each lane divides by its own number, though kernels have one per row.
template <int N> DEV vec<float, N> row_div_each(vec<float, N> x, vec<float, N> y)
{
    for (int i = 0; i < N; i++) x[i] = row_div(splat<1>(x[i]), y[i])[0];
    return x;
}
BINARY(row_div_each)

#if !defined(TF_TEST_PACK)
// Short forms on simulated machines whose instructions are off by as much as a GPU's may be, up or down (templates/base/ops.h), and which
// flush subnormal numbers to 0. `y` chooses the machine.
template <int Power, int Reciprocal> struct worst_machine {
    DEV static float flushed(float x) { return magnitude(x) < 0x1p-126f ? 0.0f * x : x; }
    DEV static float reciprocal(float x) { return flushed(1.0f / flushed(x) * (1.0f + Reciprocal * 0x1p-23f)); }
    DEV static float power(float x)
    {
        if (x != x) return x;
        x = x < -250.0f ? -250.0f : x > 250.0f ? 250.0f : x; // beyond: 0 and infinity
        const float n = nearest(x);
        return flushed(times_power(exact_exp((x - n) * 0.693147180559945f) * (1.0f + Power * 0x1p-22f), static_cast<int>(n)));
    }
    DEV static float logarithm(float x)
    {
        const float l = exact_log(flushed(x)) * 1.44269504089f;
        return x >= 0.5f && x <= 2.0f ? l + Power * 0x1p-22f : l * (1.0f + Power * 0x1p-22f);
    }
    DEV static float root(float x) { return exact_sqrt(flushed(x)) * (1.0f + Reciprocal * 0x1p-23f); }
    DEV static float inverse_root(float x) { return exact_rsqrt(flushed(x)) * (1.0f + Reciprocal * 0x1p-23f); }
};
#define WORST(name, ...)                                         \
    (y[i] == 0.0f   ? name<worst_machine<1, 1>>(__VA_ARGS__)     \
     : y[i] == 1.0f ? name<worst_machine<1, -1>>(__VA_ARGS__)    \
     : y[i] == 2.0f ? name<worst_machine<-1, 1>>(__VA_ARGS__)    \
                    : name<worst_machine<-1, -1>>(__VA_ARGS__))
#define SHORT(name)                                                                    \
    template <int N> DEV vec<float, N> name##_each(vec<float, N> x, vec<float, N> y) \
    {                                                                                  \
        for (int i = 0; i < N; i++) x[i] = WORST(name, x[i]);                          \
        return x;                                                                      \
    }                                                                                  \
    BINARY(name##_each)
SHORT(short_exp)
SHORT(short_log)
SHORT(short_sqrt)
SHORT(short_rsqrt)
SHORT(short_tanh)
SHORT(short_sigmoid)
SHORT(short_silu)
SHORT(short_gelu_erf)
SHORT(short_gelu_tanh)
SHORT(short_erf)
SHORT(short_exp2)
SHORT(short_expm1)
SHORT(short_log1p)
SHORT(short_softplus)
SHORT(short_mish)
SHORT(short_quick_gelu)
// Uses no instruction of the simulated machine.
template <int N> DEV vec<float, N> short_sin_each(vec<float, N> x, vec<float, N>) { return waves<short_wave<false>>(x); }
template <int N> DEV vec<float, N> short_cos_each(vec<float, N> x, vec<float, N>) { return waves<short_wave<true>>(x); }
BINARY(short_sin_each)
BINARY(short_cos_each)
// An op made of short forms, by its own formula.
template <class Machine> DEV float short_elu(float x) { return x > 0.0f ? x : 1.5f * short_expm1<Machine>(x); }
template <class Machine> DEV float short_selu(float x) { return x > 0.0f ? 1.05070098f * x : 1.75809934f * short_expm1<Machine>(x); }
SHORT(short_elu)
SHORT(short_selu)
// Ops of two operands, on the machines that are off the most, up and down.
#define SHORT_PAIR(name)                                                                                                         \
    template <int N> DEV vec<float, N> name##_up(vec<float, N> x, vec<float, N> y)                                             \
    {                                                                                                                            \
        for (int i = 0; i < N; i++) x[i] = name<worst_machine<1, 1>>(static_cast<float>(x[i]), static_cast<float>(y[i]));   \
        return x;                                                                                                                \
    }                                                                                                                            \
    BINARY(name##_up)                                                                                                            \
    template <int N> DEV vec<float, N> name##_down(vec<float, N> x, vec<float, N> y)                                           \
    {                                                                                                                            \
        for (int i = 0; i < N; i++) x[i] = name<worst_machine<-1, -1>>(static_cast<float>(x[i]), static_cast<float>(y[i])); \
        return x;                                                                                                                \
    }                                                                                                                            \
    BINARY(name##_down)
SHORT_PAIR(quotient_by)
SHORT_PAIR(short_div)
SHORT_PAIR(short_pow)
template <int N> DEV vec<float, N> short_row_div_each(vec<float, N> x, vec<float, N> y)
{
    for (int i = 0; i < N; i++) x[i] = short_row_div(splat<1>(x[i]), y[i])[0];
    return x;
}
BINARY(short_row_div_each)
#else
template <int N> DEV vec<float, N> tf32_each(vec<float, N> x)
{
    for (int i = 0; i < N; i++) x[i] = tf32_nearest(x[i]);
    return x;
}
UNARY(tf32_each)
#endif

// Cosines, then sines
struct rope_args {
    const int *position;
    const unsigned long long *turns;
    float *c, *s;
    int count;
};
extern "C" __global__ void rope_points(const rope_args p)
{
    for (int i = 0; i < p.count; i++) {
        const rope_point at = rope_at(p.position[i], p.turns[i]);
        p.c[i] = at.c, p.s[i] = at.s;
    }
}
TF_EXPORT(rope_points)

// ---- conversions: `from` and `to` hold 16-bit numbers, `x` and `out` floats
struct conversion_args {
    const unsigned short *from;
    const float *x;
    unsigned short *to;
    float *out;
    int count;
};

template <class T> DEV void convert_all(const conversion_args &p)
{
    const T *from = reinterpret_cast<const T *>(p.from);
    T *to = reinterpret_cast<T *>(p.to);
    for (int i = 0; i < p.count; i += 8) {
        const int left = p.count - i;
        if (left >= 8) {
            store_aligned<8>(p.out + i, load_aligned<8>(from + i));
            store_aligned<8>(to + i, load_aligned<8>(p.x + i));
        } else {
            store<8>(p.out + i, left, load<8>(from + i, left));
            store<8>(to + i, left, load<8>(p.x + i, left));
        }
    }
}
extern "C" __global__ void convert_bf16(const conversion_args p)
{
    convert_all<bf16>(p);
}
TF_EXPORT(convert_bf16)
extern "C" __global__ void convert_f16(const conversion_args p)
{
    convert_all<f16>(p);
}
TF_EXPORT(convert_f16)

// Casts by op_cast, and by the unaligned store at odd addresses.
extern "C" __global__ void cast_both(const conversion_args p)
{
    bf16 *to = reinterpret_cast<bf16 *>(p.to);
    for (int i = 0; i < p.count; i += 5) {
        const vec<float, 5> x = load<5>(p.x + i, p.count - i);
        store<5>(p.out + i, p.count - i, op_cast<f16>(x));
        store<5>(to + i, p.count - i, x);
    }
}
TF_EXPORT(cast_both)

// ---- chiplets: for launches of 1, 2, ... `most` workgroups, one list after the other: the tile of each workgroup by chiplet_tile() if
// first < 0, else by chiplet_place() with `first` workgroups before the row
struct chiplet_args {
    int *tile;
    int first, most;
};
template <int Chiplets, int Chunk> DEV void deal(const chiplet_args &p)
{
    int *tile = p.tile;
    for (int count = 1; count <= p.most; tile += count++)
        for (int i = 0; i < count; i++)
            tile[i] = p.first < 0 ? chiplet_tile<Chiplets, Chunk>(i, count) : chiplet_place<Chiplets>(p.first, i, count);
}
#define CHIPLETS(chiplets, chunk)                                                                                               \
    extern "C" __global__ void deal_##chiplets##_##chunk(const chiplet_args p) { deal<chiplets, chunk>(p); }                    \
    TF_EXPORT(deal_##chiplets##_##chunk)
CHIPLETS(1, 1)
CHIPLETS(6, 38)
CHIPLETS(8, 1)
CHIPLETS(8, 32)
CHIPLETS(8, 38)
CHIPLETS(8, 76)
CHIPLETS(8, 1000)
