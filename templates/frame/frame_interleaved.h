// In: a list of phases F (one, or all of a block) and its arguments. Out: the interleaved frame, a software pipeline for AMD's matrix
// units: every wave computes, and issues copies of the next k tile between groups of matrix instructions. The next tile's weights are in
// flight before this tile's results are stored.
//
// F (frame.h) also has stages, stage_bytes, scratch_bytes, threads. P, the program of a phase (such as gemm_mfma.h), has
// - args, tile, accumulators (types)
// - tiles(p), at(p, index) -> tile, k_tiles(p, tile) >= 1
// - parts: into how many parts a k tile's loads are divided; the first late_parts of them load data that the launch itself may write
// - source_of(p, tile) -> what load() needs for all k tiles of the tile
// - load<Part>(source, k_tile, stage), which only issues the copies
// - compute(p, tile, ring, accumulators), finish(p, tile, accumulators, scratch)
#pragma once
#include "templates/frame/frame.h"
#include "templates/isa/amd.h"

template <class F> struct interleaved_memory {
    static constexpr int scratch = F::stages * F::stage_bytes, bytes = scratch + F::scratch_bytes;
};

template <class F> struct alignas(16) interleaved_bytes {
    char byte[interleaved_memory<F>::bytes];
};

// The ring of stages within one tile. Stage `position` holds the k tile that is computed; the next k tile is being loaded.
template <class F, class P> struct interleaved_ring {
    lds_address memory;
    int &position;
    const typename P::source &from;
    int k_tile, k_tiles;

    DEV lds_address at(int ahead) const
    {
        const int i = position + ahead;
        return memory + (i < F::stages ? i : i - F::stages) * F::stage_bytes;
    }
    DEV lds_address here() const { return at(0); }
    template <int Part> DEV void prefetch()
    {
        if (k_tile + 1 < k_tiles) P::template load<Part>(from, k_tile + 1, at(1));
    }
    DEV void step()
    {
        k_tile++;
        position = position + 1 < F::stages ? position + 1 : 0;
    }
};

template <class P, int From, int To> DEV void load_parts(const typename P::source &from, int k_tile, lds_address to)
{
    if constexpr (From < To) {
        P::template load<From>(from, k_tile, to);
        load_parts<P, From + 1, To>(from, k_tile, to);
    }
}

template <class F> DEV void run_interleaved(const typename F::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, trace_total<F>(p)));
#if defined(TF_ON_HOST)
    TF_SHARED_STRUCT(interleaved_bytes<F>, shared);
    const lds_address memory = shared.byte;
#else
    __shared__ __attribute__((aligned(1024))) char shared[interleaved_memory<F>::bytes];
    const lds_address memory = (lds_address)shared;
#endif
    int position = 0;
    item<F> w = item<F>::first(), next = w;
    const auto weights = [&](const item<F> &v) { // loads an item's first weights into the next stage, which no wave reads any more
        F::with(p, v.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            load_parts<P, P::late_parts, P::parts>(P::source_of(a, P::at(a, v.index)), 0, memory + position * F::stage_bytes);
        });
    };
    if (w.valid(p)) weights(w);
    for (; w.valid(p); w = next) { TF_TRACED(const int own = trace_slot<F>(p, w); trace_start(p.tf_trace, own, 0));
        next.next();
        if constexpr (F::phases > 1) {
            if (thread_index() == 0) await<F>(p, w);
            wave_group_barrier();
            device_acquire();
        }
        F::with(p, w.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            const auto t = P::at(a, w.index);
            const auto from = P::source_of(a, t);
            load_parts<P, 0, P::late_parts>(from, 0, memory + position * F::stage_bytes);
            interleaved_ring<F, P> ring{memory, position, from, 0, P::k_tiles(a, t)};
            typename P::accumulators c;
            P::compute(a, t, ring, c); TF_TRACED(trace_computed(p.tf_trace, own, 0));
            if (next.valid(p)) weights(next);
            P::finish(a, t, c, memory + interleaved_memory<F>::scratch); TF_TRACED(trace_end(p.tf_trace, own, 0));
        });
        if constexpr (F::phases > 1) {
            device_release();
            wave_group_barrier();
            if (thread_index() == 0) publish<F>(p, w);
        }
    } TF_TRACED(trace_leave(p.tf_trace, 0));
    if constexpr (F::phases > 1)
        if (thread_index() == 0) leave<F>(p);
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_INTERLEAVED(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_interleaved<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#else
#define TF_KERNEL_INTERLEAVED(name, ...)                                                                                       \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(__VA_ARGS__::threads, __VA_ARGS__::threads))) \
    TF_INTERLEAVED_OCCUPANCY(__VA_ARGS__) name(const __VA_ARGS__::args p)                                                      \
    {                                                                                                                   \
        run_interleaved<__VA_ARGS__>(p);                                                                                       \
    }
#endif
