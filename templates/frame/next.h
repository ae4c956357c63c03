// In: a spec struct S, which may know what the next launch loads first (gen/source/next.c). Out: hints that prefetch it into L2.
//
// An S that knows has: next(p): packed weights; next_runs runs of next_bytes, next_step bytes apart. Needs isa/nvidia.h.
#pragma once
#include "templates/base/device.h"

template <class S, class = void> struct next_weights {
    template <class Args> DEV static void prefetch(const Args &, int, int) {}
};
template <class S> struct next_weights<S, nothing<decltype(S::next_runs)>> {
    // Called by each workgroup's threads; those from `threads` on do nothing.
    DEV static void prefetch(const typename S::args &p, int thread, int threads)
    {
        if (thread >= threads) return;
        const char *from = static_cast<const char *>(S::next(p));
        for (int run = block_index() + thread * block_total(); run < S::next_runs; run += threads * block_total())
            prefetch_l2(from + run * S::next_step, S::next_bytes);
    }
};
