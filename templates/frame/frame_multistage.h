// In: one tile program P and its arguments. Out: the multistage frame (cp.async): copies run P::stages - 1 k tiles ahead of the products,
// from tile to tile as well: the first k tiles of the next tile are in flight while this one's results are stored. Every thread copies and
// computes. Refuses (static_assert) fewer than three stages.
//
// P has
// - args, tile, accumulators, source (types); stages, stage_bytes, scratch_bytes, threads; resident: workgroups per multiprocessor
// - tiles(p), at(p, index) -> tile, k_tiles(p) >= 1
// - source_of(p, tile) -> what a thread's copies need for all k tiles of the tile
// - load(copies, source, k_tile, stage): issues the copies of the source's next k tile. After end(source), load() copies zeros
// - compute(p, stream, accumulators), which for each k tile calls here(), load(), advance() and step() of the stream
// - finish(p, tile, accumulators, scratch)
#pragma once
#include "templates/isa/simt.h"

template <class P> struct multistage_memory {
    static constexpr int scratch = P::stages * P::stage_bytes, bytes = scratch + P::scratch_bytes;
    static_assert(P::stages >= 3, "tile: at least three stages: one being read, one read next, one being filled");
};

template <class P> struct stream {
    const typename P::args &p;
    shared_address memory;
    int tiles, index, k_tile; // index, k_tile: what is copied next, to the stage before the one that is read
    int position;             // the stage that is read
    typename P::source from;
    copies in_flight;

    DEV stream(const typename P::args &arguments, shared_address stages, int first, int count)
        : p(arguments), memory(stages), tiles(count), index(first), k_tile(0), position(1)
    {
        from = P::source_of(p, P::at(p, index));
#pragma unroll 1
        for (; position < P::stages; position++) {
            load();
            advance();
        }
        position = 0;
        arrive();
    }
    DEV shared_address here() const { return memory + position * P::stage_bytes; }
    // Issues the copies of the next k tile or, after the last one, copies of zeros. Has no branches, because it runs among the products.
    DEV void load()
    {
        P::load(in_flight, from, k_tile, memory + (position > 0 ? position - 1 : P::stages - 1) * P::stage_bytes);
        in_flight.commit();
    }
    // Goes on to the next k tile. To be called after each load().
    DEV void advance()
    {
        if (++k_tile < P::k_tiles(p)) return;
        k_tile = 0;
        index += block_total();
        if (index < tiles)
            from = P::source_of(p, P::at(p, index));
        else {
            P::end(from);
            next_may_start();
        }
    }
    // Goes on to the next stage. Returns once all threads have read the current one and the next one has arrived.
    DEV void step()
    {
        arrive();
        position = position + 1 < P::stages ? position + 1 : 0;
    }

  private:
    DEV void arrive()
    {
        in_flight.template wait<P::stages - 2>();
        barrier();
    }
};

// How a workgroup computes its tiles of one phase of a list (frame_list.h). Each tile fills the stages anew: copies of a k tile bring
// weights and rows together, so none may be in flight while a tile waits for its rows.
template <class P> struct multistage_walk {
    DEV void start(const typename P::args &, int) {}
    DEV void look(const typename P::args &, int, char *) {}
    DEV void tile(const typename P::args &p, int index, int, char *shared)
    {
#if defined(TF_ON_HOST)
        const shared_address memory = 0;
#else
        const shared_address memory = shared_at(shared);
#endif
        stream<P> s(p, memory, index, index + 1);
        typename P::accumulators c;
        P::compute(p, s, c);
        P::finish(p, P::at(p, index), c, memory + multistage_memory<P>::scratch);
        s.in_flight.template wait<0>();
    }
};
struct multistage_in_list {
    template <class P> static constexpr int bytes = multistage_memory<P>::bytes;
    template <class P> using walk = multistage_walk<P>;
};

template <class P> DEV void run_multistage(const typename P::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, P::tiles(p)));
#if defined(TF_ON_HOST)
    const shared_address memory = 0;
#else
    extern __shared__ __attribute__((aligned(128))) unsigned char stream_shared[];
    const shared_address memory = shared_at(stream_shared);
#endif
    const int tiles = P::tiles(p);
    previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
    if (block_index() >= tiles) return;
    stream<P> s(p, memory, block_index(), tiles);
#pragma unroll 1
    for (int index = block_index(); index < tiles; index += block_total()) {
        typename P::accumulators c; TF_TRACED(trace_start(p.tf_trace, index, 0));
        P::compute(p, s, c); TF_TRACED(trace_computed(p.tf_trace, index, 0));
        P::finish(p, P::at(p, index), c, memory + multistage_memory<P>::scratch); TF_TRACED(trace_end(p.tf_trace, index, 0));
    } TF_TRACED(trace_leave(p.tf_trace, 0));
    s.in_flight.template wait<0>();
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_MULTISTAGE(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_multistage<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#else
#define TF_KERNEL_MULTISTAGE(name, ...)                                                           \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::threads, __VA_ARGS__::resident) \
        name(const __grid_constant__ __VA_ARGS__::args p)                                     \
    {                                                                                         \
        run_multistage<__VA_ARGS__>(p);                                                           \
    }
#endif
