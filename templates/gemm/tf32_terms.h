// In: one spec struct S of a tf32_terms phase (docs/spec-structs.md: tf32_terms). Out: the program that writes an operand of an f32 matmul
// as two TF32 numbers per element, as gemm_ws_split.h reads it. A row of the result is a column of B (or a row of A): for every 32 elements
// of K their large terms, then their small ones, zero-padded beyond K. If K is contiguous in memory, a thread has S::each runs of 8
// elements in flight; else a workgroup transposes 32 * S::each columns by 32 of K in shared memory.
#pragma once
#include "templates/gemm/pack.h"

template <class S, bool across = S::across> struct tf32_terms : without_k_loop {
    using args = typename S::args;
    using in_list = mixed_in_list;
    struct tile {
        long long first; // group of V elements, counted over all matrices
    };
    struct scratch {
    };
    static constexpr int threads = S::threads, stages = 1, V = 8, groups = (S::K + 31) / 32 * 4; // groups of V elements of a row
    static constexpr int per_tile = threads * S::each;
    static constexpr long long items = static_cast<long long>(S::N) * groups; // groups of a matrix

    DEV static int tiles(const args &p) { return static_cast<int>((S::batches(p) * items + per_tile - 1) / per_tile); }
    DEV static tile at(const args &, int index) { return {static_cast<long long>(index) * per_tile}; }
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
        return {batch, in / groups, in % groups * V};
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

template <class S> struct tf32_terms<S, true> : without_k_loop {
    using args = typename S::args;
    using in_list = mixed_in_list;
    static constexpr int threads = S::threads, stages = 1, columns = 32 * S::each, column_tiles = ceil_div(S::N, columns),
                         groups = ceil_div(S::K, 32);
    struct tile {
        int batch, n, k;
    };
    struct scratch {
        float x[32][columns + 1]; // padded, so that 8 threads that read 4 rows each have no bank conflicts
    };

    DEV static int tiles(const args &p) { return S::batches(p) * column_tiles * groups; }
    DEV static tile at(const args &, int index)
    {
        return {index / (column_tiles * groups), index % column_tiles * columns, index / column_tiles % groups * 32};
    }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        constexpr int loads = ceil_div(32 * columns, threads), stores = ceil_div(16 * columns, threads);
        float x[loads];
#pragma unroll
        for (int j = 0; j < loads; j++) {
            const int i = thread_index() + j * threads, k = t.k + i / columns;
            x[j] = i < 32 * columns ? S::template b<1>(p, t.batch, t.n + i % columns, k, S::K - k)[0] : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < loads; j++) {
            const int i = thread_index() + j * threads;
            if (i < 32 * columns) s.x[i / columns][i % columns] = x[j];
        }
        barrier();
#pragma unroll
        for (int j = 0; j < stores; j++) { // a row of 32 elements is 16 pieces of 4 terms: 8 of large terms, 8 of small ones
            const int i = thread_index() + j * threads, column = i / 16, piece = i % 16;
            if (column >= columns || t.n + column >= S::N) continue;
            vec<float, 4> terms;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float y = s.x[piece % 8 * 4 + k][column], large = tf32_nearest(y);
                terms[k] = piece < 8 ? large : tf32_nearest(y - large);
            }
            store_aligned<4>(S::to(p, t.batch * S::N + t.n + column) + t.k * 2 + piece * 4, terms);
        }
    }
};
