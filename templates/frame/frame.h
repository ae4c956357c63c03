// In: a list of phases F (one, or several of a block) and its arguments. Out: what frames that walk a list share: the tile scheduler,
// waiting for tiles of the same launch, and publishing them.
//
// F: args, phases, tiles(p, phase), with(p, phase, what), which calls what(P(), args of P), and the constants of F that the frame's own
// header names. With several phases also:
//   words(p): its counters (workspace.h), all zero before the first launch; counter_count(p): their number
//   needs(p, phase, index) -> dependency: the counter that the tile waits for, and the value that it waits for
//   posts(p, phase, index) -> the counter to which the finished tile adds 1, or -1
// An argument that another phase of the launch writes is a pointer to non-const: const promises that no thread of the launch writes there,
// so that loads through it may move above stores and waits (load_constant, base/device.h).
#pragma once
#include "templates/frame/workspace.h"

struct early {}; // data that no launch writes (weights): may be loaded before the previous launch has ended
struct late {};  // all other data: loaded after previous_wait()

struct dependency {
    int counter, count; // count 0: no dependency
};

// Whether a program's consumer warpgroups compute tiles of their own (frame_ws.h).
template <class P, class = void> inline constexpr bool own_tiles_of = false;
template <class P> inline constexpr bool own_tiles_of<P, nothing<decltype(P::own_tiles)>> = P::own_tiles;

template <class P> struct one_phase {
    using args = typename P::args;
    static constexpr int phases = 1, stages = P::stages, stage_bytes = P::stage_bytes, scratch_bytes = P::scratch_bytes;
    static constexpr int threads = P::threads;
    static constexpr int cluster = P::cluster;
    static constexpr bool pingpong = P::pingpong, own_tiles = own_tiles_of<P>;
    DEV static int tiles(const args &p, int) { return P::tiles(p); }
    template <class Do> DEV static void with(const args &p, int, Do what) { what(P(), p); }
};

// A persistent tile scheduler: items are (phase, index) over all phases in order, and item i goes to workgroup i modulo the grid. An item
// waits only for lower ones, and each workgroup takes its own in ascending order, so there is no deadlock while all workgroups are
// resident.
template <class F> struct item {
    int phase, index;
    DEV static item first() { return {0, block_index()}; }
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
    DEV void next() { index += block_total(); }
};

template <class F> DEV bool ready(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, w.phase, w.index);
        return d.count == 0 || counters{F::words(p)}.has(d.counter, d.count);
    }
    return true;
}

// Called by the threads that load the tile's data. If other threads read them as well, a barrier follows.
template <class F> DEV void await(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, w.phase, w.index);
        if (d.count > 0) counters{F::words(p)}.await(w.phase, d.counter, d.count);
        device_acquire(); // AMD: for this thread's wave alone; every wave calls it again after the barrier
    }
}

// Called by one thread, after every wave's device_release() and a barrier.
template <class F> DEV void publish(const typename F::args &p, const item<F> &w)
{
    const int counter = F::posts(p, w.phase, w.index);
    if (counter >= 0) counters{F::words(p)}.publish(counter);
}

// Called by one thread of each workgroup as it ends.
template <class F> DEV void leave(const typename F::args &p) { counters{F::words(p)}.leave(F::counter_count(p)); }
