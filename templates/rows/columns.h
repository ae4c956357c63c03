// Reduces an axis that is not the last: the program of a columns phase, made from its spec struct S (docs/spec-structs.md: columns).
//
// A team of threads reads a row at a time, V neighbouring columns per thread. The axis has S::parts parts, one per workgroup; the teams of
// the workgroup divide its rows and add up their results. The workgroup with the last part then adds the results of all others. The order
// of additions depends on the sizes and the tile alone. Refuses (static_assert) workgroups that are not made of whole teams and waves.
#pragma once
#include "templates/base/spec.h"
#include "templates/base/sums.h"
#include "templates/frame/frame_mixed.h"
#include "templates/frame/workspace.h"

template <class S> struct column_reduction : without_k_loop {
    using args = typename S::args;
    using take = typename S::take;
    using in_list = mixed_in_list;
    static constexpr int V = S::V, lanes = S::lanes, threads = S::threads, teams = threads / lanes, stages = 1;
    static constexpr int width = lanes * V, column_tiles = ceil_div(S::N, width);
    static_assert(threads % lanes == 0 && threads % TF_WAVE == 0, "tile: threads is a multiple of lanes and of a wave");

    // `joined` teams of one wave add up by exchanging registers; the `groups` sums that are left are added in shared memory.
    static constexpr int joined = lanes < TF_WAVE ? TF_WAVE / lanes : 1, groups = teams / joined;
    // at_once: how many rows a thread loads before it adds the first. most_terms: how many terms a thread adds at most; they are added as
    // blocked sums (base/sums.h).
    static constexpr int at_once = threads <= 256 ? 8 : 4, most_terms = ceil_div(ceil_div(S::terms, S::parts), teams);
    static constexpr int levels = sum_levels(most_terms, 64);
    using sums = running<take, V, levels, static_cast<int>(root_up(most_terms, levels))>;

    // Workgroups exchange slices in words of four floats. `words` threads together read a slice; `readers` groups of so many threads divide
    // the slices among them.
    static constexpr int others = S::parts - 1, words = width / 4, all_readers = words ? threads / words : 0;
    static constexpr int readers = all_readers < groups ? all_readers : groups;
    static_assert(S::parts == 1 || (width % 4 == 0 && all_readers > 0), "tile: parts have whole words, at most one per thread");

    struct tile {
        int row, column, part, index; // row of the result; first column; part of the axis; index among the tiles of that part
    };
    struct scratch {
        __attribute__((aligned(16))) float sums[groups * width];
    };

    DEV static int part_tiles(const args &p) { return S::rows(p) * column_tiles; }
    DEV static int tiles(const args &p) { return part_tiles(p) * S::parts; }
    // Tiles are ordered by part. A tile waits only for tiles with lower indices, and workgroups start in this order, so there is no
    // deadlock.
    DEV static tile at(const args &p, int index)
    {
        const int all = part_tiles(p), in = S::parts == 1 ? index : index % all;
        return {in / column_tiles, in % column_tiles * width, S::parts == 1 ? 0 : index / all, in};
    }
    DEV static int first_term(int part) { return static_cast<int>(static_cast<long long>(part) * S::terms / S::parts); }

    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        const int column = t.column + thread_index() % lanes * V;
        vec<float, V> x = splat<V>(take::identity());
        if (column < S::N) x = add_rows(p, t, column);
        x = add_teams(x, s);
        if constexpr (S::parts > 1) {
            if (t.part < others) {
                give(p, t, x, s);
                return;
            }
            x = take_parts(p, t, x, s);
        }
        if (thread_index() < lanes && column < S::N) S::template write<V>(p, t.row, column, S::N - column, x);
    }

  private:
    DEV static vec<float, V> add_rows(const args &p, const tile &t, int column)
    {
        sums all;
        const int apart = S::apart(p), end = first_term(t.part + 1); // rows of the operand from one term to the next
        const int first = t.row / apart * S::terms * apart + t.row % apart;
        int i = first_term(t.part) + thread_index() / lanes;
        for (; i + (at_once - 1) * teams < end; i += at_once * teams) {
            vec<float, V> x[at_once];
#pragma unroll
            for (int k = 0; k < at_once; k++) x[k] = S::template term<V>(p, first + (i + k * teams) * apart, column, S::N - column);
#pragma unroll
            for (int k = 0; k < at_once; k++) all.join(x[k]);
        }
#pragma unroll 1
        for (; i < end; i += teams) all.join(S::template term<V>(p, first + i * apart, column, S::N - column));
        return all.total();
    }

    // Adds the sums of all teams. The first team gets the result.
    DEV static vec<float, V> add_teams(vec<float, V> x, scratch &s)
    {
#pragma unroll
        for (int mask = lanes; mask < TF_WAVE; mask *= 2) {
            vec<float, V> y;
#pragma unroll
            for (int e = 0; e < V; e++) y[e] = lane_xor<TF_WAVE>(x[e], mask);
            x = take::join(x, y);
        }
        if constexpr (groups > 1) {
            float *const own = s.sums + thread_index() % lanes * V;
            const int team = thread_index() / lanes;
            if (team % joined == 0) store_aligned<V>(own + team / joined * width, x);
            barrier();
            if (team == 0)
#pragma unroll
                for (int i = 1; i < groups; i++) x = take::join(x, load_aligned<V>(own + i * width));
        }
        return x;
    }

    DEV static long long slice(const tile &t, int part) { return static_cast<long long>(t.index) * others + part; }
    DEV static void give(const args &p, const tile &t, vec<float, V> x, scratch &s)
    {
        const slices<width> m = {S::partial(p)};
        const int word = thread_index() * 4;
        if (thread_index() < lanes) store_aligned<V>(s.sums + thread_index() * V, x); // only this thread has read these columns
        barrier();
        if (word < width) {
            const float *const from = s.sums + word;
            slice_store(m.data(slice(t, t.part)) + word, {{from[0], from[1], from[2], from[3]}});
            slice_stored();
        }
        barrier();
        if (thread_index() == 0) m.publish(slice(t, t.part));
    }
    // Adds the sums of the other parts to the first team's x: each group of readers adds up some of the parts, then their sums are added.
    DEV static vec<float, V> take_parts(const args &p, const tile &t, vec<float, V> x, scratch &s)
    {
        const slices<width> m = {S::partial(p)};
        const int word = thread_index() % words * 4, reader = thread_index() / words;
        for (int i = thread_index(); i < others; i += threads) m.await(slice(t, i));
        barrier();
        if (reader < readers) {
            vec<float, 4> all = splat<4>(take::identity());
#pragma unroll 4
            for (int i = reader; i < others; i += readers) {
                const slice_word y = slice_read(m.data(slice(t, i)) + word);
                vec<float, 4> four;
#pragma unroll
                for (int e = 0; e < 4; e++) four[e] = y.e[e];
                all = take::join(all, four);
            }
            store_aligned<4>(s.sums + reader * width + word, all);
        }
        barrier();
        for (int i = thread_index(); i < others; i += threads) m.clear(slice(t, i));
        if (thread_index() < lanes)
#pragma unroll
            for (int i = 0; i < readers; i++) x = take::join(x, load_aligned<V>(s.sums + i * width + thread_index() * V));
        return x;
    }
};
