// What attention on sm_90a needs beyond isa/wgmma.h: wgmma of widths from 16 to 256 in steps of 16, with the first operand in shared memory
// or registers and an MN-major second one; pairs of 16-bit numbers unpacked to f32, zeros stored to shared memory, a fast quotient. The
// host engine has the same names.
#pragma once
#include "templates/isa/wgmma.h"

#if defined(TF_ON_HOST)

DEV int warpgroup() { return thread_index() / 128; }
DEV float near_quotient(float x, float y) { return x / y; }
DEV void shared_zero(shared_address to) { store_aligned<4>(host_shared<float>(to), splat<4>(0.0f)); }
template <class T> DEV vec<float, 2> unpacked(T, unsigned pair)
{
    vec<float, 2> v;
    for (unsigned i = 0; i < 2; i++) v[i] = to_float(__builtin_bit_cast(T, static_cast<unsigned short>(pair >> 16 * i)));
    return v;
}
template <int N> DEV void pin(unsigned (&)[N]) {}

template <class T, int N> struct wgmma_wide {
    static constexpr int registers = N / 2;
    static void along(float (&d)[registers], unsigned long long a, unsigned long long b, int keep)
    {
        const int thread = thread_index() % 128;
        tf_hs_stands_in();
        for (int i = 0; i < registers; i++) {
            const auto x = host_operand<T>(a, fragment::row(thread, i)), y = host_operand<T>(b, fragment::column(thread, i));
            float sum = keep ? d[i] : 0.0f;
            for (int k = 0; k < 16; k++) sum += x[k] * y[k];
            d[i] = sum;
        }
    }
    // The four threads of a quad hold a row of the first operand, which each gets from the others.
    static void across(float (&d)[registers], const unsigned *a, unsigned long long b)
    {
        const int thread = thread_index() % 128;
        tf_hs_stands_in();
        for (int lane = 0; lane < 4; lane++)
            for (int i = 0; i < 4; i++) {
                unsigned pair = a[i];
                for (int mask = 1; mask < 4; mask *= 2) { // gives all four threads a[i] of thread `lane`
                    const unsigned other = warp_xor(pair, mask);
                    pair = (thread % 4 ^ lane) & mask ? other : pair;
                }
                const vec<float, 2> x = unpacked(T(), pair);
                for (int c = 0; c < 2; c++) {
                    const int k = i / 2 * 8 + lane * 2 + c;
                    for (int e = 0; e < registers; e++) {
                        const T *v = host_shared<T>(host_across_at(b, fragment::column(thread, e), k));
                        if (e / 2 % 2 == i % 2) d[e] += x[c] * to_float(*v);
                    }
                }
            }
    }
};

// As stage_products (isa/wgmma_host.h), for two accumulators: products are computed when they must have ended, from the operands and
// registers as they are then.
template <class T, int Scores, int Values> struct wide_products {
    using score = wgmma_wide<T, Scores>;
    using value = wgmma_wide<T, Values>;
    static constexpr int most = 32; // 16 for scores, along heads of 256; 16 for values, along blocks of 256 keys
    struct product {
        const unsigned *weights; // null: scores
        unsigned long long a, b;
        int keep, group;
    };
    product in_flight[most];
    int count = 0, group = 0;

    DEV product &next()
    {
        if (count == most) __builtin_trap();
        return in_flight[count++];
    }
    DEV void along(float (&)[score::registers], unsigned long long a, unsigned long long b, int keep)
    {
        left_operand_says(a);
        right_operand_says<Scores>(b);
        next() = {nullptr, a, b, keep, group};
    }
    DEV void across(float (&)[value::registers], const unsigned *weights, unsigned long long b)
    {
        right_operand_says<Values>(b);
        next() = {weights, 0, b, 1, group};
    }
    DEV void commit() { group++; }
    template <int Left> DEV void wait(float (&s)[score::registers], float (&o)[value::registers])
    {
        int kept = 0;
        product_wait<Left>(); // a barrier, at which the producer can run
        for (int i = 0; i < count; i++) {
            const product x = in_flight[i];
            if (x.group + Left >= group) in_flight[kept++] = x;
            else if (x.weights) value::across(o, x.weights, x.b);
            else score::along(s, x.a, x.b, x.keep);
        }
        count = kept;
        product_wait<Left>();
    }
};
#else

DEV float near_quotient(float x, float y) { return __fdividef(x, y); }

// Index of this thread's warpgroup, as a value that ptxas knows to be warp-uniform.
DEV int warpgroup() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0); }

DEV vec<float, 2> unpacked(bf16, unsigned pair)
{
    vec<float, 2> v;
    v[0] = bits_float(pair << 16), v[1] = bits_float(pair & 0xffff0000u);
    return v;
}
DEV vec<float, 2> unpacked(f16, unsigned pair)
{
    vec<float, 2> v;
    asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(v[0]), "=f"(v[1]) : "r"(pair));
    return v;
}

DEV void shared_zero(shared_address to) // 16 bytes
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
}

// Keeps operands in registers until the products that read them have ended.
template <int N> DEV void pin(unsigned (&a)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(a[i])::"memory");
}

// wgmma_wide<T, N>: (64 x N) += (64 x 16) * (16 x N). along(d, a, b, keep) takes both operands K-major from shared memory. across(d, a, b)
// has the first in registers (a[0..3], in the layout of 16 columns of accumulators, packed in pairs) and the second MN-major in shared
// memory.
template <class T, int N> struct wgmma_wide;

// A to E: the numbers of the asm statement's operands that follow the N/2 accumulators.
#define TF_WGMMA_WIDE(T, KIND, N, R, A, B, C, D, E)                                                                                 \
    template <> struct wgmma_wide<T, N> {                                                                                           \
        static constexpr int registers = R;                                                                                         \
        DEV static void along(float (&d)[R], unsigned long long a, unsigned long long b, int keep)                                  \
        {                                                                                                                           \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #C ", 0; wgmma.mma_async.sync.aligned.m64n" #N KIND " {" TF_LIST_##R    \
                         "}, %" #A ", %" #B ", p, 1, 1, 0, 0; }"                                                                    \
                         : TF_OUT_##R                                                                                               \
                         : "l"(a), "l"(b), "r"(keep));                                                                              \
        }                                                                                                                           \
        DEV static void across(float (&d)[R], const unsigned *a, unsigned long long b)                                              \
        {                                                                                                                           \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" #N KIND " {" TF_LIST_##R          \
                         "}, {%" #A ", %" #B ", %" #C ", %" #D "}, %" #E ", p, 1, 1, 1; }"                                          \
                         : TF_OUT_##R                                                                                               \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                                     \
        }                                                                                                                           \
    };
#define TF_WGMMA_TYPES(N, R, A, B, C, D, E)                                                                                         \
    TF_WGMMA_WIDE(bf16, "k16.f32.bf16.bf16", N, R, A, B, C, D, E)                                                                   \
    TF_WGMMA_WIDE(f16, "k16.f32.f16.f16", N, R, A, B, C, D, E)
TF_WGMMA_TYPES(16, 8, 8, 9, 10, 11, 12)
TF_WGMMA_TYPES(32, 16, 16, 17, 18, 19, 20)
TF_WGMMA_TYPES(48, 24, 24, 25, 26, 27, 28)
TF_WGMMA_TYPES(64, 32, 32, 33, 34, 35, 36)
TF_WGMMA_TYPES(80, 40, 40, 41, 42, 43, 44)
TF_WGMMA_TYPES(96, 48, 48, 49, 50, 51, 52)
TF_WGMMA_TYPES(112, 56, 56, 57, 58, 59, 60)
TF_WGMMA_TYPES(128, 64, 64, 65, 66, 67, 68)
TF_WGMMA_TYPES(144, 72, 72, 73, 74, 75, 76)
TF_WGMMA_TYPES(160, 80, 80, 81, 82, 83, 84)
TF_WGMMA_TYPES(176, 88, 88, 89, 90, 91, 92)
TF_WGMMA_TYPES(192, 96, 96, 97, 98, 99, 100)
TF_WGMMA_TYPES(208, 104, 104, 105, 106, 107, 108)
TF_WGMMA_TYPES(224, 112, 112, 113, 114, 115, 116)
TF_WGMMA_TYPES(240, 120, 120, 121, 122, 123, 124)
TF_WGMMA_TYPES(256, 128, 128, 129, 130, 131, 132)

// Issues products of scores and of values, of which some are in flight while others are issued, and waits for them.
template <class T, int Scores, int Values> struct wide_products {
    using score = wgmma_wide<T, Scores>;
    using value = wgmma_wide<T, Values>;
    DEV static void along(float (&s)[score::registers], unsigned long long a, unsigned long long b, int keep)
    {
        score::along(s, a, b, keep);
    }
    DEV static void across(float (&o)[value::registers], const unsigned *weights, unsigned long long b) { value::across(o, weights, b); }
    DEV static void commit() { product_commit(); }
    template <int Left> DEV static void wait(float (&)[score::registers], float (&)[value::registers]) { product_wait<Left>(); }
};

#undef TF_WGMMA_TYPES
#undef TF_WGMMA_WIDE
#endif
