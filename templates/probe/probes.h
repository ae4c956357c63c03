// In: arguments as runtime/cli/calibrate/meter.h fills them. Out: the kernels that `tfgen calibrate` times: they read memory, multiply,
// exchange flags between workgroups, or do nothing.
#pragma once
#include "templates/base/spec.h"

struct probe_args {
    const unsigned *from;
    unsigned *to;
    int chunks, count, step; // chunks of `from`; repetitions; distance between chunks
    float x, y;              // 1 and 0, unknown to the compiler
};
TF_LAYOUT(probe_args, to, 8);
TF_LAYOUT(probe_args, x, 28);
static_assert(sizeof(probe_args) == 40, "layout");

constexpr int probe_threads = 512, probe_ahead = 8; // a chunk has probe_ahead pieces of 16 bytes per thread

#if defined(__CUDACC_RTC__)
DEV unsigned long long cycles_now()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}
DEV unsigned flag_read(const unsigned *flag)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
DEV void flag_write(unsigned *flag, unsigned value) { asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory"); }
DEV void flag_pause() {}
#else
DEV unsigned long long cycles_now() { return __builtin_readcyclecounter(); }
#if defined(TF_ON_HOST)
DEV unsigned flag_read(const unsigned *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
DEV void flag_write(unsigned *flag, unsigned value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }
DEV void flag_pause() { tf_hs_yield(); }
#else
DEV unsigned flag_read(const unsigned *flag) { return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); }
DEV void flag_write(unsigned *flag, unsigned value) { __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); }
DEV void flag_pause() {}
#endif
#endif
// RDNA 3's cycle counter has 20 bits.
#if defined(TF_TARGET_AMD) && TF_WAVE == 32
constexpr unsigned long long cycle_mask = 0xfffff;
#else
constexpr unsigned long long cycle_mask = ~0ull;
#endif

DEV void run_nothing(const probe_args &) {}

struct alignas(16) probe_piece {
    unsigned e[4];
};
// Bypasses L1: the workgroups of a unit read the same data one after the other and would hit there.
#if defined(__CUDACC_RTC__)
DEV probe_piece piece_read(const probe_piece *from)
{
    probe_piece x;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.e[0]), "=r"(x.e[1]), "=r"(x.e[2]), "=r"(x.e[3]) : "l"(from));
    return x;
}
#elif defined(TF_TARGET_AMD)
DEV probe_piece piece_read(const probe_piece *from)
{
    const auto half = reinterpret_cast<const unsigned long long *>(from);
    const unsigned long long x = __hip_atomic_load(half, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    const unsigned long long y = __hip_atomic_load(half + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return {{static_cast<unsigned>(x), static_cast<unsigned>(x >> 32), static_cast<unsigned>(y), static_cast<unsigned>(y >> 32)}};
}
#else
DEV probe_piece piece_read(const probe_piece *from) { return *from; }
#endif

// Reads `count` chunks, `step` apart, wrapping round; each thread always has loads in flight, of this chunk or the next.
DEV void run_read(const probe_args &p)
{
    const auto from = reinterpret_cast<const probe_piece *>(p.from) + thread_index();
    constexpr long long pieces = probe_ahead * probe_threads;
    int chunk = block_index() % p.chunks;
    unsigned seen = 0;
    probe_piece got[probe_ahead];
#pragma unroll
    for (int k = 0; k < probe_ahead; k++) got[k] = piece_read(from + chunk * pieces + k * probe_threads);
    for (int i = 1; i < p.count; i++) {
        chunk += p.step;
        while (chunk >= p.chunks) chunk -= p.chunks;
#pragma unroll
        for (int k = 0; k < probe_ahead; k++) {
            seen |= got[k].e[0] | got[k].e[1] | got[k].e[2] | got[k].e[3];
            got[k] = piece_read(from + chunk * pieces + k * probe_threads);
        }
    }
#pragma unroll
    for (int k = 0; k < probe_ahead; k++) seen |= got[k].e[0] | got[k].e[1] | got[k].e[2] | got[k].e[3];
    if (seen == 1u) p.to[0] = seen; // never true: the caller's memory holds no such number
}

// 32 independent sums per thread.
DEV void run_multiply(const probe_args &p)
{
    float sum[32];
#pragma unroll
    for (int k = 0; k < 32; k++) sum[k] = static_cast<float>(thread_index() + k);
    for (int i = 0; i < p.count; i++)
#pragma unroll
        for (int k = 0; k < 32; k++) sum[k] = fused(sum[k], p.x, p.y);
    float all = 0;
#pragma unroll
    for (int k = 0; k < 32; k++) all += sum[k];
    if (all < 0.0f) p.to[0] = float_bits(all);
}

// One thread runs 32 * count dependent multiply-adds and stores how many cycles they took.
DEV void run_cycles(const probe_args &p)
{
    if (thread_index() != 0 || block_index() != 0) return;
    unsigned long long last = cycles_now(), all = 0;
    float x = p.x;
    for (int i = 0; i < p.count; i++) {
#pragma unroll
        for (int k = 0; k < 32; k++) x = fused(x, p.x, p.y);
        const unsigned long long now = cycles_now();
        all += (now - last) & cycle_mask;
        last = now;
    }
    p.to[0] = static_cast<unsigned>(all), p.to[1] = static_cast<unsigned>(all >> 32), p.to[2] = float_bits(x);
}

// The latency of flags: two workgroups answer each other `count` times; the flags start at zero.
DEV void run_answers(const probe_args &p)
{
    if (thread_index() != 0 || block_index() > 1) return;
    unsigned *const own = p.to + 64 * block_index();
    const unsigned *const other = p.to + 64 * (1 - block_index());
    for (unsigned i = 1; i <= static_cast<unsigned>(p.count); i++) {
        if (block_index() == 0) flag_write(own, i);
        while (flag_read(other) < i) flag_pause();
        if (block_index() == 1) flag_write(own, i);
    }
}

// The same while all other workgroups read memory, until the first has ended.
constexpr int busy_ahead = 4; // pieces in flight per thread: 32 KB per workgroup, as in a stream of weights
DEV void run_busy_answers(const probe_args &p)
{
    unsigned *const ended = p.to + 128;
    if (block_index() < 2) {
        run_answers(p);
        if (thread_index() == 0 && block_index() == 0) flag_write(ended, 1);
        return;
    }
    const auto from = reinterpret_cast<const probe_piece *>(p.from) + thread_index();
    int chunk = block_index() % p.chunks;
    unsigned seen = 0;
    probe_piece got[busy_ahead] = {};
    while (flag_read(ended) == 0) {
#pragma unroll 1
        for (int i = 0; i < 16; i++) {
#pragma unroll
            for (int k = 0; k < busy_ahead; k++) {
                seen |= got[k].e[0] | got[k].e[1] | got[k].e[2] | got[k].e[3];
                got[k] = piece_read(from + (static_cast<long long>(chunk) * probe_ahead + k) * probe_threads);
            }
            chunk = static_cast<int>((chunk + block_total()) % p.chunks);
        }
        flag_pause();
    }
    if (seen == 1u) p.to[129] = seen; // never true, as in run_read()
}

#if defined(TF_ON_HOST)
#define TF_PROBE(name, threads)                                                       \
    extern "C" __global__ void probe_##name##_(const probe_args p) { run_##name(p); }    \
    TF_EXPORT(probe_##name##_)
#elif defined(__clang__)
#define TF_PROBE(name, threads)                                                                                              \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(threads, threads))) probe_##name##_(const probe_args p) \
    {                                                                                                                        \
        run_##name(p);                                                                                                       \
    }
#else
#define TF_PROBE(name, threads)                                                                             \
    extern "C" __global__ void __launch_bounds__(threads) probe_##name##_(const __grid_constant__ probe_args p) \
    {                                                                                                       \
        next_may_start();                                                                                   \
        previous_wait();                                                                                    \
        run_##name(p);                                                                                      \
    }
#endif
TF_PROBE(nothing, 256)
TF_PROBE(read, probe_threads)
TF_PROBE(multiply, 256)
TF_PROBE(cycles, TF_WAVE)
TF_PROBE(answers, TF_WAVE)
TF_PROBE(busy_answers, probe_threads)
