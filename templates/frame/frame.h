// In: a list of phases F (one phase, or several of a block) and its arguments. Out: what frames that walk a list share: the tile scheduler,
// and how tiles of a launch wait for each other.
//
// F has
// - args, the arguments' type; phases, how many there are
// - tiles(p, phase): how many tiles a phase has
// - with(p, phase, what): calls what(P(), arguments of P) for the program P of the phase
// - constants that the header of the frame names
//
// If there are several phases, it also has
// - words(p): the launch's counters (workspace.h), all zero before the first launch; counter_count(p): how many there are
// - needs(p, phase, index) -> dependency: which counter the tile waits for, and until which value
// - posts(p, phase, index) -> the counter to which the finished tile adds 1, or -1
//
// An argument that another phase of the launch writes is a pointer to non-const. A pointer to const promises that no thread of the launch
// writes there, so that loads through it may move above stores and waits (load_constant, base/device.h).
#pragma once
#include "templates/frame/workspace.h"

struct early {}; // loads of data that no launch writes (weights); they may run before the previous launch has ended
struct late {};  // loads of all other data, after previous_wait()

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

// A persistent tile scheduler. Items are the tiles of all phases in order, and item i goes to workgroup i modulo the grid. An item waits
// only for items with lower numbers, and each workgroup takes its items in ascending order, so there is no deadlock if all workgroups are
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

// True if the tile need not wait.
template <class F> DEV bool ready(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, w.phase, w.index);
        return d.count == 0 || counters{F::words(p)}.has(d.counter, d.count);
    }
    return true;
}

// Waits for what the tile needs. Called by the threads that load the tile's data; if other threads read that, too, a barrier must follow.
template <class F> DEV void await(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, w.phase, w.index);
        if (d.count > 0) counters{F::words(p)}.await(w.phase, d.counter, d.count);
        device_acquire(); // on AMD this holds for the thread's own wave only, so every wave calls it again after the barrier
    }
}

// Counts the finished tile. Called by one thread, after device_release() by every wave and a barrier.
template <class F> DEV void publish(const typename F::args &p, const item<F> &w)
{
    const int counter = F::posts(p, w.phase, w.index);
    if (counter >= 0) counters{F::words(p)}.publish(counter);
}

// Called by one thread of each workgroup as it ends.
template <class F> DEV void leave(const typename F::args &p) { counters{F::words(p)}.leave(F::counter_count(p)); }
