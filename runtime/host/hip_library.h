// In: hip_on_host.h before it. Out: what HIP provides as library functions: atomics, fences, vector types, mathematics, bit operations; and
// the hooks of --check. Scopes of atomics are dropped: between the threads of one worker everything is atomic anyway.
#if defined(__cplusplus) && !defined(HS_HIP_LIBRARY_H)
#define HS_HIP_LIBRARY_H
#ifndef TF_ON_HOST
#include "hip_on_host.h"
#endif

// ---- --check: clang calls these functions instead of accessing shadow memory; atomics and fences report themselves
#ifdef HS_CHECK // not inlined: the compiler then reports none of their accesses, and the reported place is their caller
#define HS_ATOMIC static HS_UNCHECKED __attribute__((noinline))
HS_UNCHECKED HS_INLINE void hs_note(const volatile void *p, unsigned long bytes, int kind, int order, const void *pc)
{
    const bool write = kind == HS_CHECK_ATOMIC_WRITE;
    const bool acquire = order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order >= __ATOMIC_ACQ_REL;
    const bool release = write && (order == __ATOMIC_RELEASE || order >= __ATOMIC_ACQ_REL);
    hs_rt.access((const void *)p, bytes, kind, pc);
    hs_rt.sync((const void *)p, (acquire ? HS_SYNC_ACQUIRE : 0) | (release ? HS_SYNC_RELEASE : 0) | (write ? 0 : HS_SYNC_LOAD));
}
#define HS_NOTE(p, kind, order) hs_note(p, sizeof *(p), kind, order, __builtin_return_address(0))
// Reports one access of this lane that the GPU's instruction makes, where code here emulates that instruction (from tf_hs_stands_in() to
// the end of its scope). Only host_watch receives it; the race check uses the accesses of the code itself.
static HS_UNCHECKED __attribute__((noinline)) void tf_hs_says(const volatile void *p, unsigned long bytes, int kind)
{
    hs_rt.access((const void *)p, bytes, kind | HS_CHECK_SAID, __builtin_return_address(0));
}
struct hs_stand_in {
    HS_UNCHECKED inline __attribute__((always_inline)) hs_stand_in() { hs_rt.sync(nullptr, HS_SYNC_STANDS_IN); }
    HS_UNCHECKED inline __attribute__((always_inline)) ~hs_stand_in() { hs_rt.sync(nullptr, HS_SYNC_STOOD_IN); }
};
#define tf_hs_stands_in() hs_stand_in hs_stands_in_here
// Checks that the address is a multiple of `bytes`, a power of two, as the GPU's instruction requires.
static HS_UNCHECKED __attribute__((noinline)) void tf_hs_aligned(const volatile void *p, unsigned long bytes)
{
    if ((uintptr_t)p % bytes) hs_rt.access((const void *)p, bytes, HS_CHECK_MISALIGNED, __builtin_return_address(0));
}
// Reports an access by an instruction that reaches global memory only: at an address of shared memory it would fault on a GPU.
static HS_UNCHECKED __attribute__((noinline)) void tf_hs_global(const volatile void *p, unsigned long bytes)
{
    hs_rt.access((const void *)p, bytes, HS_CHECK_GLOBAL, __builtin_return_address(0));
}
// clang's alignment check skips copies of classes.
template <class T> HS_UNCHECKED HS_INLINE void hs_note_alignment(const T *p, const void *pc)
{
    if ((uintptr_t)p % alignof(T)) hs_rt.access(p, alignof(T), HS_CHECK_MISALIGNED, pc);
}
// One access, even if the compiler would split it.
template <class T> HS_ATOMIC T tf_hs_read_whole(const T *p)
{
    hs_note_alignment(p, __builtin_return_address(0));
    hs_rt.access(p, sizeof *p, HS_CHECK_READ, __builtin_return_address(0));
    return *p;
}
template <class T> HS_ATOMIC void tf_hs_write_whole(T *p, const T &v)
{
    hs_note_alignment(p, __builtin_return_address(0));
    hs_rt.access(p, sizeof *p, HS_CHECK_WRITE, __builtin_return_address(0));
    *p = v;
}
#else
#define tf_hs_says(p, bytes, kind) ((void)0)
#define tf_hs_stands_in() ((void)0)
#define tf_hs_aligned(p, bytes) ((void)0)
#define tf_hs_global(p, bytes) ((void)0)
template <class T> HS_INLINE T tf_hs_read_whole(const T *p) { return *p; }
template <class T> HS_INLINE void tf_hs_write_whole(T *p, const T &v) { *p = v; }
#define HS_ATOMIC HS_INLINE
#define HS_NOTE(p, kind, order) ((void)(order))
#endif
HS_INLINE void hs_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#ifdef HS_CHECK
    hs_rt.sync(nullptr, HS_SYNC_FENCE | (order != __ATOMIC_RELEASE ? HS_SYNC_ACQUIRE : 0) |
                            (order != __ATOMIC_ACQUIRE && order != __ATOMIC_CONSUME ? HS_SYNC_RELEASE : 0));
#else
    (void)order;
#endif
}
#ifdef HS_CHECK
#define HS_HOOK extern "C" HS_HIDDEN __attribute__((used, noinline, no_sanitize("kernel-address")))
#define HS_HOOKS(n)                                                                                                            \
    HS_HOOK void __asan_load##n##_noabort(uintptr_t a) { hs_rt.access((void *)a, n, HS_CHECK_READ, __builtin_return_address(0)); } \
    HS_HOOK void __asan_store##n##_noabort(uintptr_t a) { hs_rt.access((void *)a, n, HS_CHECK_WRITE, __builtin_return_address(0)); }
HS_HOOKS(1)
HS_HOOKS(2)
HS_HOOKS(4)
HS_HOOKS(8)
HS_HOOKS(16)
HS_HOOK void __asan_loadN_noabort(uintptr_t a, size_t n) { hs_rt.access((void *)a, n, HS_CHECK_READ, __builtin_return_address(0)); }
HS_HOOK void __asan_storeN_noabort(uintptr_t a, size_t n) { hs_rt.access((void *)a, n, HS_CHECK_WRITE, __builtin_return_address(0)); }
HS_HOOK void __asan_handle_no_return() {}
// The fields used here of clang's description of a misaligned access.
struct hs_type_mismatch {
    const char *file;
    unsigned line, column;
    const void *type;
    unsigned char log_alignment, kind;
};
HS_HOOK void __ubsan_handle_type_mismatch_v1(const hs_type_mismatch *m, uintptr_t a)
{
    hs_rt.access((const void *)a, 1ul << m->log_alignment, HS_CHECK_MISALIGNED, __builtin_return_address(0));
}
// Newer compilers do not redirect memory functions to the sanitizer's, so the module has its own.
HS_UNCHECKED inline __attribute__((always_inline)) void *hs_move(void *to, const void *from, size_t n, const void *pc)
{
    hs_rt.access(from, n, HS_CHECK_READ, pc);
    hs_rt.access(to, n, HS_CHECK_WRITE, pc);
    volatile char *t = (volatile char *)to;
    const volatile char *f = (const volatile char *)from;
    if ((uintptr_t)to <= (uintptr_t)from) {
        for (size_t i = 0; i < n; i++) t[i] = f[i];
    } else {
        while (n--) t[n] = f[n];
    }
    return to;
}
HS_UNCHECKED inline __attribute__((always_inline)) void *hs_set(void *to, int v, size_t n, const void *pc)
{
    hs_rt.access(to, n, HS_CHECK_WRITE, pc);
    for (size_t i = 0; i < n; i++) ((volatile char *)to)[i] = (char)v;
    return to;
}
HS_HOOK void *memmove(void *to, const void *from, size_t n) { return hs_move(to, from, n, __builtin_return_address(0)); }
HS_HOOK void *memcpy(void *to, const void *from, size_t n) { return hs_move(to, from, n, __builtin_return_address(0)); }
HS_HOOK void *memset(void *to, int v, size_t n) { return hs_set(to, v, n, __builtin_return_address(0)); }
HS_HOOK void *__asan_memcpy(void *to, const void *from, size_t n) { return hs_move(to, from, n, __builtin_return_address(0)); }
HS_HOOK void *__asan_memmove(void *to, const void *from, size_t n) { return hs_move(to, from, n, __builtin_return_address(0)); }
HS_HOOK void *__asan_memset(void *to, int v, size_t n) { return hs_set(to, v, n, __builtin_return_address(0)); }
#endif

// ---- fences and atomics
#define __threadfence() hs_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() hs_fence(__ATOMIC_SEQ_CST)
#define __threadfence_system() hs_fence(__ATOMIC_SEQ_CST)
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

template <unsigned N> struct hs_bits {};
template <> struct hs_bits<1> { typedef uint8_t type; };
template <> struct hs_bits<2> { typedef uint16_t type; };
template <> struct hs_bits<4> { typedef uint32_t type; };
template <> struct hs_bits<8> { typedef uint64_t type; };
template <class T> struct hs_unqualified { typedef T type; };
template <class T> struct hs_unqualified<volatile T> { typedef T type; };
template <class T> struct hs_unqualified<const T> { typedef T type; };
template <class T> struct hs_unqualified<const volatile T> { typedef T type; };
template <class T> using hs_plain = typename hs_unqualified<T>::type;
template <class T> using hs_raw = typename hs_bits<sizeof(T)>::type;

template <class T> HS_ATOMIC hs_plain<T> hs_load(T *p, int order)
{
    HS_NOTE(p, HS_CHECK_ATOMIC_READ, order);
    return __builtin_bit_cast(hs_plain<T>, __atomic_load_n((const volatile hs_raw<T> *)p, __ATOMIC_SEQ_CST));
}
template <class T> HS_ATOMIC void hs_store(T *p, hs_plain<T> v, int order)
{
    HS_NOTE(p, HS_CHECK_ATOMIC_WRITE, order);
    // Weaker orders use a release store, which is a plain store on x86; a sequentially consistent one is an exchange there.
    const hs_raw<T> raw = __builtin_bit_cast(hs_raw<T>, v);
    if (order == __ATOMIC_SEQ_CST) __atomic_store_n((volatile hs_raw<T> *)p, raw, __ATOMIC_SEQ_CST);
    else __atomic_store_n((volatile hs_raw<T> *)p, raw, __ATOMIC_RELEASE);
}
template <class T> HS_ATOMIC hs_plain<T> hs_exchange(T *p, hs_plain<T> v, int order)
{
    HS_NOTE(p, HS_CHECK_ATOMIC_WRITE, order);
    return __builtin_bit_cast(hs_plain<T>,
                              __atomic_exchange_n((volatile hs_raw<T> *)p, __builtin_bit_cast(hs_raw<T>, v), __ATOMIC_SEQ_CST));
}
template <class T> HS_ATOMIC bool hs_compare_exchange(T *p, hs_plain<T> *expected, hs_plain<T> v, int order)
{
    HS_NOTE(p, HS_CHECK_ATOMIC_WRITE, order);
    hs_raw<T> e = __builtin_bit_cast(hs_raw<T>, *expected);
    const bool done = __atomic_compare_exchange_n((volatile hs_raw<T> *)p, &e, __builtin_bit_cast(hs_raw<T>, v), 0,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *expected = __builtin_bit_cast(hs_plain<T>, e);
    return done;
}
// Read-modify-writes are compare-exchange loops, except integer operations that the processor has.
template <class T, class F> HS_UNCHECKED HS_INLINE hs_plain<T> hs_modify(T *p, F f)
{
    hs_raw<T> old = __atomic_load_n((volatile hs_raw<T> *)p, __ATOMIC_RELAXED);
    hs_plain<T> v;
    do {
        v = __builtin_bit_cast(hs_plain<T>, old);
    } while (!__atomic_compare_exchange_n((volatile hs_raw<T> *)p, &old, __builtin_bit_cast(hs_raw<T>, (hs_plain<T>)f(v)), 1,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return v;
}
template <class T> struct hs_is_integer { static constexpr bool value = (T)1 / (T)2 == (T)0; };
template <class T> HS_ATOMIC hs_plain<T> hs_add(T *p, hs_plain<T> v, int order)
{
    HS_NOTE(p, HS_CHECK_ATOMIC_WRITE, order);
    if constexpr (hs_is_integer<hs_plain<T>>::value) return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
    else return hs_modify(p, [=](hs_plain<T> x) { return x + v; });
}
#define HS_MODIFY(name, expression)                                                                                            \
    template <class T> HS_ATOMIC hs_plain<T> name(T *p, hs_plain<T> v, int order)                                              \
    {                                                                                                                          \
        HS_NOTE(p, HS_CHECK_ATOMIC_WRITE, order);                                                                              \
        return hs_modify(p, [=](hs_plain<T> x) { return expression; });                                                        \
    }
HS_MODIFY(hs_sub, x - v)
HS_MODIFY(hs_and, x & v)
HS_MODIFY(hs_or, x | v)
HS_MODIFY(hs_xor, x ^ v)
HS_MODIFY(hs_min, v < x ? v : x)
HS_MODIFY(hs_max, x < v ? v : x)

#define __hip_atomic_load(p, order, scope) hs_load(p, order)
#define __hip_atomic_store(p, v, order, scope) hs_store(p, v, order)
#define __hip_atomic_exchange(p, v, order, scope) hs_exchange(p, v, order)
#define __hip_atomic_compare_exchange_strong(p, e, v, order, failure, scope) hs_compare_exchange(p, e, v, order)
#define __hip_atomic_compare_exchange_weak(p, e, v, order, failure, scope) hs_compare_exchange(p, e, v, order)
#define __hip_atomic_fetch_add(p, v, order, scope) hs_add(p, v, order)
#define __hip_atomic_fetch_sub(p, v, order, scope) hs_sub(p, v, order)
#define __hip_atomic_fetch_and(p, v, order, scope) hs_and(p, v, order)
#define __hip_atomic_fetch_or(p, v, order, scope) hs_or(p, v, order)
#define __hip_atomic_fetch_xor(p, v, order, scope) hs_xor(p, v, order)
#define __hip_atomic_fetch_min(p, v, order, scope) hs_min(p, v, order)
#define __hip_atomic_fetch_max(p, v, order, scope) hs_max(p, v, order)
#define HS_ATOMIC_OF(name, function)                                                                                              \
    template <class T> HS_INLINE T name(T *p, hs_plain<T> v) { return function(p, v, __ATOMIC_RELAXED); }
HS_ATOMIC_OF(atomicAdd, hs_add)
HS_ATOMIC_OF(unsafeAtomicAdd, hs_add)
HS_ATOMIC_OF(atomicSub, hs_sub)
HS_ATOMIC_OF(atomicAnd, hs_and)
HS_ATOMIC_OF(atomicOr, hs_or)
HS_ATOMIC_OF(atomicXor, hs_xor)
HS_ATOMIC_OF(atomicMin, hs_min)
HS_ATOMIC_OF(atomicMax, hs_max)
HS_ATOMIC_OF(atomicExch, hs_exchange)
template <class T> HS_INLINE T atomicCAS(T *p, hs_plain<T> expected, hs_plain<T> v)
{
    hs_compare_exchange(p, &expected, v, __ATOMIC_RELAXED);
    return expected;
}

// ---- vector types
#define HS_VECTOR(T, name)                                                                                                     \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                                         \
    struct name##3 { T x, y, z; };                                                                                             \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };                                         \
    HS_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; }                                                              \
    HS_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                                      \
    HS_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
HS_VECTOR(float, float)
HS_VECTOR(double, double)
HS_VECTOR(int, int)
HS_VECTOR(unsigned, uint)
HS_VECTOR(short, short)
HS_VECTOR(unsigned short, ushort)
typedef hs_dim3 dim3;

// ---- mathematics
#define HS_MATH1(name) HS_INLINE float name(float x) { return __builtin_##name(x); }
#define HS_MATH2(name) HS_INLINE float name(float x, float y) { return __builtin_##name(x, y); }
HS_MATH1(sqrtf) HS_MATH1(expf) HS_MATH1(exp2f) HS_MATH1(expm1f) HS_MATH1(logf) HS_MATH1(log2f) HS_MATH1(log10f)
HS_MATH1(log1pf) HS_MATH1(sinf) HS_MATH1(cosf) HS_MATH1(tanf) HS_MATH1(tanhf) HS_MATH1(atanf) HS_MATH1(erff) HS_MATH1(erfcf)
HS_MATH1(fabsf) HS_MATH1(floorf) HS_MATH1(ceilf) HS_MATH1(rintf) HS_MATH1(roundf) HS_MATH1(truncf) HS_MATH2(fmaxf)
HS_MATH2(fminf) HS_MATH2(powf) HS_MATH2(fmodf) HS_MATH2(copysignf) HS_MATH2(atan2f)
#define HS_MATH1D(name) HS_INLINE double name(double x) { return __builtin_##name(x); }
HS_MATH1D(sqrt) HS_MATH1D(exp) HS_MATH1D(log) HS_MATH1D(sin) HS_MATH1D(cos) HS_MATH1D(tanh) HS_MATH1D(erf) HS_MATH1D(fabs)
HS_MATH1D(floor) HS_MATH1D(ceil)
HS_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HS_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HS_INLINE float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
HS_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
HS_INLINE void sincosf(float x, float *s, float *c) { *s = __builtin_sinf(x), *c = __builtin_cosf(x); }
#define __expf expf
#define __exp2f exp2f
#define __logf logf
#define __log2f log2f
#define __sinf sinf
#define __cosf cosf
#define __powf powf
#define __frcp_rn(x) (1.0f / (x))
#define __frsqrt_rn rsqrtf
#define __fsqrt_rn sqrtf
#define __fdividef(x, y) ((x) / (y))
#define __fmaf_rn fmaf
HS_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
HS_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
HS_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
HS_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
HS_INLINE int __float2int_rn(float x) { return (int)__builtin_rintf(x); }
HS_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
HS_INLINE int __popcll(hs_u64 x) { return __builtin_popcountll(x); }
HS_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
HS_INLINE int __clzll(long long x) { return x ? __builtin_clzll((hs_u64)x) : 64; }
HS_INLINE int __ffs(int x) { return __builtin_ffs(x); }
HS_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
HS_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }

// ---- f16 on processors without F16C: the functions that the compiler calls, in integer arithmetic
#if defined(__x86_64__) && !defined(__F16C__)
HS_INLINE float hs_widen_half(uint16_t bits)
{
    const unsigned sign = (unsigned)(bits & 0x8000) << 16, e = bits >> 10 & 31, m = bits & 0x3ffu;
    if (e == 31) return __uint_as_float(sign | 0x7f800000 | m << 13 | (m ? 1u << 22 : 0));
    if (e) return __uint_as_float(sign | (e + 112) << 23 | m << 13);
    const float tiny = (float)(int)m * 0x1p-24f;
    return sign ? -tiny : tiny;
}
HS_INLINE uint16_t hs_round_half(double x) // exact for every float and double: one rounding, to nearest even
{
    const uint64_t bits = __builtin_bit_cast(uint64_t, x), magnitude = bits & ~(1ull << 63);
    const unsigned sign = (unsigned)(bits >> 48) & 0x8000;
    unsigned r;
    if (magnitude > 0x7ffull << 52) r = 0x7e00;
    else if (magnitude >= __builtin_bit_cast(uint64_t, 65520.0)) r = 0x7c00;
    else if (magnitude < __builtin_bit_cast(uint64_t, 0x1p-14)) // subnormal: the addition rounds to the last place
        r = (unsigned)(__builtin_bit_cast(uint64_t, __builtin_bit_cast(double, magnitude) + 0x1p28) & 0x7ff);
    else {
        const uint64_t odd = magnitude >> 42 & 1, rounded = magnitude + ((1ull << 41) - 1) + odd;
        r = (unsigned)((rounded >> 42) - (1008ull << 10));
    }
    return (uint16_t)(sign | r);
}
#define HS_SUPPORT extern "C" HS_HIDDEN HS_UNCHECKED __attribute__((used, noinline))
#ifdef _Float16
HS_SUPPORT float __gnu_h2f_ieee(uint16_t h) { return hs_widen_half(h); }
HS_SUPPORT uint16_t __gnu_f2h_ieee(float x) { return hs_round_half(x); }
#else
HS_SUPPORT float __extendhfsf2(_Float16 h) { return hs_widen_half(__builtin_bit_cast(uint16_t, h)); }
HS_SUPPORT _Float16 __truncsfhf2(float x) { return __builtin_bit_cast(_Float16, hs_round_half(x)); }
HS_SUPPORT _Float16 __truncdfhf2(double x) { return __builtin_bit_cast(_Float16, hs_round_half(x)); }
#endif
#endif
#endif
