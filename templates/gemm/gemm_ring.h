// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program for few rows in the ring frame, for any M, N, K
// from 1. One warp streams weights through the launch's ring of pages in shared memory, and each weight is read once for all rows of a
// tile. As in gemm_register_fed, the other warps take pieces along K in turn (sliced-K), and their sums are added up in shared memory in a
// fixed order. Refuses (static_assert) tiles that are not whole pieces.
//
// S is as for gemm_register_fed, but `ahead` is the number of pieces that each warp reads from a page.
#pragma once
#include "templates/frame/frame_ring.h"
#include "templates/gemm/gemm_register_fed.h"
#include "templates/isa/pieces_in_memory.h"

template <class S> struct gemm_ring : gemm_register_fed<S> {
    using base = gemm_register_fed<S>;
    using spec = S;
    using typename base::args;
    using typename base::b_type;
    using typename base::results;
    using typename base::sums;
    using typename base::tile;
    using in_list = ring_in_list;
    using weights = piece_in_memory<b_type>;
    using operand = piece_in_order<typename base::a_type>;
    static constexpr int across = base::across, down = base::down, waves = base::waves, along = base::along;
    static constexpr int ahead = base::ahead, iterations = base::iterations, piece_bytes = pieces<b_type>::bytes;
    static constexpr int each_page = waves * ahead; // pieces of a page: those of one iteration, of the same 16 columns
    // Rows of A are loaded rows_ahead iterations ahead, as an access to L2 takes longer than reading the pages of one iteration.
    static constexpr int most_pieces = 4, most_ahead = ahead * down < most_pieces ? most_pieces / (ahead * down) : 1;
    static constexpr int rows_ahead = iterations < most_ahead ? iterations : most_ahead;
    static constexpr bool keeps_rows = rows_ahead == iterations; // registers hold all of K, so tiles of the same rows load them once
    static_assert(each_page * piece_bytes == page_bytes, "ring: the pieces of an iteration are a page");

    DEV static bool has_columns(const tile &t, int g)
    {
        return base::whole_columns || t.column + g * piece_results::columns < S::packed_n;
    }
    // The producer warp copies a tile's pages, in the order in which compute() reads them: for each iteration, one page per 16 columns.
    template <class Writer> DEV static void feed(const args &p, const tile &t, Writer &ring)
    {
        const char *at = reinterpret_cast<const char *>(S::packed(p)) +
                         t.column / piece_results::columns * static_cast<long long>(along) * piece_bytes;
#pragma unroll 1
        for (int first = 0; first < along; first += each_page) {
            const int count = along - first < each_page ? along - first : each_page;
#pragma unroll 1
            for (int g = 0; g < across && has_columns(t, g); g++)
                ring.put(at + (static_cast<long long>(g) * along + first) * piece_bytes, count * piece_bytes);
        }
    }

    // Whether piece u of an iteration exists; known at compile time if K fills all iterations.
    DEV static bool has_piece(int iteration, int u) { return along % each_page == 0 || base::exists(iteration, u); }

    using rows = operand[ahead][down]; // rows of A for one iteration
    // Where the thread's elements of the warp's first piece of A lie, for each block of 8 rows.
    struct row_places {
        typename operand::place of[down];
    };
    DEV static row_places places_of(const args &p, const tile &t)
    {
        row_places to;
#pragma unroll
        for (int i = 0; i < down; i++)
            to.of[i] = operand::at(S::a_row(p, 0, t.row) + wave_index() * base::length, i * piece_results::rows, a_stride_of<S>(p),
                                   S::rows(p) - t.row);
        return to;
    }
    DEV static void load_rows(const row_places &from, rows &x, int iteration)
    {
#pragma unroll
        for (int u = 0; u < ahead; u++) {
            if (!has_piece(iteration, u)) continue;
            const int k = (iteration * ahead + u) * waves * base::length;
            const int left = S::K % base::length == 0 ? base::length : S::K - k - wave_index() * base::length;
#pragma unroll
            for (int i = 0; i < down; i++) x[u][i].load(from.of[i], k, left);
        }
    }
    // What a workgroup keeps from tile to tile.
    struct kept {
        rows x[rows_ahead];
        typename base::square_sums squares[S::input_sums ? down : 1];
        int row = -1, turn = 0; // the first row of x; tiles so far
    };
    DEV static void join_squares(kept &k, rows &x, int iteration)
    {
        if constexpr (S::input_sums)
#pragma unroll
            for (int u = 0; u < ahead; u++)
                if (has_piece(iteration, u))
#pragma unroll
                    for (int i = 0; i < down; i++) k.squares[i].join(x[u][i]);
    }
    DEV static void first_rows(const row_places &from, const tile &t, kept &k)
    {
        if (keeps_rows && t.row == k.row) return;
        k.row = t.row;
#pragma unroll
        for (int u = 0; u < rows_ahead; u++) load_rows(from, k.x[u], u);
        if constexpr (S::input_sums)
#pragma unroll
            for (int i = 0; i < down; i++) k.squares[i] = {};
        if constexpr (keeps_rows)
#pragma unroll
            for (int u = 0; u < rows_ahead; u++) join_squares(k, k.x[u], u);
    }
    template <class Reader> DEV static void take_iteration(const tile &t, int iteration, rows &x, sums &sum, Reader &ring)
    {
#pragma unroll
        for (int g = 0; g < across; g++) {
            if (!has_columns(t, g)) continue;
            weights w[ahead];
            const char *page = ring.wait();
#pragma unroll
            for (int u = 0; u < ahead; u++)
                if (has_piece(iteration, u)) w[u].load(page + (u * waves + wave_index()) * piece_bytes);
            unsigned read = 0;
#pragma unroll
            for (int u = 0; u < ahead; u++)
                if (has_piece(iteration, u)) {
#pragma unroll
                    for (int i = 0; i < down; i++) multiply(sum[g][i], w[u], x[u][i]);
                    read |= w[u].bits();
                }
            ring.release(read);
        }
    }

    // The first item of results that the thread stores. If a tile has fewer items than there are threads, only some warps store. Which ones
    // changes from tile to tile; the others go on to the next tile.
    DEV static int item_of(const kept &k) { return (thread_index() + k.turn * TF_WAVE) % base::threads; }
    template <class Reader> DEV static results compute(const args &p, const tile &t, Reader &ring, kept &k)
    {
        results r;
        sums part;
        const row_places from = places_of(p, t);
        first_rows(from, t, k);
        const int row = base::item_row(item_of(k));
        if (row < base::tile_m && t.row + row < S::rows(p)) {
            r.context = S::begin(p, 0, t.row + row);
            base::load_early(p, t, item_of(k), r.context);
        }
        base::clear(r.of);
        if constexpr (base::folds) base::clear(part);
#pragma unroll 1
        for (int at = 0; at < iterations; at += rows_ahead)
#pragma unroll
            for (int u = 0; u < rows_ahead; u++) {
                const int iteration = at + u;
                if (iterations % rows_ahead && iteration >= iterations) break;
                if constexpr (base::folds)
                    take_iteration(t, iteration, k.x[u], part, ring);
                else
                    take_iteration(t, iteration, k.x[u], r.of, ring);
                if constexpr (!keeps_rows) {
                    join_squares(k, k.x[u], iteration);
                    if (iteration + rows_ahead < iterations) load_rows(from, k.x[u], iteration + rows_ahead);
                }
                if (base::folds && (iteration + 1) % base::folded_iterations == 0) base::add(r.of, part);
            }
        if constexpr (base::folds) base::add(r.of, part);
        if constexpr (S::input_sums)
#pragma unroll
            for (int i = 0; i < down; i++) r.squares[i] = k.squares[i];
        return r;
    }

    // ---- sums over warps. Tiles alternate between two buffers, so that one barrier per tile suffices: when all warps have reached the
    // next tile's barrier, all have read this tile's sums.
    static constexpr int memory_floats = (base::memory_bytes + 15) / 16 * 4, memory_bytes = 2 * 4 * memory_floats;
    DEV static float of_warps(const float *number, int step)
    {
        float all = *number;
#pragma unroll
        for (int w = 1; w < waves; w++) all += number[w * step];
        return all;
    }
    DEV static vec<float, S::width> summed(float *memory, int row, int column)
    {
        vec<float, S::width> all = load_aligned<S::width>(memory + base::places::at(row, column));
#pragma unroll
        for (int w = 1; w < waves; w++) all += load_aligned<S::width>(memory + w * base::places::floats + base::places::at(row, column));
        return all;
    }
    DEV static void store(const args &p, const tile &t, typename S::context context, int item, float *memory)
    {
        const int row = base::item_row(item), column = base::item_column(item);
        if constexpr (S::input_sums) S::summed(p, context, 0, t.row + row, of_warps(memory + base::squares_at + row, base::tile_m));
        float sum = 0;
        to_memory out;
        if constexpr (base::halves) {
            if (base::whole_columns || t.column + column < S::packed_n)
                S::template columns<S::width>(p, context, 0, t.row + row, t.column + column, summed(memory, row, column), sum, out);
        } else if (base::whole_columns || t.column + column < S::packed_n) {
            S::template epilogue<S::width>(p, context, 0, t.row + row, t.column + column, summed(memory, row, column),
                                           summed(memory, row, column + 16), sum, out);
        }
        if constexpr (S::row_sums) memory[base::part_floats + item] = sum;
    }
    DEV static void finish(const args &p, const tile &t, results &r, float *memories, kept &k)
    {
        float *memory = memories + k.turn % 2 * memory_floats;
        const int item = item_of(k), rows = S::rows(p) - t.row < base::tile_m ? S::rows(p) - t.row : base::tile_m;
        k.turn++;
#pragma unroll
        for (int g = 0; g < across; g++)
#pragma unroll
            for (int i = 0; i < down; i++)
                r.of[g][i].template put<typename base::places>(memory + wave_index() * base::places::floats, i * piece_results::rows,
                                                               g * piece_results::columns);
        if constexpr (S::input_sums)
#pragma unroll
            for (int i = 0; i < down; i++)
                r.squares[i].put(memory + base::squares_at + wave_index() * base::tile_m + i * piece_results::rows);
        barrier();
        if (item < rows * base::per_row) store(p, t, r.context, item, memory);
        if constexpr (base::tile_m * base::per_row > base::threads)
#pragma unroll 1
            for (int more = item + base::threads; more < rows * base::per_row; more += base::threads) {
                typename S::context c = S::begin(p, 0, t.row + base::item_row(more));
                base::load_early(p, t, more, c);
                store(p, t, c, more, memory);
            }
        if constexpr (S::row_sums) {
            barrier();
            for (int in = item; in < rows; in += base::threads) {
                float sum = 0;
                for (int i = 0; i < base::per_row; i++) sum += memory[base::part_floats + in * base::per_row + i];
                S::finish_row(p, 0, t.row + in, t.column / base::tile_n, sum);
            }
        }
    }
};
