// Runs several rows programs (rows.h) as one program of the mixed frame (horizontal fusion): the tiles of the first program, then those of
// the next, and so on. No tile waits for another. Refuses (static_assert) programs with different numbers of threads.
//
// The spec struct S has args; threads; signals; first, one of the programs; and each(p, what), which calls what(program, its arguments) for
// each program in order.
#pragma once
#include "templates/rows/rows.h"

template <class S> struct side_by_side : without_k_loop {
    using args = typename S::args;
    static constexpr int stages = 1;
    static constexpr bool signals = S::signals;
    struct tile {
        int index;
    };
    using scratch = typename S::first::scratch; // its size depends on the threads alone

    DEV static int tiles(const args &p)
    {
        int all = 0;
        S::each(p, [&](auto program, const auto &a) { all += decltype(program)::tiles(a); });
        return all;
    }
    DEV static tile at(const args &, int index) { return {index}; }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        int index = t.index; // the tile's index among the current program's tiles; negative: it belongs to an earlier program
        S::each(p, [&](auto program, const auto &a) {
            using P = decltype(program);
            static_assert(P::threads == S::threads, "tile: all phases of a launch have the same number of threads");
            static_assert(sizeof(typename P::scratch) == sizeof(scratch), "each phase has the scratch of the whole");
            const int own = P::tiles(a);
            typename P::accumulators none;
            if (index >= 0 && index < own) P::finish(a, P::at(a, index), none, *reinterpret_cast<typename P::scratch *>(&s));
            index -= own;
        });
    }
};
