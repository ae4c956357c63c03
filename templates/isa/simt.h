// The ISA layer that every target has: indices of threads and workgroups, barriers, shuffles, reductions, products on register tiles.
#pragma once
#include "templates/base/ops.h"

// The thread's index. In a launch of many phases, compilers must not know that it never changes: otherwise they compute whatever phases
// derive from it ahead of the loops over tiles and layers, which takes too many registers.
DEV int same_thread(int index)
{
#if !defined(TF_PHASES) || defined(TF_ON_HOST)
#elif defined(__clang__)
    asm volatile("" : "+v"(index));
#else
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index)); // read again, so no register keeps it
#endif
    return index;
}
#if defined(TF_ON_HOST) && !defined(TF_TARGET_AMD) // for AMD targets the host engine runs AMD's own builtins
DEV int thread_index() { return static_cast<int>(threadIdx.x); }
DEV int block_index() { return static_cast<int>(blockIdx.x); }
DEV int block_total() { return static_cast<int>(gridDim.x); }
DEV void barrier() { __syncthreads(); }
template <int Width> DEV float lane_xor(float x, int mask) { return tf_hs_shfl_xor(x, mask, Width); }
#elif defined(__clang__)
DEV int thread_index() { return same_thread(static_cast<int>(__builtin_amdgcn_workitem_id_x())); }
DEV int block_index() { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
// How many workgroups the launch has, by the HSA AQL kernel dispatch packet: grid_size_x (work-items) is at byte 12, workgroup_size_x at
// byte 4.
DEV int block_total()
{
    const auto packet = (const __attribute__((address_space(4))) char *)__builtin_amdgcn_dispatch_ptr();
    const unsigned items = *reinterpret_cast<const __attribute__((address_space(4))) unsigned *>(packet + 12);
    const unsigned size = *reinterpret_cast<const __attribute__((address_space(4))) unsigned short *>(packet + 4);
    return static_cast<int>(items / size);
}
DEV void barrier()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
template <int Width> DEV float lane_xor(float x, int mask)
{
    const int lane = thread_index() % TF_WAVE;
    return bits_float(static_cast<unsigned>(__builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, static_cast<int>(float_bits(x)))));
}
#else
DEV int thread_index() { return same_thread(static_cast<int>(threadIdx.x)); }
DEV int block_index() { return static_cast<int>(blockIdx.x); }
DEV int block_total() { return static_cast<int>(gridDim.x); }
#if defined(TF_TEAM) // a barrier of the first TF_TEAM threads, which compute; the threads after them load (frame/frame_ring.h)
DEV void barrier() { asm volatile("bar.sync 1, %0;" ::"n"(TF_TEAM) : "memory"); }
#else
DEV void barrier() { __syncthreads(); }
#endif
// Exchanges within groups of Width lanes. The mask has only the lanes of the group: other groups of the warp may be in other iterations,
// and the shuffle would wait for them.
template <int Width> DEV float lane_xor(float x, int mask)
{
    const unsigned group = Width == 32 ? 0xffffffffu : ((1u << (Width % 32)) - 1u) << (threadIdx.x % 32u & ~(Width - 1u));
    return __shfl_xor_sync(group, x, mask, Width);
}
#endif

// The index of the thread's wave in its workgroup. wave_index() is a scalar on AMD, which compilers cannot infer; wave_of_thread() is in a
// vector register, for addresses that also depend on the thread.
DEV int wave_of_thread() { return thread_index() / TF_WAVE; }
DEV int wave_index()
{
#if defined(TF_TARGET_AMD) && !defined(TF_ON_HOST)
    return __builtin_amdgcn_readfirstlane(wave_of_thread());
#else
    return wave_of_thread();
#endif
}

// ---- programmatic dependent launches (sm_90a; docs/overlap.md). Every thread calls previous_wait() before it reads what another launch
// may write (all but weights), or writes what another launch may read. On other targets a launch begins when the previous one has ended.
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
DEV void previous_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#if defined(TF_SIGNAL_NEVER)
DEV void next_may_start() {}
#else
DEV void next_may_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#endif
#else
DEV void previous_wait() {}
DEV void next_may_start() {}
#endif

// exp(x) for softmax weights. The error is |x| ulp, so it is smallest for the largest weights, whose x is near 0. On GPUs exp2 is one
// instruction.
#if !defined(__clang__)
DEV float machine_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#define TF_MACHINE_EXP2
#elif !defined(TF_ON_HOST) && __has_builtin(__builtin_amdgcn_exp2f)
DEV float machine_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
#define TF_MACHINE_EXP2
#endif
template <int N> DEV vec<float, N> weight_exp(vec<float, N> x)
{
#if defined(TF_MACHINE_EXP2)
    x *= 1.44269504089f;
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = machine_exp2(x[i]);
    return x;
#else
    return op_exp(x);
#endif
}
DEV float weight_exp(float x) { return weight_exp(splat<1>(x))[0]; }

struct take_sum {
    DEV static float identity() { return 0.0f; }
    template <class X> DEV static X join(X x, X y) { return x + y; }
};
struct take_max { // NaN if either is NaN, as op_max()
    DEV static float identity() { return bits_float(0xff800000u); }
    DEV static float join(float x, float y) { return x > y || x != x ? x : y; }
    template <int N> DEV static vec<float, N> join(vec<float, N> x, vec<float, N> y) { return op_max(x, y); }
};
struct take_min {
    DEV static float identity() { return bits_float(0x7f800000u); }
    DEV static float join(float x, float y) { return x < y || x != x ? x : y; }
    template <int N> DEV static vec<float, N> join(vec<float, N> x, vec<float, N> y) { return op_min(x, y); }
};

// Reduces the elements of x to one number: pairs N/2 apart first, then N/4 apart, and so on.
template <class Take, int N> DEV float tree_join(vec<float, N> x)
{
    if constexpr (N == 1)
        return x[0];
    else if constexpr (N % 2)
        return Take::join(tree_join<Take>(part<0, N - 1>(x)), static_cast<float>(x[N - 1]));
    else
        return tree_join<Take>(Take::join(part<0, N / 2>(x), part<N / 2, N / 2>(x)));
}

// Reduces over Width adjacent lanes. All get the same bits, because the tree of additions is symmetric.
template <class Take, int Width> DEV float wave_join(float x)
{
    static_assert(Width <= TF_WAVE && (Width & (Width - 1)) == 0, "tile: Width is a power of two, at most a wave");
#pragma unroll
    for (int mask = 1; mask < Width; mask *= 2) x = Take::join(x, lane_xor<Width>(x, mask));
    return x;
}

// Reduces over the Team threads of a row, in a fixed order. slot: shared memory, a float per wave of the workgroup, which teams wider than
// a wave use.
template <class Take, int Team> DEV float team_join(float x, float *slot)
{
    if constexpr (Team <= TF_WAVE)
        return wave_join<Take, Team>(x);
    else {
        constexpr int waves = Team / TF_WAVE;
        const int wave = wave_of_thread(), first = wave / waves * waves;
        x = wave_join<Take, TF_WAVE>(x);
        if (thread_index() % TF_WAVE == 0) slot[wave] = x;
        barrier();
        float all = element_of(slot + first);
        for (int i = 1; i < waves; i++) all = Take::join(all, element_of(slot + first + i));
        barrier();
        return all;
    }
}

// ---- a thread's results of a product: ThreadM rows by ThreadN columns, in blocks of 2 * Width columns. A block is Width adjacent columns
// of the low half of a granule pair and the same columns of its high half.
template <int TileN, int ThreadM, int ThreadN, int Granule, int Width, int Threads> struct simt_fragment {
    static constexpr int blocks = ThreadN / (2 * Width), lanes = TileN / ThreadN;
    static_assert(ThreadN % (2 * Width) == 0 && Granule % Width == 0, "tile: thread_n is a multiple of 2 * width, granule of width");
    static_assert(TileN % (2 * Granule) == 0, "tile: n is a multiple of a granule pair");
    vec<float, Width> low[ThreadM][blocks], high[ThreadM][blocks];

    DEV static int thread() { return thread_index() % Threads; } // index among the threads that share out the tile
    DEV static int row(int i) { return thread() / lanes * ThreadM + i; } // of the tile
    DEV static int lane() { return thread() % lanes; }
    DEV static int column(int block) // of the low half
    {
        const int n = (block * lanes + lane()) * Width;
        return n / Granule * 2 * Granule + n % Granule;
    }
    // Where the tile's column n lies in a line of shared memory: the low halves of all granule pairs precede the high ones, so that
    // adjacent lanes read adjacent words.
    DEV static int place(int n) { return n / (2 * Granule) * Granule + n % Granule + (n % (2 * Granule) < Granule ? 0 : TileN / 2); }
    DEV void clear()
    {
#pragma unroll
        for (int i = 0; i < ThreadM; i++)
#pragma unroll
            for (int j = 0; j < blocks; j++) low[i][j] = high[i][j] = splat<Width>(0.0f);
    }
    DEV void add(const simt_fragment &other)
    {
#pragma unroll
        for (int i = 0; i < ThreadM; i++)
#pragma unroll
            for (int j = 0; j < blocks; j++) {
                low[i][j] += other.low[i][j];
                high[i][j] += other.high[i][j];
            }
    }
    // Adds the products of one k. a: A's column k, one element per row; b: B's row k, in the order of place().
    DEV void multiply(const float *a, const float *b)
    {
        const vec<float, ThreadM> x = load_aligned<ThreadM>(a + row(0));
#pragma unroll
        for (int j = 0; j < blocks; j++) {
            const float *at = b + (j * lanes + lane()) * Width;
            const vec<float, Width> lo = load_aligned<Width>(at), hi = load_aligned<Width>(at + TileN / 2);
#pragma unroll
            for (int i = 0; i < ThreadM; i++) {
                low[i][j] += lo * x[i];
                high[i][j] += hi * x[i];
            }
        }
    }
};
