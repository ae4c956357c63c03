// In: a list of phases F (one, or several of a block) and its arguments. Out: what the frames that walk a list share: the walk over tiles,
// waiting for tiles of this launch and publishing them.
//
// F: args, phases, tiles(p, phase), with(p, phase, what): calls what(P(), args of P), and what the frame asks for. Of several phases also:
//   words(p): of its counters (workspace.h), all zero before the first launch; counter_count(p): how many there are
//   needs(p, phase, index) -> dependency, posts(p, phase, index) -> counter or -1
// Where a phase reads what another one of the launch writes, its argument is a pointer to what is not const: const says that no thread of
// the launch writes there, and such loads may be early (load_constant, base/device.h).
#pragma once
#include "templates/frame/workspace.h"

struct early {}; // what no launch writes: weights
struct late {};  // the rest

struct dependency {
    int counter, count; // count 0: none
};

template <class P> struct one_phase {
    using args = typename P::args;
    static constexpr int phases = 1, stages = P::stages, stage_bytes = P::stage_bytes, scratch_bytes = P::scratch_bytes;
    static constexpr int threads = P::threads;
    static constexpr int cluster = P::cluster;
    static constexpr bool turns = P::turns;
    DEV static int tiles(const args &p, int) { return P::tiles(p); }
    template <class Do> DEV static void with(const args &p, int, Do what) { what(P(), p); }
};

// (phase, index) over all phases in order; item i goes to workgroup i modulo the grid. An item waits for lower ones only and every
// workgroup takes its own in ascending order, so with all workgroups resident nothing can wait in a circle.
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

// By the threads that load next; others join them at a barrier.
template <class F> DEV void await(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, w.phase, w.index);
        if (d.count > 0) counters{F::words(p)}.await(w.phase, d.counter, d.count);
        device_acquire(); // AMD: of the thread that waits; the waves acquire behind the barrier
    }
}

// By one thread, after device_release() of each wave and a barrier.
template <class F> DEV void publish(const typename F::args &p, const item<F> &w)
{
    const int counter = F::posts(p, w.phase, w.index);
    if (counter >= 0) counters{F::words(p)}.publish(counter);
}

// By one thread of each workgroup at its end.
template <class F> DEV void leave(const typename F::args &p) { counters{F::words(p)}.leave(F::counter_count(p)); }
