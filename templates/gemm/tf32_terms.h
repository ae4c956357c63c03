// In: one spec struct S of a tf32_terms phase (docs/spec-structs.md: tf32_terms). Out: the program that writes the second operand of
// matmuls in f32 as gemm_ws_split.h reads it: a row for each column of the result, which has for every 32 places along K the large terms in
// TF32, then the small ones, with zeros beyond K. A thread makes 8 places of a row: lanes go along K where K lies along memory, else along
// the columns. Refuses nothing.
#pragma once
#include "templates/gemm/pack.h"

template <class S> struct tf32_terms {
    using args = typename S::args;
    using in_list = mixed_in_list;
    struct tile {
        long long first;
    };
    struct accumulators {
    };
    struct stage {
    };
    struct scratch {
    };
    static constexpr int threads = S::threads, stages = 1, V = 8, groups = (S::K + 31) / 32 * 4; // of V places, of a row
    static constexpr int per_tile = threads * S::each;
    static constexpr long long items = static_cast<long long>(S::N) * groups; // of a matrix

    DEV static int tiles(const args &p) { return static_cast<int>((S::batches(p) * items + per_tile - 1) / per_tile); }
    DEV static tile at(const args &, int index) { return {static_cast<long long>(index) * per_tile}; }
    DEV static int k_tiles(const args &, const tile &) { return 0; }
    DEV static void load(const args &, const tile &, int, stage &) {}
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &, accumulators &) {}
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &)
    {
        vec<float, V> x[S::each];
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const place w = where(t, j);
            if (w.batch < S::batches(p)) x[j] = S::template b<V>(p, w.batch, w.n, w.k, S::K - w.k);
        }
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const place w = where(t, j);
            if (w.batch < S::batches(p)) put(S::to(p, w.batch * S::N + w.n) + w.k / 32 * 64 + w.k % 32, x[j]);
        }
    }

  private:
    struct place {
        int batch, n, k;
    };
    DEV static place where(const tile &t, int j)
    {
        const long long i = t.first + thread_index() + j * threads;
        const int batch = static_cast<int>(i / items), in = static_cast<int>(i - batch * items);
        return S::across ? place{batch, in % S::N, in / S::N * V} : place{batch, in / groups, in % groups * V};
    }
    DEV static void put(float *to, const vec<float, V> &x)
    {
#pragma unroll
        for (int i = 0; i < V; i += 4) {
            vec<float, 4> large, small;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                large[k] = tf32_nearest(x[i + k]);
                small[k] = tf32_nearest(x[i + k] - large[k]);
            }
            store_aligned<4>(to + i, large);
            store_aligned<4>(to + 32 + i, small);
        }
    }
};
