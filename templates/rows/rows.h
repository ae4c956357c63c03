// In: one spec struct S of a rows phase (docs/spec-structs.md: rows). Out: its program: a team of threads a row, several rows a
// workgroup; S::steps reductions in order, then one write. The row stays in registers where it fits, else it is read again for each
// step. Refuses (static_assert) teams that do not divide the workgroup. The order of summation depends on N and the tile alone.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/base/spec.h"

template <reduction Kind> struct joining : take_sum {
};
template <> struct joining<reduction::max> : take_max {
};
template <> struct joining<reduction::min> : take_min {
};

// bf16 numbers that a thread keeps from step to step: two a register. to_pairs() takes what bf16 holds exactly, so nothing is rounded here
// and compilers see that a load is kept as it came.
template <int N> struct bf16_pairs {
    unsigned e[N / 2];
};
template <int N> DEV bf16_pairs<N> to_pairs(vec<float, N> x)
{
    bf16_pairs<N> p;
#pragma unroll
    for (int i = 0; i < N; i += 2) p.e[i / 2] = float_bits(x[i]) >> 16 | (float_bits(x[i + 1]) & 0xffff0000u);
    return p;
}
template <int N> DEV vec<float, N> from_pairs(const bf16_pairs<N> &p)
{
    vec<float, N> x;
#pragma unroll
    for (int i = 0; i < N; i += 2) x[i] = bits_float(p.e[i / 2] << 16), x[i + 1] = bits_float(p.e[i / 2] & 0xffff0000u);
    return x;
}

// Chunks are worked on one after the other: side by side, the conditions of all their numbers are more than AMD's scalar registers hold.
// Nothing of x is computed before what stands before this is stored.
template <class X> DEV X begin_chunk(const X &x)
{
#if defined(__clang__) && !defined(TF_ON_HOST)
    if constexpr (sizeof(X) % 4 == 0) { // else it is empty
        struct words {
            unsigned e[sizeof(X) / 4];
        };
        words w = __builtin_bit_cast(words, x);
#pragma unroll
        for (unsigned i = 0; i < sizeof(X) / 4; i++) asm volatile("" : "+v"(w.e[i]) : : "memory");
        return __builtin_bit_cast(X, w);
    }
#endif
    return x;
}

// Of the chunks that a thread keeps: clang heeds the plain form up to a size only, beyond which they would be an array in memory.
#if defined(__clang__)
#define WHOLLY_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define WHOLLY_UNROLLED _Pragma("unroll")
#endif

template <class S> struct rows {
    using args = typename S::args;
    using context = typename S::context;
    using in_list = mixed_in_list;
#if defined(TF_SIGNAL_FIRST)
    static constexpr bool signals = false;
#else
    static constexpr bool signals = S::steps > 0; // calls next_may_start() itself
#endif
    static constexpr int V = S::V, team = S::team, threads = S::threads, rows_at_once = threads / team, stages = 1;
    static_assert(threads % team == 0, "tile: teams divide the workgroup");
    static constexpr int chunks = ceil_div(ceil_div(S::N, V), team);
    // What a thread may keep, in floats, of the 256, 128 or 64 registers that a thread of so large a workgroup has. Beside what is kept, V
    // floats of each chunk are worked on, and compilers may hold those from step to step.
    static constexpr int most_kept = S::threads <= 256 ? 192 : S::threads <= 512 ? 128 : 48;
    static constexpr bool kept =
        chunks == 1 || (TF_WAVE > 1 && chunks * (sizeof(typename S::template element<V>) + 4 * V) <= 4u * most_kept);

    static constexpr int at_once = V < 8 ? 8 / V : 1; // chunks of a row that is not kept: eight columns

    struct tile {
        int row;
    };
    struct accumulators {
    };
    struct stage {
    };
    struct scratch {
        float waves[S::threads / TF_WAVE + 1];
    };

    DEV static int tiles(const args &p) { return ceil_div(S::rows(p), rows_at_once); }
    DEV static tile at(const args &, int index) { return {index * rows_at_once + thread_index() / team}; }
    DEV static int k_tiles(const args &, const tile &) { return 0; }
    DEV static void load(const args &, const tile &, int, stage &) {}
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &, accumulators &) {}

    DEV static int column(int chunk) { return (chunk * team + thread_index() % team) * V; }
    // Whole chunks are so by their number alone: no mask is made for them, and none kept.
    DEV static bool there(int chunk) { return (chunk + 1) * team * V <= S::N || column(chunk) < S::N; }

    // V sums side by side: neighbours do not wait for each other. Of many chunks they are sums of sums.
    template <int I, class Take> struct joined {
        static constexpr int levels = S::kind(step<I>()) == reduction::sum ? sum_levels(chunks, 64) : 1;
        using type = running<Take, V, levels, static_cast<int>(root_up(chunks, levels))>;
    };
    template <int I, class All>
    DEV static void term(const args &p, const context &c, const typename S::template element<V> &e, int row, int col, All &all)
    {
        using take = joining<S::kind(step<I>())>;
        vec<float, V> x = S::template term<V>(step<I>(), p, c, e, row, col);
        if (S::N % V && col + V > S::N) {
#pragma unroll
            for (int i = 0; i < V; i++)
                if (col + i >= S::N) x[i] = take::identity();
        }
        all.join(x);
    }

    // Rows that do not exist take part in the barriers of their workgroup and touch no memory.
    template <int I, class Each> DEV static void steps(const args &p, context &c, int row, bool exists, scratch &s, Each each)
    {
        if constexpr (I < S::steps) {
            using take = joining<S::kind(step<I>())>;
            typename joined<I, take>::type all;
            if (exists) each([&](const typename S::template element<V> &e, int col) { term<I>(p, c, e, row, col, all); });
            const float total = team_join<take, team>(tree_join<take>(all.total()), s.waves);
            if constexpr (I == 0 && signals) next_may_start(); // the row is here: workgroups that start now only wait beside stores
            if (exists) S::reduced(step<I>(), p, c, row, total);
            steps<I + 1>(p, c, row, exists, s, each);
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        context c{};
        const int row = t.row;
        const bool exists = row < S::rows(p);
        if (exists) S::begin(p, row, c);
        if constexpr (kept) {
            typename S::template element<V> e[chunks];
            if (exists)
                WHOLLY_UNROLLED
                for (int i = 0; i < chunks; i++)
                    if (there(i)) e[i] = S::template read<V>(p, row, column(i), S::N - column(i));
            walk(p, c, row, exists, s, [&](auto what) {
                WHOLLY_UNROLLED
                for (int i = 0; i < chunks; i++)
                    if (there(i)) what(begin_chunk(e[i]), column(i));
            });
        } else {
            walk(p, c, row, exists, s, [&](auto what) {
#if defined(__clang__) // which else may make one stretch of all chunks and load all of them first, beyond what registers hold
#pragma unroll at_once
#endif
                for (int i = 0; i < chunks; i++)
                    if (there(i)) what(S::template read<V>(p, row, column(i), S::N - column(i)), column(i));
            });
        }
    }

  private:
    template <class Each> DEV static void walk(const args &p, context &c, int row, bool exists, scratch &s, Each each)
    {
        steps<0>(p, c, row, exists, s, each);
        if (!exists) return;
        each([&](const typename S::template element<V> &e, int col) { S::template write<V>(p, c, e, row, col, S::N - col); });
        if (thread_index() % team == 0) S::write_row(p, c, row);
    }
};
