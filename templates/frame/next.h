// In: a spec struct S, which may list weights that later launches load first (gen/source/next.c). Out: hints that prefetch them into L2.
//
// If S lists some, it has next_count and next(p, i), the i-th weight_runs, in the order in which later launches need them. This header
// needs isa/nvidia.h.
#pragma once
#include "templates/base/device.h"

// `count` runs of `bytes` bytes of packed weights. They begin `step` bytes apart.
struct weight_runs {
    const void *first;
    long long step;
    int count, bytes;
};

template <class S, class = void> struct next_weights {
    template <class Args> DEV static void prefetch(const Args &, int, int) {}
};
template <class S> struct next_weights<S, nothing<decltype(S::next_count)>> {
    // Called by all threads of each workgroup; the first `threads` of them share the runs, the others do nothing.
    DEV static void prefetch(const typename S::args &p, int thread, int threads)
    {
        if (thread >= threads) return;
#pragma unroll
        for (int i = 0; i < S::next_count; i++) {
            const auto w = S::next(p, i);
            for (int run = block_index() + thread * block_total(); run < w.count; run += threads * block_total())
                prefetch_l2(static_cast<const char *>(w.first) + run * w.step, w.bytes);
        }
    }
};
