// In: one spec struct S of a matmul of few rows whose B is [K, N]. Out: its skinny program (for other operands see gemm/gemm.h): each row
// tile reads B once, row by row, at the speed of memory. A wave has all rows of A and all columns of the tile: `side` lanes together read a
// row of B, thread_n adjacent columns each. The `chunks` groups of `side` lanes in a wave read different rows, and so do the waves. At the
// end the sums of lanes, then of waves, then of slices of K are added up in a fixed order.
#pragma once
#include "templates/base/sums.h"
#include "templates/gemm/skinny_results.h"

template <class S> struct across_lanes {
    static constexpr int columns = S::thread_n, side = S::tile_n / columns, chunks = TF_WAVE / side, waves = S::threads / TF_WAVE;
    static constexpr int deep = 8, stride = waves * chunks * deep; // deep: adjacent rows of B that a lane loads together
    static_assert(S::thread_m == S::tile_m && side * columns == S::tile_n && side * chunks == TF_WAVE,
                  "tile: thread_m = m, and the lanes of a wave cover all columns");
};
template <class S> struct gemm_skinny_across : skinny_results<S, across_lanes<S>::stride, across_lanes<S>::waves> {
    using lanes = across_lanes<S>;
    using results = skinny_results<S, lanes::stride, lanes::waves>;
    using typename results::args;
    using typename results::scratch;
    using typename results::tile;
    using results::first_k;
    using results::iterations;
    using results::tile_m;
    using results::width;
    static constexpr int columns = lanes::columns, side = lanes::side, chunks = lanes::chunks, deep = lanes::deep, each = tile_m * columns;
    static constexpr bool whole = S::K % deep == 0; // no load reaches beyond K

    // A lane adds 64 terms in order; longer sums are blocked sums (sums.h).
    static constexpr int in_chain = 64 / deep, chains = ceil_div(iterations, in_chain);
    static constexpr int levels = sum_levels(chains, 64, each <= 16 ? 3 : 2);
    struct accumulators {
        running<take_sum, each, levels, static_cast<int>(root_up(chains, levels))> sums;
    };

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &, accumulators &c)
    {
        const int lane = thread_index() % TF_WAVE, column = t.column + lane % side * columns, end = first_k(t, t.part + 1);
        int k = first_k(t, t.part) + (wave_of_thread() * chunks + lane / side) * deep;
        if (column >= S::packed_n) return;
#pragma unroll 1
        while (k < end) {
            vec<float, each> sums = splat<each>(0.0f);
#pragma unroll 1
            for (int i = 0; i < in_chain && k < end; i++, k += lanes::stride) multiply(p, t, sums, column, k);
            c.sums.join(sums);
        }
    }
    DEV static void multiply(const args &p, const tile &t, vec<float, each> &sums, int column, int k)
    {
        const int rows = S::rows(p);
        vec<float, columns> b[deep];
#pragma unroll
        for (int e = 0; e < deep; e++)
            b[e] = whole || k + e < S::K ? S::template b_row<columns>(p, t.batch, k + e, column) : splat<columns>(0.0f);
#pragma unroll
        for (int i = 0; i < tile_m; i++) {
            if (i > 0 && t.row + i >= rows) break;
            const vec<float, deep> a = S::template a<deep>(p, t.batch, t.row + i, k, S::K - k);
#pragma unroll
            for (int e = 0; e < deep; e++)
#pragma unroll
                for (int j = 0; j < columns; j++) sums[i * columns + j] = fused(a[e], b[e][j], sums[i * columns + j]);
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, scratch &s)
    {
        const vec<float, each> sums = c.sums.total();
        const int lane = thread_index() % TF_WAVE, first = lane % side * columns, block = first / width;
#pragma unroll
        for (int i = 0; i < each; i++) {
            float sum = sums[i];
#pragma unroll
            for (int mask = side; mask < TF_WAVE; mask *= 2) sum += lane_xor<TF_WAVE>(sum, mask);
            const int at = results::place(i / columns, first % width + i % columns);
            if (lane < side) s.part[block][wave_of_thread()][at] = sum;
        }
        results::finish_tile(p, t, s);
    }
};
