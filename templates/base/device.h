// What templates need of their compiler, in one form for clang (AMD), HIPRTC, NVRTC, and clang for the host engine (TF_ON_HOST): storage
// types, register tiles, loads and stores, kernels. The emitted source defines TF_TARGET_... and TF_WAVE ahead of this text. No vendor's
// headers are included.
#pragma once

#if defined(TF_ON_HOST)
#define DEV inline __attribute__((always_inline))
#define TF_TABLE static const
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define DEV __device__ __forceinline__
#define TF_TABLE static __device__ const
#elif defined(__clang__)
#ifndef __HIPCC_RTC__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#endif
#define DEV __attribute__((device)) __attribute__((always_inline)) inline
#define TF_TABLE static __constant__ const
#else
#error "templates need clang, HIPRTC or NVRTC"
#endif

// Marks a function that is not inlined: compilers take minutes for many inlined copies of long arithmetic.
#if defined(TF_ON_HOST)
#define TF_CALLED inline
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define TF_CALLED __device__ __noinline__
#else
#define TF_CALLED __attribute__((device)) __attribute__((noinline))
#endif

// All spec structs of a family declare their functions with the same parameters, and some do not use all of them.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wpass-failed" // a loop over one element is removed before its unroll pragma is applied
#endif

// ---- register tiles. With clang these are vectors (registers, host SIMD); NVRTC has no vector types, so they are arrays with operators.
#if defined(__clang__)
template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));
#else
template <class T, int N> struct vec {
    T e[N];
    DEV T &operator[](int i) { return e[i]; }
    DEV const T &operator[](int i) const { return e[i]; }
};
#define TF_VEC_OPERATOR(op)                                                          \
    template <int N> DEV vec<float, N> operator op(vec<float, N> x, vec<float, N> y) \
    {                                                                                \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = x[i] op y[i];           \
        return x;                                                                    \
    }                                                                                \
    template <int N> DEV vec<float, N> operator op(vec<float, N> x, float y)         \
    {                                                                                \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = x[i] op y;              \
        return x;                                                                    \
    }                                                                                \
    template <int N> DEV vec<float, N> operator op(float x, vec<float, N> y)         \
    {                                                                                \
        _Pragma("unroll") for (int i = 0; i < N; i++) y[i] = x op y[i];              \
        return y;                                                                    \
    }                                                                                \
    template <int N, class Y> DEV vec<float, N> &operator op##=(vec<float, N> &x, Y y) { return x = x op y; }
TF_VEC_OPERATOR(+)
TF_VEC_OPERATOR(-)
TF_VEC_OPERATOR(*)
TF_VEC_OPERATOR(/)
#undef TF_VEC_OPERATOR
#endif

template <int N> DEV vec<float, N> splat(float x)
{
    vec<float, N> v;
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = x;
    return v;
}

// The N elements of x from First on.
template <int First, int N, int M> DEV vec<float, N> part(const vec<float, M> &x)
{
    vec<float, N> v;
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = x[First + i];
    return v;
}

// ---- bits
DEV unsigned float_bits(float x)
{
    union {
        float f;
        unsigned u;
    } b = {x};
    return b.u;
}
DEV float bits_float(unsigned u)
{
    union {
        unsigned u;
        float f;
    } b = {u};
    return b.f;
}

#if defined(__gfx950__) // has a conversion instruction to bf16
#define TF_CONVERTS_BF16
#endif

// ---- storage types: bf16 and f16 are loaded, converted and stored; arithmetic is in float
struct bf16 {
    unsigned short bits;
};
#if defined(__clang__)
typedef _Float16 f16;
DEV float to_float(f16 x) { return static_cast<float>(x); }
template <class T> struct from_float;
template <> struct from_float<f16> {
    DEV static f16 convert(float x) { return static_cast<f16>(x); }
};
#else
struct f16 {
    unsigned short bits;
};
DEV float to_float(f16 x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
template <class T> struct from_float;
template <> struct from_float<f16> {
    DEV static f16 convert(float x)
    {
        f16 y;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
    }
};
#endif
DEV float to_float(float x) { return x; }
DEV float to_float(bf16 x) { return bits_float(static_cast<unsigned>(x.bits) << 16); }
template <> struct from_float<float> {
    DEV static float convert(float x) { return x; }
};
template <> struct from_float<bf16> {
    // Rounds to nearest, ties to even. A NaN stays NaN, even one whose payload lies in the low half alone.
    DEV static bf16 convert(float x)
    {
#if defined(__CUDACC_RTC__)
        bf16 y;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
#elif defined(TF_CONVERTS_BF16)
        return __builtin_bit_cast(bf16, static_cast<__bf16>(x));
#else
        const unsigned b = float_bits(x);
        const unsigned rounded = (b + 0x7fffu + (b >> 16 & 1u)) >> 16, quiet = b >> 16 | 0x40u;
        return {static_cast<unsigned short>((b & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
#endif
    }
};
// x rounded to T's precision.
template <class T> DEV float rounded(float x) { return to_float(from_float<T>::convert(x)); }

// ---- loads and stores of W adjacent elements, of which the first `left` exist: the others read as zero and are not stored. The aligned
// forms access all W elements; the address must be a multiple of their size in bytes or, if that is more than 16, of 16.
template <class T, int W> struct alignas(sizeof(T) * W >= 16 ? 16 : sizeof(T) * W) neighbours {
    T e[W];
};

#if defined(TF_ON_HOST) && !defined(HS_CHECK) // a CPU may access vectors at any address; a GPU may not, and HS_CHECK checks for that
#define TF_ANY_ADDRESS
template <class T, int W> struct __attribute__((packed)) neighbours_anywhere {
    T e[W];
};
#endif

#if defined(__CUDACC_RTC__) && defined(TF_CONST_IS_GLOBAL)
// Loads through the read-only cache. Compilers may move these above stores, so that an epilogue's loads are in flight together. That is
// right because no thread of the launch writes memory to which args has pointers to const. TF_CONST_IS_GLOBAL is defined only for kernels
// whose aligned loads through pointers to const all read device memory, never shared memory.
template <class Raw> DEV Raw load_constant(const Raw *from)
{
    if constexpr (sizeof(Raw) == 16) {
        union {
            unsigned u[4];
            Raw raw;
        } x;
        asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.u[0]), "=r"(x.u[1]), "=r"(x.u[2]), "=r"(x.u[3]) : "l"(from));
        return x.raw;
    } else if constexpr (sizeof(Raw) == 8) {
        union {
            unsigned u[2];
            Raw raw;
        } x;
        asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(x.u[0]), "=r"(x.u[1]) : "l"(from));
        return x.raw;
    } else if constexpr (sizeof(Raw) == 4) {
        union {
            unsigned u;
            Raw raw;
        } x;
        asm("ld.global.nc.u32 %0, [%1];" : "=r"(x.u) : "l"(from));
        return x.raw;
    } else {
        return *from;
    }
}
#elif defined(TF_ON_HOST)
template <class Raw> DEV Raw load_constant(const Raw *from)
{
#if defined(HS_CHECK) && defined(TF_CONST_IS_GLOBAL) && defined(TF_TARGET_NVIDIA)
    tf_hs_global(from, sizeof(Raw));
#endif
    return tf_hs_read_whole(from);
}
#else
template <class Raw> DEV Raw load_constant(const Raw *from) { return *from; }
#endif
// 16 bytes of global memory that no thread of the launch writes and that are read once. Loads are issued in the order in which they are
// written, so that those of a loop's unrolled iterations are in flight together.
#if defined(__CUDACC_RTC__)
template <class Raw> DEV Raw load_once(const Raw *from)
{
    static_assert(sizeof(Raw) == 16, "16 bytes");
    union {
        unsigned u[4];
        Raw raw;
    } x;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.u[0]), "=r"(x.u[1]), "=r"(x.u[2]), "=r"(x.u[3])
                 : "l"(from));
    return x.raw;
}
#else
template <class Raw> DEV Raw load_once(const Raw *from) { return load_constant(from); }
#endif
// A load and a store of one element.
#if defined(TF_ON_HOST)
template <class T> DEV T element_of(const T *from) { return tf_hs_read_whole(from); }
template <class T> DEV void put_element(T *to, T x) { tf_hs_write_whole(to, x); }
#else
template <class T> DEV T element_of(const T *from) { return *from; }
template <class T> DEV void put_element(T *to, T x) { *to = x; }
#endif
template <int W, class T> DEV vec<float, W> floats_of(const neighbours<T, W> &raw)
{
    vec<float, W> v;
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = to_float(raw.e[i]);
    return v;
}
template <int W, class T> DEV vec<float, W> load_aligned(const T *from)
{
    return floats_of(load_constant(reinterpret_cast<const neighbours<T, W> *>(from)));
}
template <int W, class T> DEV vec<float, W> load_aligned(T *from) // a pointer to non-const may be to shared memory
{
    return floats_of(element_of(reinterpret_cast<const neighbours<T, W> *>(from)));
}
template <int W, class T> DEV vec<float, W> load(const T *from, int left)
{
    vec<float, W> v;
#if defined(TF_ANY_ADDRESS)
    if (left >= W) {
        const neighbours_anywhere<T, W> raw = *reinterpret_cast<const neighbours_anywhere<T, W> *>(from);
        for (int i = 0; i < W; i++) v[i] = to_float(raw.e[i]);
        return v;
    }
#endif
#pragma unroll
    for (int i = 0; i < W; i++) v[i] = i < left ? to_float(element_of(from + i)) : 0.0f;
    return v;
}
template <int W, class T> DEV void store_aligned(T *to, vec<float, W> v)
{
    neighbours<T, W> raw;
#pragma unroll
    for (int i = 0; i < W; i++) raw.e[i] = from_float<T>::convert(v[i]);
#if defined(TF_ON_HOST)
    tf_hs_write_whole(reinterpret_cast<neighbours<T, W> *>(to), raw);
#else
    *reinterpret_cast<neighbours<T, W> *>(to) = raw;
#endif
}
#if defined(__CUDACC_RTC__)
// Two elements in a register, converted and packed by one instruction. The first argument selects the type.
DEV unsigned packed(bf16, float low, float high)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
DEV unsigned packed(f16, float low, float high)
{
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
// Stores two elements per 32-bit word; four of them as one 64-bit integer. In a branch on the address (rows of a cache) the compiler would
// split the store of an array into stores of single words.
template <int W, class T> DEV void store_twos(T *to, vec<float, W> v)
{
    neighbours<unsigned, W / 2> raw;
#pragma unroll
    for (int i = 0; i < W; i += 2) raw.e[i / 2] = packed(T(), v[i], v[i + 1]);
    if constexpr (W == 4) {
        unsigned long long all;
        asm("mov.b64 %0, {%1, %2};" : "=l"(all) : "r"(raw.e[0]), "r"(raw.e[1]));
        *reinterpret_cast<unsigned long long *>(to) = all;
    } else {
        *reinterpret_cast<neighbours<unsigned, W / 2> *>(to) = raw;
    }
}
template <int W> DEV void store_aligned(bf16 *to, vec<float, W> v)
{
    if constexpr (W % 2 == 0)
        store_twos<W>(to, v);
    else
        store_aligned<W, bf16>(to, v);
}
template <int W> DEV void store_aligned(f16 *to, vec<float, W> v)
{
    if constexpr (W % 2 == 0)
        store_twos<W>(to, v);
    else
        store_aligned<W, f16>(to, v);
}
#endif
template <int W, class T> DEV void store(T *to, int left, vec<float, W> v)
{
#if defined(TF_ANY_ADDRESS)
    if (left >= W) {
        neighbours_anywhere<T, W> raw;
        for (int i = 0; i < W; i++) raw.e[i] = from_float<T>::convert(v[i]);
        *reinterpret_cast<neighbours_anywhere<T, W> *>(to) = raw;
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < W; i++)
        if (i < left) put_element(to + i, from_float<T>::convert(v[i]));
}

// The `out` of an epilogue that stores its results directly to memory, W adjacent elements at a time. Half: 0 for the first granule of a
// granule pair, 1 for the second. first: whether this run of the epilogue also stores row scalars. An epilogue may run twice over a row
// (gemm/staged.h), and only one run stores them.
struct to_memory {
    static constexpr bool first = true;
    template <int Half, int W, class T> DEV void put(T *to, vec<float, W> v) { store_aligned<W>(to, v); }
    template <int Half, int W, class T> DEV void put_some(T *to, int left, vec<float, W> v) { store<W>(to, left, v); }
};

// Asserts that a field of args is at the offset that the launcher uses. NVRTC has no offsetof in constant expressions, so there only the
// size of args is asserted, by the emitted source.
#if defined(__clang__)
#define TF_LAYOUT(type, field, offset) static_assert(__builtin_offsetof(type, field) == offset, "layout of " #type)
#else
#define TF_LAYOUT(type, field, offset) static_assert(true, "")
#endif

// ---- names that generated structs use
template <int I> struct pass {
};
enum class reduction { sum, max, min };
template <class...> using nothing = void; // detects whether a struct has a member (void_t)
template <class A, class B> constexpr bool same_type = false;
template <class A> constexpr bool same_type<A, A> = true;

constexpr int ceil_div(int x, int y) { return (x + y - 1) / y; }

// ---- TF_KERNEL(name, threads, S, program): a kernel that runs a program in the mixed frame, with `threads` threads per workgroup
#if defined(TF_ON_HOST)
#define TF_KERNEL(name, threads, S, ...)                                            \
    extern "C" __global__ void name(const S::args p) { run_mixed<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#elif defined(__clang__)
#define TF_KERNEL(name, threads, S, ...)                                                                            \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(threads, threads))) name(const S::args p) \
    {                                                                                                               \
        run_mixed<__VA_ARGS__>(p);                                                                                  \
    }
#else
#if __CUDA_ARCH__ < 900 || \
    defined(TF_ALL_REGISTERS) // without the minimum of 1, ptxas spills to fit more workgroups per multiprocessor than will run
#define TF_LAUNCH_BOUNDS(threads) __launch_bounds__(threads, 1)
#else
#define TF_LAUNCH_BOUNDS(threads) __launch_bounds__(threads)
#endif
#define TF_KERNEL(name, threads, S, ...) \
    extern "C" __global__ void TF_LAUNCH_BOUNDS(threads) name(const __grid_constant__ S::args p) { run_mixed<__VA_ARGS__>(p); }
#endif
