// In: a list of phases F (one, or all of a block, written by the generator) and its arguments. Out: what the frames ws and interleaved
// share: the walk over tiles, waiting for tiles of this launch and publishing them. A wait that takes too long sets a word
// and ends.
//
// F: args, phases, tiles(p, phase), with(p, phase, what): calls what(P(), args of P), and what the frame asks for. Blocks also have:
//   counters(p): zeroed words: [0] workgroups done, [1] set when waiting took too long, from [2] on F's own
//   counter_count(p), needs(p, phase, index) -> dependency, posts(p, phase, index) -> counter or -1
// From the ISA layer: thread_index, block_index, block_total, counter_read, counter_add, counter_store, pause, foreign_fence (what other
// workgroups stored becomes visible to every way of loading) and own_fence (what this thread stored may be read so by others).
#pragma once
#include "templates/base/device.h"

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

constexpr unsigned most_polls = 1u << 24;

template <class F> DEV bool ready(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        const dependency d = F::needs(p, w.phase, w.index);
        return d.count == 0 || counter_read(F::counters(p) + 2 + d.counter) >= static_cast<unsigned>(d.count);
    }
    return true;
}

// By the threads that load next; others join them at a barrier.
template <class F> DEV void await(const typename F::args &p, const item<F> &w)
{
    if constexpr (F::phases > 1) {
        for (unsigned polls = 0; !ready<F>(p, w); polls++) {
            if (polls == most_polls || counter_read(F::counters(p) + 1)) {
                counter_store(F::counters(p) + 1, 1);
                break;
            }
            pause();
        }
        foreign_fence();
    }
}

// By one thread, after own_fence() of each and a barrier.
template <class F> DEV void publish(const typename F::args &p, const item<F> &w)
{
    const int counter = F::posts(p, w.phase, w.index);
    if (counter >= 0)
        counter_add(F::counters(p) + 2 + counter, 1);
}

// By one thread of each workgroup at its end. The last one leaves the counters as it found them, so launches and graph replays need no
// memset between them.
template <class F> DEV void leave(const typename F::args &p)
{
    if (counter_add(F::counters(p), 1) != static_cast<unsigned>(block_total()) - 1)
        return;
    for (int i = 0; i < F::counter_count(p); i++)
        counter_store(F::counters(p) + 2 + i, 0);
    counter_store(F::counters(p), 0);
}
