// In: a list of phases F (one, or all of a block) and its arguments. Out: the warp-specialised frame (sm_90a), a persistent mainloop: one
// producer warpgroup fills a ring of stages in shared memory by TMA, two consumer warpgroups compute and store. Refuses (static_assert) a
// list whose stages and scratch exceed shared memory. The frame ws_tile, further down, has one tile per workgroup.
//
// F (frame.h) also has
// - stages, stage_bytes, scratch_bytes
// - pingpong: the consumer warpgroups issue their products in turn (ping-pong within a tile)
// - own_tiles: each consumer warpgroup computes tiles of its own, so that one stores results while the other multiplies (the ping-pong
//   schedule of CUTLASS); only for lists of one phase
// - cluster: workgroups that load together (1: each for itself); their tiles have the same number of k tiles
//
// P, the program of a phase (such as gemm_ws.h), has
// - args, tile, accumulators (types); stages, stage_bytes, scratch_bytes, pingpong, own_tiles, cluster
// - tiles(p), at(p, index) -> tile, k_tiles(p, tile) >= 1
// - bytes(p): bytes that the loads of a k tile bring, which its mbarrier awaits
// - load(early or late, p, tile, k_tile, stage), which only issues the copies
// - compute(p, tile, ring, accumulators), finish(p, tile, accumulators, scratch)
#pragma once
#include "templates/frame/frame.h"
#include "templates/isa/wgmma.h"

struct stage {
    shared_address memory, full;
};

// The state of the pipeline: stage index and parity. The producer and each consumer have a copy, and advance it in the same way.
template <class F> struct ring {
    static constexpr bool shared = F::phases > 1; // several phases use the ring
    shared_address memory, barriers;
    int position;
    unsigned parity;

    DEV shared_address full(int i) const { return barriers + 8 * i; }
    DEV shared_address empty(int i) const { return barriers + 8 * (F::stages + i); }
    DEV stage here() const { return {memory + position * F::stage_bytes, full(position)}; }
    DEV void step()
    {
        if (++position == F::stages) {
            position = 0;
            parity ^= 1;
        }
    }
    DEV void skip(int k_tiles)
    {
        parity ^= static_cast<unsigned>((position + k_tiles) / F::stages) & 1u;
        position = (position + k_tiles) % F::stages;
    }
    DEV stage to_fill()
    {
        barrier_wait(empty(position), parity ^ 1);
        return here();
    }
    DEV stage wait()
    {
        barrier_wait(full(position), parity);
        return here();
    }
    template <int Part> DEV void prefetch() {} // nothing to do, as the producer loads; the interleaved frame issues copies here
    DEV void release_if(int i, bool yes)   // frees the stage in all workgroups of the cluster, which load together
    {
        const int thread = thread_index() % 128;
        if constexpr (F::cluster == 1)
            barrier_arrive_if(empty(i), yes && thread == 0);
        else
            barrier_arrive_at(thread, empty(i), yes && thread < F::cluster);
    }
};

// Dynamic shared memory: stages, aligned to 1024 bytes; scratch of the consumers; mbarriers.
template <class F> struct ws_memory {
    static constexpr int scratch = F::stages * F::stage_bytes, barriers = scratch + F::scratch_bytes;
    static constexpr int bytes = 1024 + barriers + 16 * F::stages;
    static_assert(F::stage_bytes % 1024 == 0, "tile: stage_bytes is a multiple of 1024, the period of the swizzle");
    static_assert(bytes <= 232448, "tile: at most 227 KB of shared memory");
};

#if defined(TF_FED) // the threads that load come last (frame_fed.h)
inline constexpr int ws_producers = 0;
#else
inline constexpr int ws_producers = 128;
#endif
inline constexpr int ws_consumers = 256, ws_threads = ws_producers + ws_consumers;
struct ws_in_list; // how programs of this frame, and of ws_keys, are phases of a list (frame_fed.h)
struct ws_keys_in_list;

// ---- producer: one thread of its warpgroup does all this

template <class F, class P> DEV void ws_load_early(const typename P::args &a, const typename P::tile &t, int k_tile, stage m)
{
    barrier_expect(m.full, P::bytes(a));
    P::load(early(), a, t, k_tile, m);
}

// Issues the loads of weights for an item's first k tiles. They arrive while other launches or workgroups still compute what else the item
// reads. Returns the number of these k tiles.
template <class F> DEV int ws_load_ahead(const typename F::args &p, const item<F> &w, ring<F> r)
{
    int ahead = 0;
    F::with(p, w.phase, [&](auto program, const auto &a) {
        using P = decltype(program);
        const auto t = P::at(a, w.index);
        const int n = P::k_tiles(a, t);
        ahead = n < F::stages ? n : F::stages;
        for (int s = 0; s < ahead; s++, r.step()) ws_load_early<F, P>(a, t, s, r.to_fill());
    });
    return ahead;
}

template <class F> DEV void ws_produce(const typename F::args &p, ring<F> r)
{
    item<F> w = item<F>::first();
    int ahead = w.valid(p) ? ws_load_ahead<F>(p, w, r) : 0;
    previous_wait(); TF_TRACED(trace_ready(p.tf_trace));
    for (; w.valid(p); w.next(), ahead = 0) { TF_TRACED(trace_asked(p.tf_trace, trace_slot<F>(p, w)));
        if (ahead == 0 && !ready<F>(p, w)) ahead = ws_load_ahead<F>(p, w, r);
        await<F>(p, w);
        if constexpr (F::phases > 1) proxy_fence(); // bulk copies will read the data that await() waited for
        F::with(p, w.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            const auto t = P::at(a, w.index);
            const int n = P::k_tiles(a, t);
            for (int s = 0; s < n; s++, r.step()) {
                if (s >= ahead) ws_load_early<F, P>(a, t, s, r.to_fill());
                P::load(late(), a, t, s, r.here());
            }
        });
    }
    next_may_start(); // all loads are issued, so loads of the next launch cannot delay them
    if constexpr (F::cluster > 1) // until no arrival of another workgroup is on its way here (ws_await_arrivals())
        for (int i = 0; i < F::stages; i++, r.step()) r.to_fill();
}

// ---- consumers

// Ping-pong: while one consumer warpgroup does other work, the other has the tensor cores to itself. Each waits for its turn, issues the
// products of a k tile, and passes the turn on.
//
// With own_tiles a turn lasts for all k tiles of a tile. If turns were shorter, a warpgroup could run ahead by a whole round of the ring,
// and wait for the next k tile of a stage before the present one has arrived. That wait would end at once, as an mbarrier tells phases
// apart only by parity.
DEV void turn_take() { group_barrier(1 + thread_index() / 128, ws_consumers); }
DEV void turn_pass() { group_arrive(4 - thread_index() / 128, ws_consumers); }

// Skips the k tiles of an item that belongs to the other consumer warpgroup.
template <class F> DEV void ws_pass(const typename F::args &p, item<F> &w, ring<F> &r)
{
    if (!w.valid(p)) return;
    F::with(p, w.phase, [&](auto program, const auto &a) {
        using P = decltype(program);
        r.skip(P::k_tiles(a, P::at(a, w.index)));
    });
    w.next();
}

template <class F> DEV void ws_consume(const typename F::args &p, ring<F> r, shared_address scratch)
{
    static_assert(!F::own_tiles || (F::phases == 1 && !F::pingpong), "tile: warpgroups have tiles of their own in a launch of one phase");
    previous_wait();
    if constexpr (F::pingpong || F::own_tiles)
        if (thread_index() / 128 == 2) turn_pass(); // the first consumer warpgroup has the first turn
    item<F> w = item<F>::first();
    if constexpr (F::own_tiles)
        if (thread_index() / 128 == 2) ws_pass<F>(p, w, r);
    while (w.valid(p)) { TF_TRACED(const int own = trace_slot<F>(p, w), speaker = F::own_tiles ? thread_index() / 128 * 128 : ws_producers);
        if constexpr (F::phases > 1) { // epilogues also read memory, for which the wait of the producer does not suffice
            if (thread_index() == ws_producers) await<F>(p, w);
            group_barrier(1, ws_consumers);
        }
        F::with(p, w.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            const auto t = P::at(a, w.index);
            typename P::accumulators c; TF_TRACED(trace_loaded(p.tf_trace, own, speaker, r));
            P::compute(a, t, r, c); TF_TRACED(trace_computed(p.tf_trace, own, speaker));
            P::finish(a, t, c, scratch); TF_TRACED(trace_end(p.tf_trace, own, speaker));
        });
        if constexpr (F::phases > 1) {
            proxy_fence();
            group_barrier(1, ws_consumers);
            if (thread_index() == ws_producers) publish<F>(p, w);
        }
        w.next();
        if constexpr (F::own_tiles) ws_pass<F>(p, w, r);
    }
}

// A barrier among all threads of the cluster, or of the workgroup if there are no clusters. It does not make stores visible to other
// workgroups.
template <class F> DEV void ws_meet()
{
    if constexpr (F::cluster > 1)
        cluster_meet();
    else
        __syncthreads();
}

template <class F> DEV void run_ws(const typename F::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, trace_total<F>(p)));
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(unsigned char, ws_shared);
#else
    extern __shared__ unsigned char ws_shared[];
#endif
    const shared_address base = (shared_at(ws_shared) + 1023) & ~1023u;
    const ring<F> r{base, base + ws_memory<F>::barriers, 0, 0};
    if (thread_index() == 0) {
        for (int i = 0; i < F::stages; i++) {
            barrier_init(r.barriers + 8 * i, 1);
            barrier_init(r.barriers + 8 * (F::stages + i), (F::own_tiles ? 1 : ws_consumers / 128) * F::cluster);
        }
        barrier_init_done();
    }
    ws_meet<F>();
    if (thread_index() < ws_producers) {
        registers_shrink<40>(); // 40 + 2 * 232 <= 512 registers for a lane of each of the three warpgroups
        if (thread_index() == 0) ws_produce<F>(p, r);
    } else {
        registers_grow<232>();
        ws_consume<F>(p, r, base + ws_memory<F>::scratch); TF_TRACED(trace_leave(p.tf_trace, ws_producers));
    }
    if constexpr (F::cluster > 1) cluster_part(); // until here other workgroups may write to this one's shared memory
    if constexpr (F::phases > 1) {
        __syncthreads();
        if (thread_index() == 0) leave<F>(p);
    }
}

// ---- the frame ws_tile: one tile per workgroup, or stream-K. Late loads have stages of their own. P is as above, and also has
// - consumers: how many threads compute. The threads after them are producers, of which the first one loads: a warp, or a warpgroup, which
//   gives registers to the consumers
// - releases: consumer arrivals that free a stage
// - members: workgroups that load into each other's stages
// - meets_first: early loads, too, go into stages of other workgroups, so the members meet before the first early load; else they meet
//   before the first late load
// - adds_up: other workgroups of the cluster read this one's sums
// - resident: workgroups per multiprocessor
// - late_stages, late_bytes: number and size of the stages for late loads, which are part of scratch_bytes; at most `stages`
// - loads_values: B is an activation, which load_values(p, tile, k_tile, stage) loads into an early stage; load(early) issues nothing
// - prepare(p): prefetches the tensor map of late loads
// - prefetch_next(p): called when loads of all weights are issued
// - start(p, tile, accumulators): reads what can be read before the products
// - compute(p, tile, ring, late memory, accumulators): leaves the sums in shared memory in place of the stages
// - finish(p, tile, accumulators, sums)
// - streams: workgroups are persistent and have several tiles each; between two tiles all stages are free
// - persistent: workgroups have several tiles each, whose k tiles pass through the stages without a break: while a tile is stored, the next
//   one is loaded. There are as many late stages as early ones. compute() then leaves the sums in registers, and finish() gets `staging`,
//   memory of staging_bytes behind the late stages, in place of the sums

template <class P> DEV void ws_load_first(const typename P::args &p, const typename P::tile &t, ring<one_phase<P>> r)
{
    for (int s = 0; s < P::k_tiles(p, t) && s < P::stages; s++, r.step()) ws_load_early<one_phase<P>, P>(p, t, s, r.here());
}

template <class P> DEV void ws_start_barriers(ring<one_phase<P>> r)
{
    for (int i = 0; i < one_phase<P>::stages; i++) {
        barrier_init(r.full(i), 1);
        barrier_init(r.empty(i), P::releases);
    }
    barrier_init_done();
}

// Registers of a consumer thread if the producers are a warpgroup. A multiprocessor has 65536 registers: 512 for each of the 128 lanes of a
// warpgroup, shared by the warpgroups of all resident workgroups.
inline constexpr int ws_producer_registers = 24;
template <class P> constexpr int ws_consumer_registers()
{
    const int groups = P::consumers / 128, even = 512 / (P::resident * (groups + 1)) / 8 * 8;
    const int left = ((even < 248 ? even : 248) * (groups + 1) - ws_producer_registers) / groups / 8 * 8;
    return left < 240 ? left : 240;
}

// Called when all loads are issued, so that loads of the next launch cannot delay them.
template <class P> DEV void ws_all_loaded(const typename P::args &p)
{
    next_may_start();
    P::prefetch_next(p);
}

// Waits until all consumers of the members have freed the last `count` stages, r being at the first. An arrival travels on its own: the
// relaxed barrier of the members (cluster_meet()) does not wait for it. If it came after this workgroup has ended, the launch would fail,
// and if it came after the next tile has begun, it would count for that tile.
template <class P> DEV void ws_await_arrivals(ring<one_phase<P>> r, int count)
{
    for (; count > 0; count--, r.step()) barrier_wait(r.empty(r.position), r.parity);
}

// Issues the loads of a tile that ws_load_first() has not issued. A k tile that the consumers have multiplied frees two stages: an early
// one for k tile + P::stages, and a late one for k tile + P::late_stages. last: it is the workgroup's last tile.
template <class P> DEV void ws_produce_tile(const typename P::args &p, const typename P::tile &t, ring<one_phase<P>> r, bool last)
{
    using F = one_phase<P>;
    static_assert(P::late_stages <= P::stages, "tile: no more late stages than stages");
    const int n = P::k_tiles(p, t);
    const shared_address memory = r.memory + ws_memory<F>::scratch;
    ring<F> later = r;
    previous_wait();
    for (int s = 0; s < n; s++, later.step()) {
        if (s >= P::late_stages) {
            const int ahead = s - P::late_stages + P::stages;
            barrier_wait(r.empty(r.position), r.parity);
            if (ahead < n) ws_load_early<F, P>(p, t, ahead, r.here());
            if (last && ahead == n - 1) ws_all_loaded<P>(p);
            r.step();
        }
        P::load(late(), p, t, s, {memory + s % P::late_stages * P::late_bytes, later.full(later.position)});
        if constexpr (P::loads_values) P::load_values(p, t, s, later.here());
    }
    if (last && n <= P::stages) ws_all_loaded<P>(p);
    if constexpr (P::members > 1) ws_await_arrivals<P>(r, n < P::late_stages ? n : P::late_stages);
}

// Between two tiles, all threads of the workgroups that load into each other's stages meet, because the stages held the sums.
template <class P> DEV void ws_tile_ends()
{
    if constexpr (P::members > 1)
        cluster_meet();
    else
        group_barrier(2, P::threads);
}

template <class P> DEV void ws_produce_tiles(const typename P::args &p, typename P::tile t, ring<one_phase<P>> r)
{
    const bool loads = thread_index() == P::consumers;
    const int tiles = P::tiles(p);
    for (int i = block_index();;) { TF_TRACED(if (loads) trace_asked(p.tf_trace, i));
        if (loads) ws_produce_tile<P>(p, t, r, i + block_total() >= tiles);
        r.skip(P::k_tiles(p, t));
        if ((i += block_total()) >= tiles) break;
        t = P::at(p, i);
        ws_tile_ends<P>();
        if (loads) ws_load_first<P>(p, t, r);
    }
}

// Issues the loads of all tiles of a persistent workgroup, of which ws_load_first() has issued the first early ones of t.
template <class P> DEV void ws_produce_on(const typename P::args &p, typename P::tile t, ring<one_phase<P>> r)
{
    using F = one_phase<P>;
    static_assert(P::late_stages == P::stages, "tile: a persistent workgroup has as many stages for rows as for weights");
    const shared_address memory = r.memory + ws_memory<F>::scratch;
    const int tiles = P::tiles(p);
    int ahead = P::stages;
    previous_wait();
    for (int i = block_index();; ahead = 0) { TF_TRACED(trace_asked(p.tf_trace, i));
        const int n = P::k_tiles(p, t);
        for (int s = 0; s < n; s++, r.step()) {
            if (s >= ahead) ws_load_early<F, P>(p, t, s, r.to_fill());
            P::load(late(), p, t, s, {memory + r.position * P::late_bytes, r.full(r.position)});
            if constexpr (P::loads_values) P::load_values(p, t, s, r.here());
        }
        if ((i += block_total()) >= tiles) break;
        t = P::at(p, i);
    }
    ws_all_loaded<P>(p);
    if constexpr (P::members > 1) // until no arrival of another workgroup is on its way here (ws_await_arrivals())
        for (int i = 0; i < P::stages; i++, r.step()) r.to_fill();
}

template <class P>
DEV void ws_consume_on(const typename P::args &p, typename P::tile t, ring<one_phase<P>> r, shared_address late_memory)
{
    const int tiles = P::tiles(p);
    for (int i = block_index();;) {
        typename P::accumulators c; TF_TRACED(trace_start(p.tf_trace, i, 0));
        P::compute(p, t, r, late_memory, c); TF_TRACED(trace_computed(p.tf_trace, i, 0));
        P::finish(p, t, c, late_memory + P::late_stages * P::late_bytes); TF_TRACED(trace_end(p.tf_trace, i, 0));
        if ((i += block_total()) >= tiles) break;
        t = P::at(p, i);
    }
}

template <class P>
DEV void ws_consume_tiles(const typename P::args &p, typename P::tile t, ring<one_phase<P>> r, shared_address late_memory)
{
    const shared_address sums = r.memory;
    const int tiles = P::tiles(p);
    for (int i = block_index();;) {
        typename P::accumulators c; TF_TRACED(trace_start(p.tf_trace, i, 0));
        P::start(p, t, c);
        P::compute(p, t, r, late_memory, c); TF_TRACED(trace_computed(p.tf_trace, i, 0));
        group_barrier(1, P::consumers);
        P::finish(p, t, c, sums); TF_TRACED(trace_end(p.tf_trace, i, 0));
        if ((i += block_total()) >= tiles) break;
        t = P::at(p, i);
        async_fence_shared();
        ws_tile_ends<P>();
    }
}

template <class P> DEV void run_ws_tile(const typename P::args &p)
{ TF_TRACED(trace_enter(p.tf_trace, P::tiles(p)));
    using F = one_phase<P>;
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(unsigned char, ws_shared);
#else
    extern __shared__ unsigned char ws_shared[];
#endif
    const shared_address base = (shared_at(ws_shared) + 1023) & ~1023u;
    ring<F> r{base, base + ws_memory<F>::barriers, 0, 0};
    if (block_index() >= P::tiles(p)) { // the launch has no rows, so no tiles
        previous_wait();
        return;
    }
    const typename P::tile t = P::at(p, block_index());
    const bool loads = thread_index() == P::consumers;
    if (loads) ws_start_barriers<P>(r);
    if constexpr (P::meets_first) ws_meet<F>();
    if (loads) {
        ws_load_first<P>(p, t, r);
        P::prepare(p);
    } TF_TRACED(if (loads && !P::streams && !P::persistent) trace_asked(p.tf_trace, block_index()));
    if constexpr (P::members == 1)
        __syncthreads();
    else if constexpr (!P::meets_first)
        ws_meet<F>(); // from here on each workgroup loads into the stages of the others
    if (thread_index() >= P::consumers) {
        if constexpr (P::producers == 128) registers_shrink<ws_producer_registers>();
        if constexpr (P::streams) {
            ws_produce_tiles<P>(p, t, r);
        } else if constexpr (P::persistent) {
            if (loads) ws_produce_on<P>(p, t, r);
        } else {
            if (loads) ws_produce_tile<P>(p, t, r, true);
            if constexpr (P::adds_up) cluster_barrier();
        }
    } else {
        if constexpr (P::producers == 128) registers_grow<ws_consumer_registers<P>()>();
        previous_wait(); TF_TRACED(if (thread_index() == 0) trace_ready(p.tf_trace));
        if constexpr (P::streams) {
            ws_consume_tiles<P>(p, t, r, base + ws_memory<F>::scratch);
        } else if constexpr (P::persistent) {
            ws_consume_on<P>(p, t, r, base + ws_memory<F>::scratch);
        } else {
            typename P::accumulators c; TF_TRACED(trace_start(p.tf_trace, block_index(), 0));
            P::start(p, t, c);
            P::compute(p, t, r, base + ws_memory<F>::scratch, c); TF_TRACED(trace_computed(p.tf_trace, block_index(), 0));
            if constexpr (P::adds_up)
                cluster_barrier();
            else
                group_barrier(1, P::consumers);
            P::finish(p, t, c, base); TF_TRACED(trace_end(p.tf_trace, block_index(), 0));
        } TF_TRACED(trace_leave(p.tf_trace, 0));
    }
    if constexpr (F::cluster > 1) cluster_part(); // until here others may read this workgroup's shared memory, or free its stages
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_WS_TILE(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_ws_tile<__VA_ARGS__>(p); } \
    TF_EXPORT_CLUSTER(name, (__VA_ARGS__::cluster))
#else
#if defined(TF_ALL_REGISTERS)
#define TF_WS_RESIDENT(P) 1
#else
#define TF_WS_RESIDENT(P) P::resident
#endif
#define TF_KERNEL_WS_TILE(name, ...)                                                                                                \
    extern "C" __global__ void __cluster_dims__(__VA_ARGS__::cluster, 1, 1)                                                         \
        __launch_bounds__(__VA_ARGS__::threads, TF_WS_RESIDENT(__VA_ARGS__)) name(const __grid_constant__ __VA_ARGS__::args p) \
    {                                                                                                                               \
        run_ws_tile<__VA_ARGS__>(p);                                                                                                \
    }
#endif

#if defined(TF_ON_HOST)
#define TF_KERNEL_WS(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_ws<__VA_ARGS__>(p); } \
    TF_EXPORT_CLUSTER(name, (__VA_ARGS__::cluster))
#else
// TMA reads its descriptors in args through the constant bank, so the kernel parameter itself must hold them.
#define TF_KERNEL_WS(name, ...)                                                                              \
    extern "C" __global__ void __cluster_dims__(__VA_ARGS__::cluster, 1, 1) __launch_bounds__(ws_threads, 1) \
        name(const __grid_constant__ __VA_ARGS__::args p)                                                    \
    {                                                                                                        \
        run_ws<__VA_ARGS__>(p);                                                                              \
    }
#endif
