// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program for few rows in the sliced_k frame, a
// tensor-core GEMV, for any M, N, K from 1. Weights go from memory straight to registers, in the layout of a wave's matrix instruction, and
// each is read once for all rows of a tile. The waves of a workgroup take pieces along K in turn, and their sums are added up in shared
// memory in a fixed order. Refuses (static_assert) tiles that are not whole pieces.
//
// Beyond the common contract S has
// - ahead: pieces along K that a wave has in flight
// - resident: workgroups per multiprocessor
// - packed(p): the pieces of the packed weight
// - a_row(p, batch, row): rows of A, at multiples of 16 bytes, a_stride elements apart
// - width: columns that the epilogue gets at a time, 2 or 4
// - columns() in place of epilogue(), for one half of a block, if tile_n is no multiple of 32
#pragma once
#include "templates/frame/frame_sliced_k.h"
#include "templates/frame/next.h"
#include "templates/gemm/pieces.h"
#include "templates/gemm/row_stride.h"

template <class S> struct gemm_register_fed {
    using args = typename S::args;
    using in_list = sliced_k_in_list;
    using a_type = typename S::a_type;
    using b_type = typename S::b_type;
    using weights = piece_of_weights<b_type>;
    using operand = piece_of_rows<a_type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, threads = S::threads, ahead = S::ahead, resident = S::resident;
    static constexpr int waves = threads / TF_WAVE, across = tile_n / piece_results::columns, down = tile_m / piece_results::rows;
    static constexpr int length = pieces<b_type>::length, along = S::packed_k / length; // elements of a piece along k; pieces along K
    static constexpr int iterations = ceil_div(along, waves *ahead);
    static constexpr int rows_ahead = ahead % 4 == 0 ? 4 : ahead; // pieces of A in flight: they come from L2, so fewer suffice
    static constexpr int column_tiles = ceil_div(S::packed_n, tile_n);
    static constexpr bool whole_columns = S::packed_n % tile_n == 0;
    static_assert(one_type<a_type, b_type>, "both operands of a matrix instruction have one type");
    static_assert(S::packed_k % length == 0 && S::packed_n % piece_results::columns == 0, "the packed weight consists of whole pieces");
    static_assert(threads % TF_WAVE == 0 && tile_n % piece_results::columns == 0 && tile_m % piece_results::rows == 0,
                  "tile: m and n are multiples of a piece, threads of a wave");
    static_assert(S::granule == piece_results::columns && (S::width == 2 || S::width == 4),
                  "tile: granule is a piece's columns, width 2 or 4");

    struct tile {
        int row, column; // of the tile's first element
    };
    struct accumulators {
        weights w[ahead][across];
    };
    using square_sums = piece_squares<a_type, iterations * ahead>;
    struct results {
        piece_results of[across][down];
        square_sums squares[S::input_sums ? down : 1]; // sums of squares of each block of rows, over this wave's share of K
        typename S::context context; // for the row of the first item that the thread stores
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles; }
    // Tiles of the same columns are adjacent, so that they find weights in the cache.
    DEV static tile at(const args &p, int index)
    {
        const int rows = row_tiles(p);
        return {index % rows * tile_m, index / rows * tile_n};
    }

    static constexpr bool once = iterations == 1 && along % waves == 0; // each wave has its whole share in flight

    // ---- piece u of a wave's iteration: its number along K, and whether it exists
    DEV static int piece_at(int iteration, int u) { return (iteration * ahead + u) * waves + wave_index(); }
    DEV static bool exists(int iteration, int u)
    {
        if (along % (waves * ahead) == 0) return iteration < iterations;
        if (once) return iteration == 0 && u < along / waves; // does not depend on the wave
        return piece_at(iteration, u) < along;
    }
    DEV static void load_weights(const args &p, const tile &t, accumulators &c, int iteration, int u)
    {
        const long long first = t.column / piece_results::columns * static_cast<long long>(along) + piece_at(iteration, u);
        const b_type *at = S::packed(p) + first * pieces<b_type>::elements;
#pragma unroll
        for (int g = 0; g < across; g++)
            if (whole_columns || t.column + g * piece_results::columns < S::packed_n)
                c.w[u][g].load(at + static_cast<long long>(g) * along * pieces<b_type>::elements);
    }
    DEV static void start(const args &p, const tile &t, accumulators &c)
    {
#pragma unroll
        for (int u = 0; u < ahead; u++)
            if (exists(0, u)) load_weights(p, t, c, 0, u);
    }

    DEV static void prefetch_next(const args &p) { next_weights<S>::prefetch(p, thread_index(), TF_WAVE); }

    struct rows_of_a {
        operand x[down];
        DEV void load(const args &p, const tile &t, int piece)
        {
            const int k = piece * length, left = S::K % length == 0 ? length : S::K - k;
            const a_type *at = S::a_row(p, 0, t.row) + k;
#pragma unroll
            for (int i = 0; i < down; i++)
                x[i].load(at, i * piece_results::rows, a_stride_of<S>(p), S::rows(p) - t.row, left);
        }
    };

    // Long sums are blocked sums (sums.h).
    static constexpr bool folds = is_long(static_cast<long long>(iterations) * ahead * length);
    static constexpr int folded_iterations =
        ceil_div(static_cast<int>(root_up(static_cast<long long>(iterations) * ahead * length, 2)), ahead *length);
    using sums = piece_results[across][down];
    DEV static void clear(sums &s)
    {
#pragma unroll
        for (int g = 0; g < across; g++)
#pragma unroll
            for (int i = 0; i < down; i++)
#pragma unroll
                for (int e = 0; e < piece_results::count; e++) s[g][i].sum[e] = 0;
    }
    // Adds s to total and clears s.
    DEV static void add(sums &total, sums &s)
    {
#pragma unroll
        for (int g = 0; g < across; g++)
#pragma unroll
            for (int i = 0; i < down; i++)
#pragma unroll
                for (int e = 0; e < piece_results::count; e++) total[g][i].sum[e] += s[g][i].sum[e];
        clear(s);
    }

    // Multiplies the pieces of an iteration. As soon as one is multiplied, its registers take the next load. loads(iteration, u) says
    // whether piece u of an iteration is to be loaded.
    template <class Loads>
    DEV static void take_iteration(const args &p, const tile &t, int iteration, accumulators &c, rows_of_a (&a)[rows_ahead], sums &part,
                                   results &r, Loads loads)
    {
#pragma unroll
        for (int u = 0; u < ahead; u++) {
            if (exists(iteration, u)) {
#pragma unroll
                for (int g = 0; g < across; g++)
#pragma unroll
                    for (int i = 0; i < down; i++) {
                        piece_results &sum = folds ? part[g][i] : r.of[g][i];
                        multiply(sum, c.w[u][g], a[u % rows_ahead].x[i]);
                        sum.settle();
                    }
                if constexpr (S::input_sums)
#pragma unroll
                    for (int i = 0; i < down; i++) r.squares[i].join(a[u % rows_ahead].x[i]);
            }
            const int v = (u + rows_ahead) % ahead, its_iteration = iteration + (u + rows_ahead) / ahead;
            if (loads(iteration + 1, u)) load_weights(p, t, c, iteration + 1, u);
            if (loads(its_iteration, v)) a[u % rows_ahead].load(p, t, piece_at(its_iteration, v));
        }
        if (folds && (iteration + 1) % folded_iterations == 0) add(r.of, part);
    }
    // True: the last iteration is peeled off the loop. If a loop may end while loads of rows are in flight, ptxas makes the code after it
    // wait for all loads: the next tile's first weights would have to arrive before this tile's sums are stored.
    //
    // A single iteration with fewer pieces than `ahead` is no loop either (H200, 1x17920x2560, tiles of 16 columns, where a wave has 5
    // pieces: 27.4 us in a loop with ahead = 8, 22.0 with ahead = 5). Of several iterations, a last one with fewer pieces stays in the
    // loop: peeled, it let a decode block of 3584 columns have 4 pieces in flight instead of 2, but with four rows that took 149 us instead
    // of 139.
    //
    // On AMD nothing is peeled: waits for loads count them there, so code after the loop need not wait for all; and clang kept variables
    // that the lambda captures in LDS, a byte per thread on gfx950.
#if defined(TF_TARGET_AMD)
    static constexpr bool last_apart = false;
#else
    static constexpr bool last_apart = once || along % (waves * ahead) == 0;
#endif

    DEV static results compute(const args &p, const tile &t, accumulators &c)
    {
        results r;
        sums part;
        rows_of_a a[rows_ahead];
#pragma unroll
        for (int u = 0; u < rows_ahead; u++)
            if (exists(0, u)) a[u].load(p, t, piece_at(0, u));
        const int first = t.row + item_row(thread_index());
        if (item_row(thread_index()) < tile_m && first < S::rows(p)) {
            r.context = S::begin(p, 0, first);
            load_early(p, t, thread_index(), r.context);
        }
        clear(r.of);
        if constexpr (folds) clear(part);
        if constexpr (last_apart) {
            const int last = opaque(iterations - 1);
#pragma unroll 1
            for (int iteration = 0; iteration < iterations - 1; iteration++) {
                const bool more = iteration < last;
                take_iteration(p, t, iteration, c, a, part, r, [=](int, int) { return more; });
            }
            take_iteration(p, t, iterations - 1, c, a, part, r, [](int its, int u) { return exists(its, u); });
        } else {
#pragma unroll 1
            for (int iteration = 0; iteration < iterations; iteration++)
                take_iteration(p, t, iteration, c, a, part, r, [](int its, int u) { return exists(its, u); });
        }
        if constexpr (folds) add(r.of, part);
        return r;
    }

    // ---- shared memory: the waves' sums, part[wave][row][column], then each item's share of the sum of its row. An item is what a thread
    // stores at a time: `width` columns of each half of a block or, if tile_n is no multiple of 32 (halves), of one half.
    static constexpr bool halves = tile_n % 32 != 0;
    using places = piece_places<tile_m, tile_n, halves>;
    static constexpr int per_row = tile_n / (halves ? 1 : 2) / S::width; // items of a row
    static constexpr int part_floats = waves * places::floats;
    static constexpr int squares_at = part_floats + (S::row_sums ? tile_m * tile_n / 2 : 0); // squares[wave][row]
    static constexpr int memory_bytes = 4 * (squares_at + (S::input_sums ? waves * tile_m : 0));
    DEV static int item_row(int item) { return item / per_row; }
    // The first packed column of an item, within the tile: one of `width` columns, or of as many in each half of a granule pair.
    DEV static int item_column(int item)
    {
        const int in = item % per_row * S::width;
        return halves ? in : in / 16 * 32 + in % 16;
    }
    // Loads what the epilogue of an item reads, if S says so. The item's row exists.
    DEV static void load_early(const args &p, const tile &t, int item, typename S::context &c)
    {
        const int column = t.column + item_column(item);
        if constexpr (S::loads_early)
            if (whole_columns || column < S::packed_n) S::template load_early<S::width>(p, c, 0, t.row + item_row(item), column);
    }

    DEV static void finish(const args &p, const tile &t, results &r, float *memory)
    {
#pragma unroll
        for (int g = 0; g < across; g++)
#pragma unroll
            for (int i = 0; i < down; i++)
                r.of[g][i].template put<places>(memory + wave_index() * places::floats, i * piece_results::rows,
                                                g * piece_results::columns);
        if constexpr (S::input_sums) {
#pragma unroll
            for (int i = 0; i < down; i++) r.squares[i].put(memory + squares_at + wave_index() * tile_m + i * piece_results::rows);
        }
        barrier();
        const int rows = S::rows(p) - t.row < tile_m ? S::rows(p) - t.row : tile_m;
        for (int i = thread_index(); i < places::count(rows); i += threads) add_waves(memory + places::nth(i), places::floats);
        if constexpr (S::input_sums)
            for (int row = thread_index(); row < rows; row += threads) add_waves(memory + squares_at + row, tile_m);
        barrier();
        store(p, t, r.context, thread_index(), rows, memory);
#pragma unroll 1
        for (int item = thread_index() + threads; item < rows * per_row; item += threads) {
            typename S::context c = S::begin(p, 0, t.row + item_row(item));
            load_early(p, t, item, c);
            store(p, t, c, item, rows, memory);
        }
        if constexpr (S::row_sums) {
            barrier();
            for (int in = thread_index(); in < rows; in += threads) {
                float sum = 0;
                for (int i = 0; i < per_row; i++) sum += memory[part_floats + in * per_row + i];
                S::finish_row(p, 0, t.row + in, t.column / tile_n, sum);
            }
        }
    }
    // Adds up the numbers of all waves, which lie `step` apart, in place of the first wave's.
    DEV static void add_waves(float *number, int step)
    {
        float all = *number;
#pragma unroll
        for (int w = 1; w < waves; w++) all += number[w * step];
        *number = all;
    }
    DEV static vec<float, S::width> summed(float *memory, int row, int column)
    {
        return load_aligned<S::width>(memory + places::at(row, column));
    }
    DEV static void store(const args &p, const tile &t, typename S::context context, int item, int rows, float *memory)
    {
        const int row = item_row(item);
        if (row >= rows) return;
        const int column = item_column(item);
        if constexpr (S::input_sums) S::summed(p, context, 0, t.row + row, memory[squares_at + row]);
        float sum = 0;
        to_memory out;
        if constexpr (halves) {
            if (whole_columns || t.column + column < S::packed_n)
                S::template columns<S::width>(p, context, 0, t.row + row, t.column + column, summed(memory, row, column), sum, out);
        } else if (whole_columns || t.column + column < S::packed_n) {
            S::template epilogue<S::width>(p, context, 0, t.row + row, t.column + column, summed(memory, row, column),
                                           summed(memory, row, column + 16), sum, out);
        }
        if constexpr (S::row_sums) memory[part_floats + item] = sum;
    }
};
