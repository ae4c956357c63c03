// What both skinny programs share (gemm/gemm.h, gemm/gemm_skinny_across.h). In: one spec struct S of a product of few rows, and each wave's
// sums of a tile. Out: which tile and slice of K a work item has; the tile's results, added up over waves and slices and passed to the
// epilogue.
//
// Stride: elements along K that a workgroup covers in one iteration. Sharing: waves that have the same block of columns, and split K.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/gemm/k_few.h"

template <class S, int Stride, int Sharing> struct skinny_results {
    using args = typename S::args;
    using in_list = mixed_in_list;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, threads = S::threads, stages = 1, width = 2 * S::granule;
    static constexpr int waves = threads / TF_WAVE, blocks = tile_n / width, column_tiles = ceil_div(S::packed_n, tile_n);
    static_assert(threads % TF_WAVE == 0, "tile: threads is a multiple of a wave");
    static constexpr int units = blocks * (S::granule / S::width); // epilogue calls for a row, each by another thread
    static_assert(units * tile_m <= threads, "tile: at least one thread for each row and unit of columns");
    static constexpr int all_iterations = ceil_div(S::K, Stride), iterations = ceil_div(all_iterations, S::split_k);
    static_assert(S::split_k >= 1 && S::split_k <= all_iterations, "tile: each slice of split_k has at least one iteration of all lanes");

    struct tile {
        int batch, row, column;
        int part, index; // the split-K slice; the tile's number
    };
    struct unit_sums { // what a thread passes to the epilogue
        static constexpr int width = S::width, vectors = 2;
        vec<float, width> lo = splat<width>(0.0f), hi = lo;
        DEV vec<float, width> &vector(int i) { return i ? hi : lo; }
    };
    static constexpr int words = units * tile_m * S::width / 2; // all results of a tile, in words of 16 bytes
    static constexpr int teams = words * Sharing <= threads ? Sharing : words < threads ? threads / words : 1;
    using parts = k_few<S, unit_sums, units * tile_m, teams>;
    struct stage {
    };
    struct alignas(16) scratch {
        union {
            float part[blocks][Sharing][tile_m * width];
            typename parts::scratch slices; // after all threads have read `part`
        };
        float sums[units * tile_m];
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    DEV static int whole_tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    DEV static int tiles(const args &p) { return whole_tiles(p) * S::split_k; }
    // Tiles of the same columns are adjacent, so that they find B in the cache.
    DEV static tile at(const args &p, int item)
    {
        const int part = S::split_k == 1 ? 0 : item / whole_tiles(p), index = S::split_k == 1 ? item : item % whole_tiles(p);
        const int rows = row_tiles(p), in = index % (rows * column_tiles);
        return {index / (rows * column_tiles), in % rows * tile_m, in / rows * tile_n, part, index};
    }
    DEV static int k_tiles(const args &, const tile &) { return 0; }
    DEV static void load(const args &, const tile &, int, stage &) {}

    DEV static int first_k(const tile &, int part) // where slice `part` begins
    {
        if constexpr (S::split_k == 1) return part ? S::K : 0;
        const long long k = static_cast<long long>(parts::first(part, all_iterations)) * Stride;
        return k < S::K ? static_cast<int>(k) : S::K;
    }
    // Where a wave's sum of a row and column of a block lies. Sums that lanes write together (with thread_n = 4, eight columns of rows 1 or
    // 2 apart) are in different banks, and so are those that they read together (four adjacent columns of eight rows).
    DEV static int place(int row, int column)
    {
        return row * width + (column ^ ((row & 2) << 3 | ((row ^ row >> 2) & 1) << 3 | (row & 4)));
    }

    // All threads call it after each wave has written its sums to `part`.
    DEV static void finish_tile(const args &p, const tile &t, scratch &s)
    {
        barrier();
        constexpr int W = S::width, in_block = units / blocks;
        const int rows = S::rows(p), unit = thread_index() / tile_m, i = thread_index() % tile_m, row = t.row + i, block = unit / in_block,
                  in = unit % in_block * W, n = t.column + block * width + in;
        const bool exists = unit < units && row < rows;
        unit_sums u;
        if (exists) {
#pragma unroll
            for (int w = 0; w < Sharing; w++) {
                u.lo += load_aligned<W>(&s.part[block][w][place(i, in)]);
                u.hi += load_aligned<W>(&s.part[block][w][place(i, in + S::granule)]);
            }
        }
        if constexpr (S::split_k > 1) {
            barrier();
            if (!parts::meet(p, t.index, t.part, u, s.slices)) return;
        }
        if (exists) {
            float sum = 0;
            to_memory out;
            if (n < S::packed_n) S::template epilogue<W>(p, S::begin(p, t.batch, row), t.batch, row, n, u.lo, u.hi, sum, out);
            s.sums[thread_index()] = sum;
        }
        if constexpr (S::row_sums) {
            barrier();
            if (unit == 0 && row < rows) {
                float all = 0;
                for (int j = 0; j < units; j++) all += s.sums[j * tile_m + i];
                S::finish_row(p, t.batch, row, t.column / tile_n, all);
            }
        }
    }
};
