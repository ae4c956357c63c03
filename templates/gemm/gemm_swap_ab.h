// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program for few rows under the warp-specialised frame,
// one tile a workgroup: packed columns are the rows of wgmma's results and rows of A their columns, so that nothing is multiplied for rows
// that do not exist. A cluster of S::split_k workgroups cuts up a tile's length, adds up in each other's shared memory in a fixed order,
// and shares out the tile's rows. Refuses (static_assert) tiles other than 16 to 128 rows in steps of 16 by 64 to 256 columns in steps of
// 32, k tiles of 64, 128 or 256.
//
// Beyond the common contract S has: a_map(p), b_map(p), stages, width as in gemm_ws.h, a_map with boxes of tile_m rows, b_map with boxes of
// tile_n columns x tile_k; row_stages: stages for rows of A; split_k; resident: workgroups that share a multiprocessor; input_sums: sums of
// squares of A's rows are taken from the stages while tensor cores multiply, and handed to summed().
#pragma once
#include "templates/frame/frame_ws.h"
#include "templates/frame/next.h"
#include "templates/gemm/pieces.h"

template <class S> struct gemm_swap_ab {
    using args = typename S::args;
    using a_type = typename S::a_type;
    using b_type = typename S::b_type;
    using packing = pieces<b_type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, stages = S::stages, resident = S::resident;
    static constexpr int groups = (tile_n + 63) / 64, consumers = 128 * groups, threads = consumers + 32, cluster = S::split_k;
    static constexpr int along_bytes = tile_n * packing::row_bytes, stage_bytes = tile_k / packing::length * along_bytes; // B's pieces
    static constexpr int box_length = 128 / sizeof(a_type), boxes = tile_k / box_length, box_bytes = tile_m * 128; // of rows, along k
    static constexpr int late_stages = S::row_stages, late_bytes = boxes * box_bytes, scratch_bytes = late_stages * late_bytes;
    static constexpr int pitch = tile_n + 4; // floats of a row of sums: a warp's stores are in all banks
    static constexpr bool turns = false;
    static constexpr int releases = S::input_sums ? consumers / 32 : groups; // arrivals that free a stage: who reads rows says so, too
    static_assert(S::threads == threads, "tile: a warpgroup for 64 columns, and a warp that loads");
    static_assert(tile_m % 16 == 0 && tile_m <= 128, "tile: rows are columns of wgmma");
    static_assert(tile_n % 32 == 0 && tile_n >= 64 && tile_n <= 256, "tile: 32 columns are a block of the epilogue");
    static_assert(tile_k % 64 == 0 && tile_k <= 256 && sizeof(a_type) == 2, "tile: whole boxes of 128 bytes along k");
    static_assert(stages * stage_bytes + scratch_bytes >= tile_m * pitch * 4, "tile: sums fit where the stages are");
    static_assert(one_type<a_type, b_type>, "operands of a matrix instruction");
    static_assert(S::granule == 16 && (S::width == 2 || S::width == 4), "tile: a block has two halves");

    using product = wgmma<a_type, tile_m>;
    struct tile {
        int row, column, part; // row, column: in tiles
    };
    struct accumulators {
        float acc[product::registers];
        int row; // of A, whose results the thread stores
        bool exists;
        typename S::context context;
    };

    static constexpr int column_tiles = (S::packed_n + tile_n - 1) / tile_n;
    static constexpr int all_k_tiles = (S::K + tile_k - 1) / tile_k;
    static_assert(S::split_k >= 1 && S::split_k <= all_k_tiles && S::split_k <= 8, "tile: a part has a k tile");
    DEV static int row_tiles(const args &p) { return (S::rows(p) + tile_m - 1) / tile_m; }
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles * S::split_k; }
    DEV static int first_k_tile(int part) { return part * all_k_tiles / S::split_k; }
    DEV static int k_tiles(const args &, const tile &t) { return first_k_tile(t.part + 1) - first_k_tile(t.part); }
    DEV static int column_of(const tile &t, int k_tile) { return (first_k_tile(t.part) + k_tile) * tile_k; }
    DEV static unsigned bytes(const args &) { return stage_bytes + late_bytes; }

    // On the grid the parts of a tile lie side by side, then row tiles of the same columns, which are in L2 then.
    DEV static tile at(const args &p, int item)
    {
        const int whole = item / S::split_k, rows = row_tiles(p);
        return {whole % rows, whole / rows, item % S::split_k};
    }

    DEV static void load(early, const args &p, const tile &t, int k_tile, stage m)
    {
        piece_load_once(m.memory, S::b_map(p), m.full, t.column * (tile_n / 16), column_of(t, k_tile) / packing::length);
    }
    DEV static void prepare(const args &p) { tensor_prefetch(S::a_map(p)); }
    DEV static void prefetch_next(const args &p) { next_weights<S>::ask(p, 0, 1); }
    DEV static void load(late, const args &p, const tile &t, int k_tile, stage m)
    {
#pragma unroll
        for (int i = 0; i < boxes; i++)
            tensor_load(m.memory + i * box_bytes, S::a_map(p), m.full, column_of(t, k_tile) + i * box_length, t.row * tile_m);
    }

    // ---- products. Sums of more than `longest` k tiles are sums of sums (sums.h).
    static constexpr int longest = 32768 / tile_k, part_k_tiles = (all_k_tiles + S::split_k - 1) / S::split_k;
    static constexpr bool folds = part_k_tiles > longest;

    // Of 64 columns of a warpgroup. Where these are no whole number of warpgroups, the last one has some that another one has, too.
    DEV static int first_column()
    {
        const int first = thread_index() / 128 * 64;
        return tile_n % 64 && first > tile_n - 64 ? tile_n - 64 : first;
    }

    // ---- squares of rows, taken from a stage by all consumers: eight neighbours have a row's 128 bytes of a box, in whatever order they
    // lie, and the same rows of each k tile. No chain has more than 256 sums.
    static constexpr int rows_at_once = consumers / 8, row_turns = (tile_m + rows_at_once - 1) / rows_at_once;
    static constexpr int square_levels = sum_levels(all_k_tiles, 256);
    using square_sums = running<take_sum, row_turns, square_levels, static_cast<int>(root_up(all_k_tiles, square_levels))>;
    DEV static int square_row(int turn) { return turn * rows_at_once + thread_index() / 8; }
    DEV static float squares_of(const unsigned (&x)[4])
    {
        union {
            unsigned word[4];
            neighbours<a_type, 8> of;
        } raw = {{x[0], x[1], x[2], x[3]}};
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) sum = fused(to_float(raw.of.e[i]), to_float(raw.of.e[i]), sum);
        return sum;
    }
    DEV static vec<float, row_turns> squares_of_k_tile(shared_address rows)
    {
        vec<float, row_turns> sums = splat<row_turns>(0.0f);
#pragma unroll
        for (int turn = 0; turn < row_turns; turn++) {
            const int row = square_row(turn) < tile_m ? square_row(turn) : 0; // of what is too much nothing is kept
#pragma unroll
            for (int i = 0; i < boxes; i++) {
                unsigned x[4];
                shared_read(rows + i * box_bytes + row * 128 + thread_index() % 8 * 16, x);
                sums[turn] += squares_of(x);
            }
        }
        return sums;
    }
    // Behind a row's sums there is room.
    static constexpr int squares_at = tile_n;
    DEV static void put(const square_sums &squares, shared_address sums)
    {
        const vec<float, row_turns> all = squares.total();
#pragma unroll
        for (int turn = 0; turn < row_turns; turn++) {
            const float sum = wave_join<take_sum, 8>(all[turn]);
            if (thread_index() % 8 == 0 && square_row(turn) < tile_m)
                shared_write(sums + (square_row(turn) * pitch + squares_at) * 4, sum);
        }
    }

    // n k tiles; a stage is free as soon as its products are done: what is waited for is memory.
    template <class Ring>
    DEV static void multiply(Ring &ring, shared_address rows, int &row_stage, float (&acc)[product::registers], square_sums &squares, int n)
    {
        int s = 0;
        stage_products<a_type, tile_m> products;
        do {
            const stage m = ring.wait();
            const auto w = piece_operand(m.memory + first_column() / 16 * 1024), x = operand(rows + row_stage * late_bytes);
            pin(acc);
            product_fence();
#pragma unroll
            for (int k = 0; k < tile_k / 16; k++)
                products.multiply(acc, operand_behind(w, k / 2 * along_bytes + k % 2 * 256),
                                  operand_behind(x, k / 4 * box_bytes + k % 4 * 32), k ? 1 : s);
            products.commit();
            if constexpr (S::input_sums) squares.join(squares_of_k_tile(rows + row_stage * late_bytes));
            products.template wait<0>(acc);
            pin(acc);
            if constexpr (S::input_sums) warp_meet(); // all have read
            barrier_arrive_if(ring.empty(ring.position), thread_index() % (consumers / releases) == 0);
            ring.step();
            row_stage = row_stage + 1 == late_stages ? 0 : row_stage + 1;
        } while (++s < n);
    }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, shared_address rows, accumulators &c)
    {
        int row_stage = 0;
        square_sums squares;
        if constexpr (!folds) {
            multiply(ring, rows, row_stage, c.acc, squares, k_tiles(p, t));
        } else {
            float total[product::registers] = {};
            for (int k_tile = first_k_tile(t.part); k_tile < first_k_tile(t.part + 1); k_tile += longest) {
                const int left = first_k_tile(t.part + 1) - k_tile;
                multiply(ring, rows, row_stage, c.acc, squares, left < longest ? left : longest);
#pragma unroll
                for (int i = 0; i < product::registers; i++) total[i] += c.acc[i];
            }
#pragma unroll
            for (int i = 0; i < product::registers; i++) c.acc[i] = total[i];
        }
        group_barrier(1, consumers); // all are done with the stages
        const int thread = thread_index() % 128, group = thread_index() / 128;
#pragma unroll
        for (int i = 0; i < product::registers; i++) {
            const int column = first_column() + fragment::row(thread, i);
            if (tile_n % 64 == 0 || column >= group * 64) // else another warpgroup's
                shared_write(ring.memory + (fragment::column(thread, i) * pitch + column) * 4, c.acc[i]);
        }
        if constexpr (S::input_sums) put(squares, ring.memory);
    }

    // ---- a tile's rows are shared out among the members, and a member's among teams of threads
    static constexpr int share = (tile_m + S::split_k - 1) / S::split_k, per_row = tile_n / 2 / S::width;
    static constexpr int team_of(int rows) // the largest power of two: at most a warp, and what a row has work for
    {
        int team = 1;
        while (2 * team * rows <= consumers && 2 * team <= 32 && 2 * team <= per_row) team *= 2;
        return team;
    }
    static constexpr int team = team_of(share);

    DEV static void start(const args &p, const tile &t, accumulators &c)
    {
        const int in = thread_index() / team, row = t.part * share + in;
        c.row = t.row * tile_m + row;
        c.exists = in < share && row < tile_m && c.row < S::rows(p);
        if (c.exists) c.context = S::begin(p, 0, c.row);
    }

    template <int W> DEV static vec<float, W> summed(shared_address from) // in the order of the parts
    {
        vec<float, W> each[S::split_k];
#pragma unroll
        for (int i = 0; i < S::split_k; i++) each[i] = cluster_read<W>(i, from);
#pragma unroll
        for (int i = 1; i < S::split_k; i++) each[0] += each[i];
        return each[0];
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, shared_address sums)
    {
        if (!c.exists) return;
        const shared_address row = sums + (c.row - t.row * tile_m) * pitch * 4;
        if constexpr (S::input_sums) S::summed(p, c.context, 0, c.row, summed<1>(row + squares_at * 4)[0]);
        float sum = 0;
        to_memory out;
#pragma unroll
        for (int i = 0; i < (per_row + team - 1) / team; i++) {
            const int in = (i * team + thread_index() % team) * S::width, low = in / 16 * 32 + in % 16, n = t.column * tile_n + low;
            if ((per_row % team && in >= tile_n / 2) || (S::packed_n % tile_n && n >= S::packed_n)) break;
            S::template epilogue<S::width>(p, c.context, 0, c.row, n, summed<S::width>(row + low * 4),
                                           summed<S::width>(row + (low + 16) * 4), sum, out);
        }
        if constexpr (S::row_sums) {
            sum = wave_join<take_sum, team>(sum);
            if (thread_index() % team == 0) S::finish_row(p, 0, c.row, t.column, sum);
        }
    }
};
