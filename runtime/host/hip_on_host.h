// In: HIP C++ that follows it in one translation unit (clang -x c++ -std=c++17), after hs_abi.h.
// Out: the names of the HIP language on a CPU: geometry, barriers, wave operations, atomics, shared memory, entries.
// Refuses: extern __shared__ (TF_SHARED_DYN instead). Includes no system header, so that parsing takes milliseconds.
#if defined(__cplusplus) && !defined(HS_HIP_ON_HOST_H)
#define HS_HIP_ON_HOST_H
#ifndef HS_ABI_H
#include "hs_abi.h"
#endif
#define TF_ON_HOST 1
#define HS_INLINE static inline __attribute__((always_inline))
#define HS_LIKELY(x) __builtin_expect(!!(x), 1)
#define HS_HIDDEN __attribute__((visibility("hidden")))
// Without optimisation, functions of the engine and of templates are called, not inlined: inlining makes an attention kernel compile four
// times as long. With --check they are inlined, because its reports name the inlined calls around an access.
#if !defined(__OPTIMIZE__) && !defined(HS_CHECK)
#define always_inline unused
#endif

#if defined(__x86_64__) && __clang_major__ < 15 && !defined(__AVX512FP16__)
#define _Float16 __fp16 // arithmetic is in float; tfgen's f16 is a storage type
#endif

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __SIZE_TYPE__ size_t;

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((__always_inline__)) // even unoptimised: each inlined copy of a wait is its own place
#define __launch_bounds__(...)
// One copy per module, which one block uses at a time: correct, but launches then have a single worker. TF_SHARED_STRUCT is fast.
#define __shared__ static __attribute__((section("hs_shared")))
#define address_space(n) // LDS and global pointers are plain pointers here
#define amdgpu_flat_work_group_size(...)
#define amdgpu_waves_per_eu(...)

// ---- the engine. Declared constant, so that the compiler keeps its fields across barriers; hs_bind() fills it before any launch.
__asm__(".pushsection .data\n\t.balign 16\n\t.globl hs_rt\n\t.hidden hs_rt\nhs_rt:\n\t.zero 128\n\t.popsection");
extern "C" HS_HIDDEN const hs_runtime hs_rt;
static_assert(sizeof(hs_runtime) <= 128, "hs_rt is too small");
#define HS_EXPORT extern "C" __attribute__((visibility("default")))
#define HS_UNCHECKED __attribute__((no_sanitize("kernel-address")))
HS_EXPORT HS_UNCHECKED unsigned hs_bind(const hs_runtime *engine)
{
    void *to = (void *)&hs_rt;
    __asm__("" : "+r"(to));
    for (unsigned i = 0; i < sizeof(hs_runtime) / 8; i++) ((volatile hs_u64 *)to)[i] = ((const volatile hs_u64 *)engine)[i];
    return HS_ABI_VERSION;
}
extern "C" HS_HIDDEN __attribute__((weak)) char __start_hs_shared[], __stop_hs_shared[];
HS_EXPORT HS_UNCHECKED void hs_static_shared(char **from, char **to) { *from = __start_hs_shared, *to = __stop_hs_shared; }
#ifdef __x86_64__
#define hs_cur (*(hs_thread * __attribute__((__address_space__(257))) *)hs_rt.self)
#define hs_blk (*(hs_block * __attribute__((__address_space__(257))) *)(hs_rt.self + (long)sizeof(void *)))
#else
HS_INLINE hs_self *hs_worker() { return (hs_self *)((char *)__builtin_thread_pointer() + hs_rt.self); }
#define hs_cur (hs_worker()->cur)
#define hs_blk (hs_worker()->blk)
#endif
#define threadIdx (hs_cur->tid)
#define blockIdx (hs_blk->id)
#define blockDim (hs_blk->block)
#define gridDim (hs_blk->grid)
#define warpSize ((int)hs_cur->w->size)

// The address of an entry in the table of places. The asm adds an entry for each copy of this code: inlined into two branches, it is two
// places, as on a GPU. -fconvergent-functions keeps the compiler from duplicating it otherwise.
#ifdef __x86_64__
#define HS_ADDRESS_OF_1 "leaq 1b(%%rip), %0"
#else
#define HS_ADDRESS_OF_1 "adrp %0, 1b\n\tadd %0, %0, :lo12:1b"
#endif
#define HS_IS_ONE(macro) HS_IS_ONE_OF(macro) // 1, or 0 if not defined: sources define their target later
#define HS_IS_ONE_OF(value) HS_SECOND_OF(HS_BEFORE_##value 1, 0, 0)
#define HS_BEFORE_1 0,
#define HS_SECOND_OF(...) HS_SECOND(__VA_ARGS__)
#define HS_SECOND(first, second, ...) second
#define HS_SITE(what, op)                                                                                                      \
    ({                                                                                                                         \
        static const hs_site hs_site_here = {what, __FILE__, __LINE__, (op) | (HS_IS_ONE(TF_TARGET_NVIDIA) ? HS_OP_APART : 0)};    \
        const hs_place *hs_place_here;                                                                                         \
        __asm__ volatile(".pushsection hs_places,\"aw\"\n\t.balign 16\n1:\t.quad %c1, 2f\n\t.popsection\n2:\t" HS_ADDRESS_OF_1     \
                         : "=r"(hs_place_here)                                                                                 \
                         : "i"(&hs_site_here));                                                                                \
        hs_place_here;                                                                                                         \
    })

// ---- traps
#define hs_trap(what) hs_rt.trap(what, __FILE__, __LINE__)
#define __builtin_trap() hs_trap("trap")
#define abort() hs_trap("abort")
#undef assert
#define assert(c) ((c) ? (void)0 : hs_trap("assertion failed: " #c))
#define __assert_fail(what, file, line, function) hs_rt.trap(what, file, line)
static inline __attribute__((format(printf, 1, 2))) int hs_printf(const char *format, ...)
{
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    const int n = hs_rt.print(format, arguments);
    __builtin_va_end(arguments);
    return n;
}
#define printf(...) hs_printf(__VA_ARGS__)

// ---- shared memory: one struct per kernel, at the start of the block's arena, or the whole arena as an array
template <class T> HS_INLINE T *hs_arena(unsigned long bytes, const char *file, int line)
{
    hs_block *b = hs_blk;
    if (bytes > b->shared_bytes) hs_rt.trap("the launch gives less shared memory than the kernel's struct needs", file, line);
    return (T *)b->shared;
}
#define TF_SHARED_STRUCT(T, name)                                                                                              \
    using name##_shared_type = T;                                                                                              \
    name##_shared_type &name = *hs_arena<name##_shared_type>(sizeof(name##_shared_type), __FILE__, __LINE__)
#define TF_SHARED_DYN(T, name) T *name = hs_arena<T>(0, __FILE__, __LINE__)

// ---- waiting. The usual successor is the next lane: a predicted branch, so no scheduler state is on the critical path.
HS_INLINE hs_thread *hs_switch_to(hs_thread *t, hs_thread *n)
{
#ifdef HS_SWAP_BY_CALL
    if (n != t) hs_rt.swap(t, n);
#else
    if (HS_LIKELY(n != t)) t = hs_switch(t, n);
#endif
    hs_cur = t;
    return t;
}
HS_INLINE hs_thread *hs_wait(hs_thread *t, hs_wave *w, hs_u32 lane, hs_u32 word)
{
    hs_u32 *site = w->site + lane;
    site[0] = word;
    return hs_switch_to(t, HS_LIKELY(site[1] == HS_RUN) ? t + 1 : hs_rt.next(t));
}
HS_INLINE void hs_barrier(const hs_place *s, hs_u32 kind)
{
    hs_thread *t = hs_cur;
    hs_wait(t, t->w, t->lane, HS_WORD(s) | kind);
}
HS_INLINE void hs_yield(const hs_place *s)
{
    hs_thread *t = hs_cur;
    hs_switch_to(t, hs_rt.yield(t, s));
}
#define __syncthreads() hs_barrier(HS_SITE("__syncthreads", HS_OP_NONE), HS_BARRIER)
#define tf_grid_sync() hs_barrier(HS_SITE("tf_grid_sync", HS_OP_NONE), HS_BARRIER | HS_GRID)
#define tf_hs_yield() hs_yield(HS_SITE("a waiting loop", HS_OP_NONE))
#define __nanosleep(n) ((void)(n), tf_hs_yield())

// For barriers that are emulated by polling: the watchdog counts each completed phase as progress.
#define tf_hs_progressed() hs_rt.progressed(hs_cur)

// From now on the caller's wave and the waves after it take part in no barriers; a GPU's code uses barriers that count threads (bar.sync).
#define tf_hs_leave_barriers() hs_rt.leave_barriers(hs_cur)

// ---- clusters: adjacent blocks of the grid, which one worker runs in turn
#define tf_hs_cluster_arrive() hs_rt.cluster_arrive(hs_cur)
HS_INLINE void hs_cluster_wait(const hs_place *s)
{
    while (!hs_rt.cluster_met(hs_cur)) hs_yield(s);
}
#define tf_hs_cluster_wait() hs_cluster_wait(HS_SITE("a cluster's barrier", HS_OP_NONE))
HS_INLINE int tf_hs_cluster_rank() { return (int)hs_blk->cluster_rank; }
HS_INLINE char *tf_hs_cluster_shared(int member) { return hs_blk->cluster_shared[member]; }

// ---- wave operations: every lane puts a word into the mailbox, and all continue when the last lane has arrived
HS_INLINE hs_u64 *hs_collect(const hs_place *s, hs_u64 v)
{
    hs_thread *t = hs_cur;
    hs_wave *w = t->w;
    const hs_u32 lane = t->lane, parity = t->parity ^= 1;
    w->mail[parity][lane] = v;
    if (__builtin_expect(w->size == 1, 0)) return w->mail[parity]; // every operation is the identity there
    t = hs_wait(t, w, lane, HS_WORD(s) | parity * HS_PARITY);
    return t->w->mail[t->parity];
}
template <class T> HS_INLINE hs_u64 hs_word(T v)
{
    static_assert(sizeof(T) <= 8, "wave operations take up to 8 bytes at a time");
    hs_u64 r = 0;
    __builtin_memcpy(&r, &v, sizeof v);
    return r;
}
template <class T> HS_INLINE T hs_value(hs_u64 w)
{
    T v;
    __builtin_memcpy(&v, &w, sizeof v);
    return v;
}
HS_INLINE hs_u32 hs_lane() { return hs_cur->lane; }
HS_INLINE hs_u32 hs_wave_size() { return hs_cur->w->size; }
HS_INLINE bool hs_active(hs_u32 lane) { return hs_cur->w->exec >> (lane & 63) & 1; }
// An inactive lane gives 0, as with ds_bpermute.
template <class T> HS_INLINE T hs_from(hs_u64 *mail, hs_u32 lane) { return hs_value<T>(hs_active(lane) ? mail[lane] : 0); }
template <class T> HS_INLINE T hs_shuffle(const hs_place *s, T v, hs_u32 from)
{
    if constexpr (sizeof(T) <= 8) {
        return hs_from<T>(hs_collect(s, hs_word(v)), from);
    } else {
        hs_u64 words[(sizeof(T) + 7) / 8] = {};
        __builtin_memcpy(words, &v, sizeof v);
        for (hs_u64 &w : words) w = hs_from<hs_u64>(hs_collect(s, w), from);
        __builtin_memcpy(&v, words, sizeof v);
        return v;
    }
}
HS_INLINE hs_u32 hs_width(int width) { return width > 0 ? (hs_u32)width : hs_wave_size(); }
template <class T> HS_INLINE T hs_shfl(const hs_place *s, T v, int from, int width = 0)
{
    const hs_u32 m = hs_width(width) - 1;
    return hs_shuffle(s, v, (hs_lane() & ~m) | ((hs_u32)from & m));
}
template <class T> HS_INLINE T hs_shfl_xor(const hs_place *s, T v, int mask, int width = 0)
{
    const hs_u32 m = hs_width(width) - 1, lane = hs_lane(), from = lane ^ (hs_u32)mask;
    return hs_shuffle(s, v, (from & ~m) > (lane & ~m) ? lane : from & 63);
}
template <class T> HS_INLINE T hs_shfl_down(const hs_place *s, T v, unsigned by, int width = 0)
{
    const hs_u32 m = hs_width(width) - 1, lane = hs_lane();
    return hs_shuffle(s, v, (lane & m) + by > m ? lane : lane + by);
}
template <class T> HS_INLINE T hs_shfl_up(const hs_place *s, T v, unsigned by, int width = 0)
{
    const hs_u32 m = hs_width(width) - 1, lane = hs_lane();
    return hs_shuffle(s, v, (lane & m) < by ? lane : lane - by);
}
#define __shfl(...) hs_shfl(HS_SITE("__shfl", HS_OP_NONE), __VA_ARGS__)
#define __shfl_xor(...) hs_shfl_xor(HS_SITE("__shfl_xor", HS_OP_NONE), __VA_ARGS__)
#define __shfl_down(...) hs_shfl_down(HS_SITE("__shfl_down", HS_OP_NONE), __VA_ARGS__)
#define __shfl_up(...) hs_shfl_up(HS_SITE("__shfl_up", HS_OP_NONE), __VA_ARGS__)
#define tf_hs_shfl(...) hs_shfl(HS_SITE("tf_hs_shfl", HS_OP_NONE), __VA_ARGS__)
#define tf_hs_shfl_xor(...) hs_shfl_xor(HS_SITE("tf_hs_shfl_xor", HS_OP_NONE), __VA_ARGS__)
#define tf_hs_shfl_down(...) hs_shfl_down(HS_SITE("tf_hs_shfl_down", HS_OP_NONE), __VA_ARGS__)
#define tf_hs_shfl_up(...) hs_shfl_up(HS_SITE("tf_hs_shfl_up", HS_OP_NONE), __VA_ARGS__)

HS_INLINE hs_u64 hs_ballot(const hs_place *s, bool p) { return hs_collect(s, p)[hs_lane()]; }
HS_INLINE bool hs_any(const hs_place *s, bool p) { return hs_ballot(s, p) != 0; }
HS_INLINE bool hs_all(const hs_place *s, bool p) { return hs_ballot(s, !p) == 0; }
#define __ballot(p) hs_ballot(HS_SITE("__ballot", HS_OP_BALLOT), p)
#define __any(p) hs_any(HS_SITE("__any", HS_OP_BALLOT), p)
#define __all(p) hs_all(HS_SITE("__all", HS_OP_BALLOT), p)
#define tf_hs_ballot(p) hs_ballot(HS_SITE("tf_hs_ballot", HS_OP_BALLOT), p)
#define tf_hs_any(p) hs_any(HS_SITE("tf_hs_any", HS_OP_BALLOT), p)
#define tf_hs_all(p) hs_all(HS_SITE("tf_hs_all", HS_OP_BALLOT), p)
HS_INLINE void hs_wave_sync(const hs_place *s) { hs_collect(s, 0); }
#define tf_hs_wave_sync() hs_wave_sync(HS_SITE("tf_hs_wave_sync", HS_OP_NONE | HS_OP_MEETS))
#define __syncwarp(...) tf_hs_wave_sync()

// Sum, maximum and minimum over aligned groups of `width` lanes (all of the wave when 0), in the order of an xor butterfly: the same bits
// as the shuffles of the GPU. One pass over the wave for the types in hs_ops; the mailbox word holds the value and the width.
HS_INLINE float hs_fold(const hs_place *s, float v, int width)
{
    return hs_value<float>(hs_collect(s, hs_word(v) | (hs_u64)hs_width(width) << 32)[hs_lane()]);
}
HS_INLINE int hs_fold(const hs_place *s, int v, int width)
{
    return hs_value<int>(hs_collect(s, hs_word(v) | (hs_u64)hs_width(width) << 32)[hs_lane()]);
}
HS_INLINE unsigned hs_fold(const hs_place *s, unsigned v, int width) { return (unsigned)hs_fold(s, (int)v, width); }
template <class T> struct hs_ops {}; // other types are reduced by shuffles in the caller's code
template <> struct hs_ops<float> { enum { sum = HS_OP_SUM_F32, max = HS_OP_MAX_F32, min = HS_OP_MIN_F32 }; };
template <> struct hs_ops<int> { enum { sum = HS_OP_SUM_I32, max = HS_OP_MAX_I32, min = HS_OP_MIN_I32 }; };
template <> struct hs_ops<unsigned> { enum { sum = HS_OP_SUM_I32, max = HS_OP_MAX_U32, min = HS_OP_MIN_U32 }; };
template <class T> T hs_copy(T v); // decltype() of it: the type without const and reference
#define tf_hs_wave_sum(v, ...) hs_fold(HS_SITE("tf_hs_wave_sum", hs_ops<decltype(hs_copy(v))>::sum), v, hs_or_zero(__VA_ARGS__))
#define tf_hs_wave_max(v, ...) hs_fold(HS_SITE("tf_hs_wave_max", hs_ops<decltype(hs_copy(v))>::max), v, hs_or_zero(__VA_ARGS__))
#define tf_hs_wave_min(v, ...) hs_fold(HS_SITE("tf_hs_wave_min", hs_ops<decltype(hs_copy(v))>::min), v, hs_or_zero(__VA_ARGS__))
HS_INLINE int hs_or_zero(int width = 0) { return width; }

// ---- entries: NAME__hs(params) unpacks the arguments as hipModuleLaunchKernel gets them, so that C can call every kernel in the same way
template <unsigned... I> struct hs_list {};
template <class T, T... I> struct hs_sequence { typedef hs_list<I...> type; };
template <class T> struct hs_bare { typedef T type; };
template <class T> struct hs_bare<const T> { typedef T type; };
// Arguments lie in the caller's memory, which the checker does not know; so they must not be read by memcpy(), which it intercepts.
template <class T> HS_UNCHECKED HS_INLINE T hs_argument(const void *from)
{
#ifdef HS_CHECK
    T v;
    for (unsigned i = 0; i < sizeof v; i++) ((char *)&v)[i] = ((const volatile char *)from)[i];
    return v;
#else
    return *(const T *)from;
#endif
}
template <class... A, unsigned... I> HS_UNCHECKED HS_INLINE void hs_call(void (*f)(A...), void **params, hs_list<I...>)
{
    f(hs_argument<typename hs_bare<A>::type>(params[I])...);
}
template <class... A> HS_UNCHECKED HS_INLINE void hs_call(void (*f)(A...), void **params)
{
    hs_call(f, params, typename __make_integer_seq<hs_sequence, unsigned, sizeof...(A)>::type());
}
#define TF_EXPORT(kernel)                                                                                                      \
    HS_EXPORT HS_UNCHECKED void kernel##__hs(void **params) { hs_call(kernel, params); }
#define TF_EXPORT_CLUSTER(kernel, members)                                                                                     \
    HS_EXPORT const unsigned kernel##__hs_cluster = (members);                                                                 \
    TF_EXPORT(kernel)
#define TF_EXPORT_STACK(kernel, bytes)                                                                                         \
    HS_EXPORT const unsigned kernel##__hs_stack = (bytes);                                                                     \
    TF_EXPORT(kernel)
#endif
