// The program of a rows phase, made from its spec struct S (docs/spec-structs.md: rows). A team of threads computes a row, and a workgroup
// several rows: S::passes reductions in order, then one write. The row stays in registers if it fits; otherwise each pass reads it again.
// The order of summation depends on N and the tile alone. Refuses (static_assert) teams that do not divide the workgroup.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/base/spec.h"

template <reduction Kind> struct joining : take_sum {
};
template <> struct joining<reduction::max> : take_max {
};
template <> struct joining<reduction::min> : take_min {
};

// bf16 numbers that a thread keeps from pass to pass, two per register. to_pairs() may get only numbers that bf16 holds exactly. So it just
// moves bits, and compilers can keep loaded numbers as they are.
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

// A barrier for the compiler, to which x is computed here: nothing that depends on x moves before earlier stores. So chunks are processed
// one after another. If the compiler interleaved them, the predicates of all their elements would exceed AMD's scalar registers.
template <class X> DEV X begin_chunk(const X &x)
{
#if defined(__clang__) && !defined(TF_ON_HOST)
    if constexpr (sizeof(X) % 4 == 0) { // not for an empty struct
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

// Unrolls the loop over a thread's chunks. clang obeys a plain unroll pragma only up to a size, beyond which the chunks would be an array
// in memory.
#if defined(__clang__)
#define WHOLLY_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define WHOLLY_UNROLLED _Pragma("unroll")
#endif

template <class S> struct rows : without_k_loop {
    using args = typename S::args;
    using context = typename S::context;
    using in_list = mixed_in_list;
#if defined(TF_SIGNAL_FIRST)
    static constexpr bool signals = false;
#else
    static constexpr bool signals = S::passes > 0; // the program calls next_may_start(), not its frame
#endif
    static constexpr int V = S::V, team = S::team, threads = S::threads, rows_at_once = threads / team, stages = 1;
    static_assert(threads % team == 0, "tile: team divides threads");
    static constexpr int chunks = ceil_div(ceil_div(S::N, V), team);
    // How many floats a thread may keep of the 256, 128 or 64 registers that it has in a workgroup of this size. Each chunk needs V more
    // floats as temporaries, which compilers may also keep from pass to pass.
    static constexpr int most_kept = S::threads <= 256 ? 192 : S::threads <= 512 ? 128 : 48;
    static constexpr bool kept =
        chunks == 1 || (TF_WAVE > 1 && chunks * (sizeof(typename S::template element<V>) + 4 * V) <= 4u * most_kept);

    static constexpr int at_once = V < 8 ? 8 / V : 1; // chunks processed at a time if the row is not kept: eight columns

    struct tile {
        int row;
    };
    struct scratch {
        float waves[S::threads / TF_WAVE + 1];
    };

    DEV static int tiles(const args &p) { return ceil_div(S::rows(p), rows_at_once); }
    DEV static tile at(const args &, int index) { return {index * rows_at_once + thread_index() / team}; }

    DEV static int column(int chunk) { return (chunk * team + thread_index() % team) * V; }
    // Whether the thread's columns of a chunk exist. A chunk that all threads have whole needs no predicate.
    DEV static bool there(int chunk) { return (chunk + 1) * team * V <= S::N || column(chunk) < S::N; }

    // V independent sums, so that additions do not wait for each other. With many chunks they are blocked sums (base/sums.h).
    template <int I, class Take> struct joined {
        static constexpr int levels = S::kind(pass<I>()) == reduction::sum ? sum_levels(chunks, 64) : 1;
        using type = running<Take, V, levels, static_cast<int>(root_up(chunks, levels))>;
    };
    template <int I, class All>
    DEV static void term(const args &p, const context &c, const typename S::template element<V> &e, int row, int col, All &all)
    {
        using take = joining<S::kind(pass<I>())>;
        vec<float, V> x = S::template term<V>(pass<I>(), p, c, e, row, col);
        if (S::N % V && col + V > S::N) {
#pragma unroll
            for (int i = 0; i < V; i++)
                if (col + i >= S::N) x[i] = take::identity();
        }
        all.join(x);
    }

    // Runs pass I and those after it. A thread whose row does not exist only takes part in the workgroup's barriers.
    template <int I, class Each> DEV static void reduce(const args &p, context &c, int row, bool exists, scratch &s, Each each)
    {
        if constexpr (I < S::passes) {
            using take = joining<S::kind(pass<I>())>;
            typename joined<I, take>::type all;
            if (exists) each([&](const typename S::template element<V> &e, int col) { term<I>(p, c, e, row, col, all); });
            const float total = team_join<take, team>(tree_join<take>(all.total()), s.waves);
            if constexpr (I == 0 && signals) next_may_start(); // the row is loaded: the next launch competes only with later passes
            if (exists) S::reduced(pass<I>(), p, c, row, total);
            reduce<I + 1>(p, c, row, exists, s, each);
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        context c{};
        const int row = t.row;
        const bool exists = row < S::rows(p);
        if (exists) S::begin(p, row, c);
        if constexpr (kept) {
#if defined(TF_PHASES) && !defined(__clang__) // without a value, ptxas keeps registers for e through all phases of all layers
            typename S::template element<V> e[chunks] = {};
#else
            typename S::template element<V> e[chunks];
#endif
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
#if defined(__clang__) // otherwise clang unrolls the loop and loads all chunks first, which exceeds the registers
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
        reduce<0>(p, c, row, exists, s, each);
        if (!exists) return;
        each([&](const typename S::template element<V> &e, int col) { S::template write<V>(p, c, e, row, col, S::N - col); });
        if (thread_index() % team == 0) S::write_row(p, c, row);
    }
};
