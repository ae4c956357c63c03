// In: a list of several phases F (frame.h), whose programs have the frames mixed, sliced_k and multistage, and its arguments. Out: one
// persistent launch over all their tiles: each tile waits for the tiles that it reads, is computed, and is published. All workgroups are
// resident. Refuses (static_assert) phases with different numbers of threads.
//
// F derives from phase_list<programs>. Each program P names the code with which its frame computes a single tile, P::in_list:
//   bytes<P>: of shared memory
//   tile<P>(p, index, shared, wait): called by all threads; wait() returns once the tiles that this one reads are stored; only what no
//     launch writes may be loaded before it
#pragma once
#include "templates/frame/frame.h"

constexpr int most(int x) { return x; }
template <class... More> constexpr int most(int x, int y, More... more) { return most(x > y ? x : y, more...); }

template <class First, class... More> struct phase_list {
    static constexpr int phases = 1 + sizeof...(More), threads = First::threads;
    static constexpr int shared_bytes = most(First::in_list::template bytes<First>, More::in_list::template bytes<More>...);
    static_assert(((More::threads == threads) && ...), "tile: phases of a launch have as many threads");
};

template <class F> DEV void run_list(const typename F::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, trace_total<F>(p)));
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(char, shared);
#elif defined(__clang__)
    __shared__ __attribute__((aligned(16))) char shared[F::shared_bytes];
#else
    extern __shared__ __attribute__((aligned(128))) char shared[];
#endif
    next_may_start();
    previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
    for (item<F> w = item<F>::first(); w.valid(p); w.next())
    { TF_TRACED(const int own = trace_slot<F>(p, w); trace_start(p.tf_trace, own, 0));
        F::with(p, w.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            P::in_list::template tile<P>(a, w.index, shared, [&] {
                if (thread_index() == 0) await<F>(p, w);
                barrier();
                device_acquire();
            });
        });
        device_release();
        barrier(); TF_TRACED(trace_end(p.tf_trace, own, 0)); // the next tile uses the same memory
        if (thread_index() == 0) publish<F>(p, w);
    } TF_TRACED(trace_leave(p.tf_trace, 0));
    if (thread_index() == 0) leave<F>(p);
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_LIST(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_list<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#elif defined(__clang__)
#define TF_KERNEL_LIST(name, ...)                                                                                       \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(__VA_ARGS__::threads, __VA_ARGS__::threads))) \
    name(const __VA_ARGS__::args p)                                                                                     \
    {                                                                                                                   \
        run_list<__VA_ARGS__>(p);                                                                                       \
    }
#else
#define TF_KERNEL_LIST(name, ...)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::threads, 1) name(const __grid_constant__ __VA_ARGS__::args p) \
    {                                                                                                                                   \
        run_list<__VA_ARGS__>(p);                                                                                                       \
    }
#endif
