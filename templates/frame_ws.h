// In: a list of phases F (one, or all of a block) and its arguments. Out: the warp-specialised walk over their tiles: one warpgroup
// fills a ring of shared-memory slots, two others compute and store. Refuses a list whose slots and scratch exceed shared memory.
//
// F (one_phase below, or written by the generator for a block):
//   args, phases, slots, slot_bytes, scratch_bytes, copies
//   tiles(p, phase), with(p, phase, what): calls what(P(), args of P)
//   blocks also: counters(p): zeroed words; [0] workgroups done, [1] set when waiting took too long, then [2 ...] F's own
//                counter_count(p), needs(p, phase, index) -> dependency, posts(p, phase, index) -> counter or -1
// P, the program of one phase (gemm_ws.h):
//   args, tile, carry, slots, slot_bytes, scratch_bytes, copies
//   tiles(p), at(p, index) -> tile, stages(p, tile) >= 1, bytes(p): what the tensor loads of a stage bring
//   load(early or late, p, tile, stage, slot): issues only; early: weights, which no launch writes; late: the rest
//   compute(p, tile, ring, carry), finish(p, tile, carry, scratch)
// `copies`: the producer's threads copy part of every slot themselves (rows that tensor loads cannot reach).
#pragma once

struct early {};
struct late {};

struct slot {
    shared_address memory, full;
};

struct dependency {
    int counter, count; // count 0: none
};

// The walk over slots; producer and consumers each keep one and step it alike.
template <class F> struct ring {
    static constexpr bool shared = F::phases > 1; // by several phases
    shared_address memory, barriers;
    int position;
    unsigned parity;

    DEV shared_address full(int i) const { return barriers + 8 * i; }
    DEV shared_address empty(int i) const { return barriers + 8 * (F::slots + i); }
    DEV slot here() const { return {memory + position * F::slot_bytes, full(position)}; }
    DEV void step()
    {
        if (++position == F::slots) {
            position = 0;
            parity ^= 1;
        }
    }
    DEV slot to_fill()
    {
        barrier_wait(empty(position), parity ^ 1);
        return here();
    }
    DEV slot wait()
    {
        barrier_wait(full(position), parity);
        return here();
    }
    template <int Part> DEV void pump() {} // the producer loads; in the mixed frame this issues part of a later stage
    DEV void release_if(int i, bool yes) { barrier_arrive_if(empty(i), yes && threadIdx.x % 128 == 0); }
};

// Dynamic shared memory: slots, aligned to 1024 bytes; scratch of the consumers; barriers.
template <class F> struct ws_memory {
    static constexpr int scratch = F::slots * F::slot_bytes, barriers = scratch + F::scratch_bytes;
    static constexpr int bytes = 1024 + barriers + 16 * F::slots;
    static_assert(F::slot_bytes % 1024 == 0, "tile: the swizzle repeats after 1024 bytes");
    static_assert(bytes <= 232448, "tile: shared memory");
};

constexpr int ws_threads = 384, ws_producers = 128, ws_consumers = 256;

template <class P> struct one_phase {
    using args = typename P::args;
    static constexpr int phases = 1, slots = P::slots, slot_bytes = P::slot_bytes, scratch_bytes = P::scratch_bytes;
    static constexpr bool copies = P::copies;
    DEV static int tiles(const args &p, int) { return P::tiles(p); }
    template <class Do> DEV static void with(const args &p, int, Do what) { what(P(), p); }
};

// (phase, index) over all phases in order; item i goes to workgroup i modulo the grid. An item waits for lower ones only and every
// workgroup takes its own in ascending order, so with all workgroups resident nothing can wait in a circle.
template <class F> struct ws_walk {
    int phase, index;
    DEV static ws_walk first() { return {0, static_cast<int>(blockIdx.x)}; }
    DEV bool valid(const typename F::args &p)
    {
        for (; phase < F::phases; phase++) {
            const int n = F::tiles(p, phase);
            if (index < n)
                return true;
            index -= n;
        }
        return false;
    }
    DEV void next() { index += gridDim.x; }
};

// ---- between workgroups

constexpr unsigned ws_patience = 4000000; // microseconds before a wait is called a hang

template <class F> DEV bool ws_ready(const typename F::args &p, int phase, int index)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, phase, index);
        return d.count == 0 || counter_read(F::counters(p) + 2 + d.counter) >= static_cast<unsigned>(d.count);
    }
    return true;
}

template <class F> DEV void ws_await(const typename F::args &p, int phase, int index)
{
    if constexpr (F::phases > 1) {
        const unsigned start = microseconds();
        while (!ws_ready<F>(p, phase, index))
            if (counter_read(F::counters(p) + 1) || microseconds() - start > ws_patience) {
                counter_store(F::counters(p) + 1, 1);
                break;
            }
        async_fence_global(); // what others stored is read by tensor loads
    }
}

template <class F> DEV void ws_publish(const typename F::args &p, int phase, int index)
{
    if constexpr (F::phases > 1) {
        async_fence_global();
        group_barrier(1, ws_consumers);
        const int counter = F::posts(p, phase, index);
        if (threadIdx.x == ws_producers && counter >= 0)
            counter_add(F::counters(p) + 2 + counter, 1);
    }
}

// The last workgroup leaves the counters as it found them, so launches and graph replays need no memset between them.
template <class F> DEV void ws_leave(const typename F::args &p)
{
    if constexpr (F::phases > 1) {
        __syncthreads();
        if (threadIdx.x == 0 && counter_add(F::counters(p), 1) == gridDim.x - 1) {
            for (int i = 0; i < F::counter_count(p); i++)
                counter_store(F::counters(p) + 2 + i, 0);
            counter_store(F::counters(p), 0);
        }
    }
}

// ---- producer

// A slot that threads copied into becomes full two stages later, when the copies are known to have landed.
struct ws_landing {
    shared_address older, newer; // 0: none
    DEV void issued(shared_address full)
    {
        copy_commit();
        copy_wait<2>();
        async_fence_shared();
        barrier_arrive_if(older, older != 0);
        older = newer;
        newer = full;
    }
    DEV void flush()
    {
        copy_wait<0>();
        async_fence_shared();
        barrier_arrive_if(older, older != 0);
        barrier_arrive_if(newer, newer != 0);
        older = newer = 0;
    }
};

template <class F, class P> DEV void ws_load_early(const typename P::args &a, const typename P::tile &t, int stage, slot m)
{
    if (threadIdx.x != 0)
        return;
    if constexpr (F::copies)
        barrier_announce(m.full, P::bytes(a));
    else
        barrier_expect(m.full, P::bytes(a));
    P::load(early(), a, t, stage, m);
}

template <class F> DEV void ws_produce(const typename F::args &p, ring<F> r)
{
    ws_landing landing{0, 0};
    for (ws_walk<F> w = ws_walk<F>::first(); w.valid(p); w.next())
        F::with(p, w.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            const auto t = P::at(a, w.index);
            const int n = P::stages(a, t), ahead = ws_ready<F>(p, w.phase, w.index) ? 0 : n < F::slots ? n : F::slots;
            ring<F> e = r;
            for (int s = 0; s < ahead; s++, e.step()) // weights stream in while others still compute what this item reads
                ws_load_early<F, P>(a, t, s, e.to_fill());
            ws_await<F>(p, w.phase, w.index);
            for (int s = 0; s < n; s++, r.step()) {
                if (s >= ahead)
                    ws_load_early<F, P>(a, t, s, r.to_fill());
                P::load(late(), a, t, s, r.here());
                if constexpr (F::copies)
                    landing.issued(r.here().full);
            }
            if constexpr (F::copies && F::phases > 1)
                landing.flush(); // others may wait for this tile while this thread waits for them
        });
    if constexpr (F::copies)
        landing.flush();
}

// ---- consumers

template <class F> DEV void ws_consume(const typename F::args &p, ring<F> r, shared_address scratch)
{
    for (ws_walk<F> w = ws_walk<F>::first(); w.valid(p); w.next()) {
        F::with(p, w.phase, [&](auto program, const auto &a) {
            using P = decltype(program);
            const auto t = P::at(a, w.index);
            typename P::carry c;
            P::compute(a, t, r, c);
            P::finish(a, t, c, scratch);
        });
        ws_publish<F>(p, w.phase, w.index);
    }
}

template <class F> DEV void run_ws(const typename F::args &p)
{
    extern __shared__ unsigned char ws_shared[];
    const shared_address base = (shared_at(ws_shared) + 1023) & ~1023u;
    const ring<F> r{base, base + ws_memory<F>::barriers, 0, 0};
    if (threadIdx.x == 0) {
        for (int i = 0; i < F::slots; i++) {
            barrier_init(r.barriers + 8 * i, F::copies ? ws_producers : 1);
            barrier_init(r.barriers + 8 * (F::slots + i), ws_consumers / 128);
        }
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x < ws_producers) {
        registers_shrink<40>();
        if (F::copies || threadIdx.x == 0)
            ws_produce<F>(p, r);
    } else {
        registers_grow<232>();
        ws_consume<F>(p, r, base + ws_memory<F>::scratch);
    }
    ws_leave<F>(p);
}

// Tensor maps in args are read through the constant bank, so the parameter itself must be the tensor map's home.
#define TF_KERNEL_WS(name, phases)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(ws_threads, 1) name(const __grid_constant__ phases::args p) { run_ws<phases>(p); }
