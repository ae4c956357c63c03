// In: one spec struct S of a bf16_terms phase (docs/spec-structs.md: bf16_terms). Out: the program that writes each element of f16 or f32
// rows as S::terms bf16 numbers that add up to it. A row of the result has the smallest terms of all K elements, zero-padded to a multiple
// of 64, then the next larger terms, and so on. A thread has S::each runs of 8 elements in flight.
#pragma once
#include "templates/gemm/pack.h"

template <class S> struct bf16_terms : without_k_loop {
    using args = typename S::args;
    using in_list = mixed_in_list;
    struct tile {
        long long first; // run of 8 elements, counted over all rows
    };
    struct scratch {
    };
    static constexpr int threads = S::threads, stages = 1, V = 8, length = S::stride / S::terms, runs = length / V;
    static constexpr int per_tile = threads * S::each;
    static_assert(length * S::terms == S::stride && length % 64 == 0 && length >= S::K,
                  "a term's row is a multiple of 64 elements, at least K");

    DEV static int tiles(const args &p)
    {
        return static_cast<int>((static_cast<long long>(S::rows(p)) * runs + per_tile - 1) / per_tile);
    }
    DEV static tile at(const args &, int index) { return {static_cast<long long>(index) * per_tile}; }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &)
    {
        vec<float, V> x[S::each];
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const place w = where(t, j);
            if (w.row >= S::rows(p)) continue;
            if constexpr (S::whole)
                x[j] = w.k < S::K ? load_aligned<V>(S::from(p, w.row) + w.k) : splat<V>(0.0f);
            else
                x[j] = ::load<V>(S::from(p, w.row) + w.k, S::K - w.k);
        }
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const place w = where(t, j);
            if (w.row < S::rows(p)) put(S::to(p, w.row) + w.k, x[j]);
        }
    }

  private:
    struct place {
        int row, k;
    };
    DEV static place where(const tile &t, int j)
    {
        const long long i = t.first + thread_index() + j * threads, row = i / runs;
        return {static_cast<int>(row), static_cast<int>(i - row * runs) * V};
    }
    DEV static void put(bf16 *to, vec<float, V> x)
    {
#pragma unroll
        for (int i = S::terms - 1; i >= 0; i--) {
            vec<float, V> term;
#pragma unroll
            for (int e = 0; e < V; e++) {
                float left = x[e];
                term[e] = take_bf16_term(left, i);
                x[e] = left;
            }
            store_aligned<V>(to + i * length, term);
        }
    }
};
