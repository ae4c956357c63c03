// In: one tile program P and its arguments. Out: the ring frame (sm_90a). The last warp, the producer, streams the weights of all tiles of
// the workgroup into a ring of pages in shared memory, without waiting for rows or for the end of a tile. The other warps, P::threads
// threads, compute. In a list (frame_list.h) all phases of this frame share one ring, and the producer loads for later phases while earlier
// ones run.
//
// P is as for sliced_k (frame_sliced_k.h), except
// - kept (a type): registers that live from tile to tile
// - feed(p, tile, ring), instead of start(): the producer calls it to copy all pages of a tile
// - compute(p, tile, ring, kept) reads the pages in the order of feed()
// - finish(p, tile, results, memory, kept, taken, stored) calls taken(), by all threads, once all of them have the tile's rows. It may call
//   stored(), by one thread, once the tile's results are stored; returns whether it does
// - if P is alone in its launch, P::spec has ring_pages and pages_in_flight
//
// The source defines TF_TEAM as P::threads.
#pragma once
#include "templates/frame/words.h"
#include "templates/isa/page_ring.h"

template <class P> struct ring_walk {
    typename P::kept kept;
    typename P::row_share rows;
    DEV void start(const typename P::args &, int) {}
    DEV void look(const typename P::args &p, int index, char *shared) { rows.place(p, index, shared + P::sums_bytes); }
    // Asks for the rows of the launch's first tile, which no phase of the launch has written; keep() stores them.
    DEV void ask(const typename P::args &p, int index, char *shared, typename P::chunks &x)
    {
        look(p, index, shared);
        rows.load(p, x, 0);
    }
    DEV void keep(const typename P::chunks &x)
    {
        if (rows.is_one_chunk()) rows.put(x, 0), kept.row = rows.t.row;
    }
    template <class Reader, class Taken, class Stored>
    DEV bool tile(const typename P::args &p, int, bool last, Reader &ring, char *shared, Taken taken, Stored stored)
    {
        typename P::results r = P::compute(p, rows, ring, kept);
        if (last && thread_index() == 0) ring.memory.set_calm(true);
        return P::finish(p, rows.t, r, reinterpret_cast<float *>(shared), kept, taken, stored);
    }
};
struct ring_in_list {
    static constexpr bool ringed = true;
    template <class P> static constexpr int bytes = P::memory_bytes;
    template <class P> using walk = ring_walk<P>;
};

// The ring of a launch. F has threads (that compute), ring_pages and pages_in_flight.
template <class F> struct ring_of {
    using memory = page_memory<F::ring_pages, F::threads / 32>;
    using reader = page_reader<memory>;
    using writer = page_writer<memory, F::pages_in_flight>;
};

// Initialises the ring at the start of shared memory; the producer warp then calls feed(writer). Returns true to the threads of the
// producer, which have nothing left to do.
template <class F, class Feed> DEV bool ring_feed(char *shared, Feed feed)
{
    typename ring_of<F>::memory &memory = *reinterpret_cast<typename ring_of<F>::memory *>(shared);
    const bool loads = thread_index() >= F::threads;
    if (thread_index() == F::threads) memory.clear();
    __syncthreads();
    if (loads) {
#if defined(TF_ON_HOST)
        tf_hs_leave_barriers();
#endif
        typename ring_of<F>::writer ring{memory};
        feed(ring);
    }
    return loads;
}

template <class P> constexpr int ring_bytes = sizeof(typename ring_of<typename P::spec>::memory) + P::memory_bytes;

template <class P> DEV void run_ring(const typename P::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, P::tiles(p)));
    using own = ring_of<typename P::spec>;
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(char, shared);
#else
    extern __shared__ __attribute__((aligned(128))) char shared[];
#endif
    const int tiles = P::tiles(p);
    next_may_start();
    if (ring_feed<typename P::spec>(shared, [&](auto &ring) {
            for (int index = block_index(); index < tiles; index += block_total()) P::feed(p, P::at(p, index), ring);
        }))
        return;
    typename own::reader ring{*reinterpret_cast<typename own::memory *>(shared)};
    ring_walk<P> walk;
    previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
#pragma unroll 1
    for (int index = block_index(); index < tiles; index += block_total()) { TF_TRACED(trace_start(p.tf_trace, index, 0));
        walk.look(p, index, shared + sizeof(typename own::memory));
        walk.tile(p, index, false, ring, shared + sizeof(typename own::memory), [] {}, [] {}); TF_TRACED(trace_end(p.tf_trace, index, 0));
    } TF_TRACED(trace_leave(p.tf_trace, 0));
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_RING(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_ring<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#else
#define TF_KERNEL_RING(name, ...)                                                                                                \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::threads + 32, 1) name(const __grid_constant__ __VA_ARGS__::args p) \
    {                                                                                                                            \
        run_ring<__VA_ARGS__>(p);                                                                                                \
    }
#endif
