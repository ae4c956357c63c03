// In: one tile program P and its arguments. Out: the mixed frame: every thread loads and computes, by plain loads, with one or two stages.
// A workgroup takes tiles block_index(), block_index() + block_total(), and so on.
//
// P has
// - args, tile, accumulators, stage, scratch (types); stages: 1 or 2
// - tiles(p), at(p, index) -> tile, k_tiles(p, tile) >= 0
// - load(p, tile, k_tile, stage), compute(p, tile, ring, accumulators), finish(p, tile, accumulators, scratch)
// - optionally staged, registers that hold the next k tile until its stage is free; then fetch(p, tile, k_tile, staged) only issues the
//   loads, which overlap with products, and land(staged, stage) stores them
// - optionally signals: P calls next_may_start() itself; else the frame calls it before anything else
//
// For each k tile, compute() calls three functions of the ring. wait() returns the stage of the k tile once all threads may read it.
// prefetch() loads the next k tile, with two stages while other threads still compute. release() ends this thread's reads of the stage.
#pragma once
#include "templates/isa/simt.h"

// Base of programs that do all their work in finish().
struct without_k_loop {
    struct accumulators {};
    struct stage {};
    template <class Args, class Tile> DEV static int k_tiles(const Args &, const Tile &) { return 0; }
    template <class Args, class Tile> DEV static void load(const Args &, const Tile &, int, stage &) {}
    template <class Args, class Tile, class Ring> DEV static void compute(const Args &, const Tile &, Ring &, accumulators &) {}
};

template <class P> struct mixed_memory {
    typename P::stage stage[P::stages];
    typename P::scratch scratch;
};

template <class P, class = void> struct staging {
    static constexpr bool used = false;
    struct type {
    };
};
template <class P> struct staging<P, nothing<typename P::staged>> {
    static constexpr bool used = true;
    using type = typename P::staged;
};

template <class P, class = void> struct signalling {
    static constexpr bool own = false;
};
template <class P> struct signalling<P, nothing<decltype(P::signals)>> {
    static constexpr bool own = P::signals;
};

template <class P> struct mixed_ring {
    const typename P::args &p;
    const typename P::tile &t;
    mixed_memory<P> &memory;
    int k_tile, k_tiles;
    typename staging<P>::type staged;

    DEV typename P::stage &at(int s) { return memory.stage[P::stages == 1 ? 0 : s % P::stages]; }
    DEV void start()
    {
        if (k_tiles > 0) P::load(p, t, 0, at(0));
    }
    DEV typename P::stage &wait()
    {
        barrier();
        return at(k_tile);
    }
    DEV void prefetch()
    {
        if (k_tile + 1 == k_tiles) return;
        if constexpr (staging<P>::used)
            P::fetch(p, t, k_tile + 1, staged);
        else if constexpr (P::stages > 1)
            P::load(p, t, k_tile + 1, at(k_tile + 1));
    }
    DEV void release()
    {
        if (++k_tile == k_tiles) return;
        if constexpr (P::stages == 1) barrier();
        if constexpr (staging<P>::used)
            P::land(staged, at(k_tile));
        else if constexpr (P::stages == 1)
            P::load(p, t, k_tile, at(0));
    }
};

// How a workgroup computes its tiles of one phase of a list (frame_list.h).
template <class P> struct mixed_walk {
    typename P::tile t;
    DEV void start(const typename P::args &, int) {}
    DEV void look(const typename P::args &p, int index, char *) { t = P::at(p, index); }
    DEV void tile(const typename P::args &p, int, int, char *shared)
    {
        mixed_memory<P> &memory = *reinterpret_cast<mixed_memory<P> *>(shared);
        typename P::accumulators c;
        mixed_ring<P> ring{p, t, memory, 0, P::k_tiles(p, t), {}};
        ring.start();
        P::compute(p, t, ring, c);
        P::finish(p, t, c, memory.scratch);
    }
};
struct mixed_in_list {
    template <class P> static constexpr int bytes = sizeof(mixed_memory<P>);
    template <class P> using walk = mixed_walk<P>;
};

template <class P> DEV void run_mixed(const typename P::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, P::tiles(p)));
#if defined(TF_ON_HOST)
    TF_SHARED_STRUCT(mixed_memory<P>, memory);
#else
    __shared__ __attribute__((aligned(16))) char bytes[sizeof(mixed_memory<P>)];
    mixed_memory<P> &memory = *reinterpret_cast<mixed_memory<P> *>(bytes);
#endif
    if constexpr (!signalling<P>::own) next_may_start();
    previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
    const int tiles = P::tiles(p);
    for (int index = block_index(); index < tiles; index += block_total()) {
        const typename P::tile t = P::at(p, index);
        typename P::accumulators c; TF_TRACED(trace_start(p.tf_trace, index, 0));
        mixed_ring<P> ring{p, t, memory, 0, P::k_tiles(p, t), {}};
        ring.start();
        P::compute(p, t, ring, c); TF_TRACED(trace_computed(p.tf_trace, index, 0));
        P::finish(p, t, c, memory.scratch);
        barrier(); TF_TRACED(trace_end(p.tf_trace, index, 0)); // the next tile reuses the stages and the scratch
    } TF_TRACED(trace_leave(p.tf_trace, 0));
}
