// In: one tile program P and its arguments. Out: the sliced_k frame: each wave loads a slice of K from memory straight to registers and
// multiplies it. Once per tile, the waves add up their sums in shared memory. Weights are loaded as early as possible: for the first tile
// before the previous launch has ended, for each other tile before the results of the previous one are stored.
//
// P has
// - args, tile, accumulators (types); threads; resident: the least workgroups per multiprocessor; memory_bytes: of shared memory
// - tiles(p), at(p, index) -> tile
// - start(p, tile, accumulators): issues the first loads of weights
// - compute(p, tile, accumulators) -> results
// - finish(p, tile, results, memory), which does not get the accumulators: they already hold weights of the next tile
// - prefetch_next(p): called when all weights of the workgroup's last tile have arrived
#pragma once
#include "templates/isa/simt.h"

// How a workgroup computes its tiles of one phase of a list (frame_list.h). Weights of the first tile are loaded before the workgroup waits
// for earlier phases, those of each other tile before the results of the previous one are stored.
template <class P> struct sliced_k_walk {
    typename P::accumulators c;
    DEV void start(const typename P::args &p, int index) { P::start(p, P::at(p, index), c); }
    DEV void look(const typename P::args &, int, char *) {}
    DEV void tile(const typename P::args &p, int index, int next, char *shared)
    {
        const typename P::tile t = P::at(p, index);
        typename P::results r = P::compute(p, t, c);
        if (next >= 0) start(p, next);
        P::finish(p, t, r, reinterpret_cast<float *>(shared));
    }
};
struct sliced_k_in_list {
    template <class P> static constexpr int bytes = P::memory_bytes;
    template <class P> using walk = sliced_k_walk<P>;
};

template <class P> DEV void run_sliced_k(const typename P::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, P::tiles(p)));
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(float, memory);
#elif defined(__clang__)
    __shared__ __attribute__((aligned(16))) float memory[P::memory_bytes / 4];
#else
    extern __shared__ __attribute__((aligned(16))) float memory[];
#endif
    const int tiles = P::tiles(p);
    int index = block_index();
    typename P::accumulators c;
    if (index < tiles) P::start(p, P::at(p, index), c);
    next_may_start();
    previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
#pragma unroll 1
    while (index < tiles) {
        const typename P::tile t = P::at(p, index); TF_TRACED(const int own = index; trace_start(p.tf_trace, own, 0));
        typename P::results r = P::compute(p, t, c); TF_TRACED(trace_computed(p.tf_trace, own, 0));
        index += block_total();
        if (index < tiles)
            P::start(p, P::at(p, index), c);
        else
            P::prefetch_next(p);
        P::finish(p, t, r, memory); TF_TRACED(trace_end(p.tf_trace, own, 0));
        if (index < tiles) barrier(); // the next tile uses the same memory
    } TF_TRACED(trace_leave(p.tf_trace, 0));
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_SLICED_K(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_sliced_k<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#elif defined(__clang__) // TF_SHARE_WAVES: waves per SIMD; a compute unit has four SIMDs
#define TF_SHARE_WAVES(P) ((P::resident * P::threads / TF_WAVE + 3) / 4)
#define TF_KERNEL_SLICED_K(name, ...)                                                                                      \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(__VA_ARGS__::threads, __VA_ARGS__::threads))) \
    __attribute__((amdgpu_waves_per_eu(TF_SHARE_WAVES(__VA_ARGS__)))) name(const __VA_ARGS__::args p)                   \
    {                                                                                                                   \
        run_sliced_k<__VA_ARGS__>(p);                                                                                      \
    }
#else
#if defined(TF_ALL_REGISTERS)
#define TF_RESIDENT(P) 1
#else
#define TF_RESIDENT(P) P::resident
#endif
#define TF_KERNEL_SLICED_K(name, ...)                                                               \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::threads, TF_RESIDENT(__VA_ARGS__)) \
        name(const __grid_constant__ __VA_ARGS__::args p)                                        \
    {                                                                                            \
        run_sliced_k<__VA_ARGS__>(p);                                                               \
    }
#endif
