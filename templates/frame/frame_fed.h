// In: programs of the frames ws and ws_keys as phases of a list (frame_list.h). Out: how their warpgroups and a loading warp share such a
// launch. Two threads of the last warpgroup load: they go through the tiles of these phases in the order in which the other warpgroups
// compute them, and issue their TMA loads. One of them loads weights; the other, called the loading thread below, loads the rest. The other
// warpgroups, F::threads threads, compute all phases. The source defines TF_TEAM as F::threads, and TF_FED.
//
// The stages of a phase lie in the memory that all phases share. So they are filled only once the workgroup has finished its tiles of the
// earlier phases. From then on weights (of ws programs) are loaded, which no phase writes. The loading thread waits for the marks of the
// phases that this phase reads from (marks.h), and loads everything else. Each of these phases has mbarriers of its own, so that none is
// initialised twice.
//
// Order of accesses: writing workgroups store, meet at a barrier, and release a mark. The loading thread acquires the mark, and then has a
// proxy fence, because its loads go through the async proxy (PTX ISA, "Memory Consistency Model": proxies). It has a proxy fence for shared
// memory, too, as earlier phases accessed the memory of the stages by ordinary loads and stores.
#pragma once
#include "templates/frame/frame_ws.h"
#include "templates/isa/wgmma_steps.h"

// The memory of one phase, aligned to 1024 bytes, and its mbarriers.
struct fed_place {
    shared_address memory, words;
};
// A warpgroup, of which only two threads load: setmaxnreg moves registers between warpgroups. (A single warp that loads would take as many
// registers as each of the others: with three warps on one of the four parts of a multiprocessor, 168 a thread.)
inline constexpr int fed_loaders = 128, fed_loader_registers = 40, fed_registers = 232; // 40 + 2 * 232 <= 512 of a lane
inline constexpr int fed_head = 1024, fed_words = 64; // bytes ahead of the phases' memory, to align it; mbarriers per phase, at most

// A program as its ring of stages sees it: one of several phases.
template <class P> struct fed_phase : one_phase<P> {
    static constexpr int phases = 2;
};

// ---- products
template <class P> struct ws_walk;
struct ws_in_list {
    static constexpr bool fed = true, has_weights = true;
    template <class P> static constexpr int bytes = ws_memory<one_phase<P>>::bytes;
    template <class P> static constexpr int words = 2 * P::stages;
    template <class P> using walk = ws_walk<P>;
    template <class P> DEV static int arrivals(int i) { return i < P::stages ? 1 : P::releases; } // of mbarrier i
    template <class P> DEV static void prefetch(const typename P::args &p) { P::prefetch_maps(p); }
    // Loads the workgroup's tiles, from `index` on; next(i): the one after tile i. Weights: loads weights, else the rest. ready() returns
    // when the stages are free and, for the rest, when all that the phase reads is there.
    template <class P, bool Weights, class Ready, class Next>
    DEV static void feed(const typename P::args &p, const fed_place &at, int index, Ready ready, Next next)
    {
        static_assert(P::cluster == 1 && !P::own_tiles, "tile: cluster=1 and own_tiles=0 in a launch of several phases");
        ring<fed_phase<P>> r{at.memory, at.words, 0, 0};
        typename P::tile t = P::at(p, index); // before the wait, as it has divisions
        ready();
#pragma unroll 1
        for (const int tiles = P::tiles(p);;) {
            const int n = P::k_tiles(p, t);
#pragma unroll 1
            for (int s = 0; s < n; s++, r.step()) {
                if constexpr (Weights)
                    ws_load_early<fed_phase<P>, P>(p, t, s, r.to_fill());
                else
                    P::load(late(), p, t, s, r.to_fill());
            }
            index = next(index);
            if (index >= tiles) break;
            t = P::at(p, index);
        }
    }
};
template <class P> struct ws_walk {
    ring<fed_phase<P>> stages;
    shared_address scratch;
    DEV void start(const typename P::args &, int) {}
    DEV void look(const typename P::args &, int, char *) {}
    DEV void open(const fed_place &at) { stages = {at.memory, at.words, 0, 0}, scratch = at.memory + ws_memory<one_phase<P>>::scratch; }
    // known() returns when what earlier phases stored may be read: whether the tile's results are to be stored.
    template <class Known> DEV void tile(const typename P::args &p, int index, Known known)
    {
        const typename P::tile t = P::at(p, index);
        typename P::accumulators c;
        bool stores = true;
        if constexpr (P::loads_early) {
            stores = known();
            P::load_early(p, t, c);
        }
        P::compute(p, t, stages, c);
        if constexpr (!P::loads_early) stores = known();
        if (stores) P::finish(p, t, c, scratch);
    }
};

// ---- attention. A tile is P::tile_tokens queries of a head, or of a group's packed heads; its blocks of keys and values pass through the
// ring, as in a launch of its own whose keys do not stay in shared memory.
template <class P> struct ws_keys_walk {
    typename P::memory memory;
    typename P::stages_type stages;
    int count = 0; // row tiles of queries so far
    DEV void start(const typename P::args &, int) {}
    DEV void look(const typename P::args &, int, char *) {}
    DEV void open(const fed_place &at) { memory = {at.memory, at.words}, stages = memory.stages_ring(); }
    template <class Known> DEV void tile(const typename P::args &p, int index, Known known)
    {
        known();
        const int group = thread_index() / 128;
        const typename P::tile t = P::at_index(p, index);
        if (group == P::groups - 1) P::template pass_turn<false>(group); // warpgroup 0 has the first turn
        const int token = t.token + group * P::group_tokens;
        typename P::accumulators c;
        P::start(c, p, t, token);
        if (t.n > 0) P::template compute<false>(p, t, token, memory, count++, stages, c);
        P::finish(p, t, token, c);
        if (group == 0) P::template take_turn<false>(group); // the last turn that was passed on, so that the barrier is free again
    }
};
struct ws_keys_in_list {
    static constexpr bool fed = true, has_weights = false;
    template <class P> static constexpr int bytes = P::shared_bytes;
    template <class P> static constexpr int words = 2 * P::stages + 2 * P::q_buffers * P::groups;
    template <class P> using walk = ws_keys_walk<P>;
    template <class P> DEV static int arrivals(int i) { return i < P::stages || i >= 2 * P::stages ? 1 : P::groups; }
    template <class P> DEV static void prefetch(const typename P::args &p) { P::prefetch_maps(p); }
    template <class P, bool, class Ready, class Next>
    DEV static void feed(const typename P::args &p, const fed_place &at, int index, Ready ready, Next next)
    {
        const typename P::memory m{at.memory, at.words};
        typename P::stages_type r = m.stages_ring();
        ready();
        int count = 0;
#pragma unroll 1
        for (const int tiles = P::tiles(p); index < tiles; index = next(index)) {
            const typename P::tile t = P::at_index(p, index);
            if (t.n == 0) continue;
            P::template load_block<false>(p, t, 0, r);
#pragma unroll 1
            for (int g = 0; g < P::groups; g++) P::load_queries(p, t, t.token + g * P::group_tokens, m, g, count);
            count++;
#pragma unroll 1
            for (int i = 1; i < t.n; i++) {
                P::template load_block<false>(p, t, i, r);
                P::template load_block<true>(p, t, i - 1, r);
            }
            P::template load_block<true>(p, t, t.n - 1, r);
        }
    }
};

// ---- the launch
template <class P, class = void> constexpr bool is_fed = false;
template <class P> constexpr bool is_fed<P, nothing<decltype(P::in_list::fed)>> = true;
constexpr bool is_fed_launch = true; // the source has a loading warp of this kind

// Whether a workgroup computes its first tile while it is counted (census.h), as if all workgroups took part, which is nearly always so. It
// stores the results once it knows that they do, else it drops them. F says so by its member begins_alone.
template <class F, class = void> constexpr bool begins_alone = false;
template <class F> constexpr bool begins_alone<F, nothing<decltype(F::begins_alone)>> = F::begins_alone;

// Computes such a tile of a program P of the frame ws or sliced_k. known(): whether its results are to be stored.
template <class P, class Walk, class Known>
DEV void walk_first(P, Walk &walk, const typename P::args &p, int index, int next, char *shared, Known known)
{
    if constexpr (is_fed<P>) {
        walk.tile(p, index, known);
    } else {
        const typename P::tile t = P::at(p, index);
        typename P::results r = P::compute(p, t, walk.c);
        if (next >= 0) walk.start(p, next);
        if (known()) P::finish(p, t, r, reinterpret_cast<float *>(shared));
    }
}

// How many fed phases the list F has ahead of phase I.
template <class F, int I> constexpr int fed_before()
{
    if constexpr (I == 0)
        return 0;
    else
        return fed_before<F, I - 1>() + is_fed<typename F::template program<I - 1>>;
}
// Bytes of all mbarriers: those of the launch, then those of the phases.
template <class F> constexpr int fed_own = 32 + (8 * F::phases + 15) / 16 * 16;
template <class F> constexpr int fed_bytes = fed_own<F> + 8 * fed_words * fed_before<F, F::phases>();

// Called last by the loading threads. If they met the other threads again, ptxas would ignore the numbers of registers.
DEV void fed_loader_ends()
{
#if !defined(TF_ON_HOST)
    asm volatile("exit;");
#endif
}

// What both the loading threads and the others know of the launch.
template <class F> struct fed_launch {
    // Other warps of the loading warpgroup arrive at `seated` when they have taken the workgroup's seat and initialised the marks.
    // The loading thread arrives at `known` of a phase when it has acquired the marks for which the phase waits. Only this thread polls
    // them; whoever waits at `known` may then read what was stored before those marks. The warps that compute arrive at `freed` when they
    // have finished the phases ahead of a fed one.
    fed_place all; // the phases' memory; all mbarriers
    seat *own;
    unsigned opened;

    DEV shared_address seated() const { return all.words; }
    DEV shared_address freed() const { return all.words + 8; }
    DEV shared_address known(int phase) const { return all.words + 32 + 8 * phase; }
    DEV shared_address freed_for_weights() const { return all.words + 24; }
    template <int Phase> DEV fed_place place() const
    {
        using P = typename F::template program<Phase>;
        static_assert(P::in_list::template words<P> <= fed_words, "tile: fewer stages in a launch of several phases");
        return {all.memory, all.words + fed_own<F> + 8 * fed_words * fed_before<F, Phase>()};
    }
    // By the warps that compute, before the first tile of a fed phase.
    template <int Phase> DEV fed_place open()
    {
        barrier_arrive_if(freed(), thread_index() == 0);
        if constexpr (F::template program<Phase>::in_list::has_weights) barrier_arrive_if(freed_for_weights(), thread_index() == 0);
        opened++;
        return place<Phase>();
    }
    // Waits until the workgroup has its seat. Returns its index; census::nobody: it has to give up.
    template <class Sync> DEV int sit(Sync &sync) const
    {
        barrier_wait(seated(), 0);
        sync.seated = own;
        return own->total > 0 ? own->index : census::nobody;
    }
    // By the warps that compute, before they read what earlier phases stored.
    DEV void await_known(int phase) const { barrier_wait(known(phase), 0); }
    // By a loading thread: returns when the stages of the next fed phase (with Weights: the next that has weights) are free.
    template <bool Weights> DEV void await_free()
    {
        barrier_wait(Weights ? freed_for_weights() : freed(), opened++ & 1);
        async_fence_shared();
    }
    // By one lane of each warp that loads, once. Addresses are constants: the instruction takes its address from a uniform register, so
    // lanes with different addresses would take turns, 80 cycles each.
    template <int Phase = 0> DEV void initialise(int warp) const
    {
        using P = typename F::template program<Phase>;
        if constexpr (is_fed<P>)
            if (warp == Phase % (fed_loaders / TF_WAVE)) {
#pragma unroll
                for (int i = 0; i < P::in_list::template words<P>; i++)
                    barrier_init(place<Phase>().words + 8 * i, P::in_list::template arrivals<P>(i));
            }
        if constexpr (Phase + 1 < F::phases) {
            initialise<Phase + 1>(warp);
        } else {
            if (warp == 0) {
                barrier_init(seated(), 1 + TF_WAVE), barrier_init(freed(), 1), barrier_init(freed_for_weights(), 1);
#pragma unroll
                for (int i = 0; i < F::phases; i++) barrier_init(known(i), 1);
            }
            barrier_init_done();
        }
    }
};
