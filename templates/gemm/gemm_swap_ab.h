// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its swap-AB program in the warp-specialised frame: packed
// columns (weights) are the M of wgmma, rows of A (tokens) its N. N comes in steps of 8, so hardly any padding is multiplied. The
// workgroups of a cluster multicast loads to each other: those of adjacent columns the rows that they share (S::cluster), those of adjacent
// row tiles the columns that they share (S::cluster_m). If the workgroups of a cluster split K (S::split_k), their sums are added up
// through distributed shared memory in a fixed order, and each stores a share of the tile's rows. Refuses (static_assert) tiles other than
// 16 to 256 rows in steps of 8 by 64 to 256 columns in steps of 32, and k tiles other than 64, 128, 192 or 256.
//
// Beyond the common contract S has
// - a_form, b_form, b_early, batched, stages, width: as in gemm_ws.h
// - a_map(p), b_map(p): tensor maps as in gemm_ws.h, but with other boxes: of A box_rows rows; of B share_n x share_k pieces or, of an
//   activation in rows, 128 bytes x tile_n / cluster_m rows
// - row_stages: stages for rows of A; `stages` are for B
// - cluster: workgroups of adjacent columns that load rows together; in_turn: they take turns, each loading all rows of a k tile; else each
//   loads a share of every k tile
// - cluster_m: workgroups of adjacent row tiles that load columns together
// - split_k: slices of K, each for a workgroup of the cluster
// - resident: workgroups per multiprocessor
// - input_sums: the program sums the squares of A's rows while tensor cores multiply, and passes the sums to S::summed()
// - tail: stream-K parts of each tile of the last, incomplete round; 1: tiles are not split, and each workgroup has one
// - tail_tiles: the most tiles that are split; partial(p): the workspace through which their parts are added up
// - persistent: workgroups compute several tiles each, and load the next tile while they store one (frame_ws.h); only where the epilogue
//   rounds and results pass through shared memory
// - epilogue_smem: results pass through shared memory (results, results_unit: see staged.h)
// - rounds: the epilogue does nothing but round products to result_type
#pragma once
#include "templates/frame/frame_ws.h"
#include "templates/frame/next.h"
#include "templates/gemm/pieces.h"
#include "templates/gemm/staged.h"
#include "templates/isa/wgmma_steps.h"

template <class S> struct gemm_swap_ab {
    using args = typename S::args;
    using a_type = typename S::a_type;
    using b_type = typename S::b_type;
    using packing = pieces<b_type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, stages = S::stages, resident = S::resident;
    static constexpr bool overlaps = tile_m > 64; // products of a k tile are issued before those of the previous one have ended
    static constexpr bool many_rows = tile_m > 128; // a whole warpgroup loads, so that it can give registers to the consumers
    static constexpr int groups = (tile_n + 63) / 64, consumers = 128 * groups, producers = many_rows ? 128 : 32;
    static constexpr int threads = consumers + producers;
    // a cluster has, for each slice of K, `together` row tiles by `sharers` column tiles
    static constexpr int sharers = S::cluster, together = S::cluster_m, members = sharers * together, cluster = members * S::split_k;
    static constexpr bool a_across = S::a_form == in_columns, b_across = S::b_form == in_columns, loads_values = !S::b_early;
    static constexpr int panel_bytes = tile_k * 128; // a panel of an operand in columns: tile_k rows of 64 columns
    static constexpr int along_bytes = tile_n * packing::row_bytes, stage_bytes = tile_k / packing::length * along_bytes; // B in pieces
    // Weights in pieces: each of the `together` workgroups multicasts one share of a stage, which is cut along k first, then along n.
    static constexpr int pieces_of_k = tile_k / packing::length, shares_of_k = together < pieces_of_k ? together : pieces_of_k;
    static constexpr int share_k = pieces_of_k / shares_of_k, share_n = tile_n / 16 * shares_of_k / together;
    static constexpr int box_length = 128 / sizeof(a_type), boxes = tile_k / box_length; // of an operand in rows; both along k
    // A box of A has all rows of a k tile if the `sharers` take turns. Else each of them loads a box, all with the same number of groups of
    // 8 rows; the last box may reach into the next tile.
    static constexpr int boxes_along_m = S::in_turn ? 1 : sharers, box_rows = (tile_m / 8 + boxes_along_m - 1) / boxes_along_m * 8;
    static constexpr int a_panels = (tile_m + 63) / 64, box_bytes = box_rows * boxes_along_m * 128, b_box_bytes = tile_n * 128;
    static constexpr int late_stages = S::row_stages, late_bytes = a_across ? a_panels * panel_bytes : boxes * box_bytes;
    static constexpr bool persistent = S::persistent;
    // Results of a persistent workgroup: each warpgroup stages chunk_rows rows of its 64 columns at a time, in one of two buffers in turn.
    static constexpr int chunk_rows = 32, chunk_pitch = 64 * 2 + 16, chunk_bytes = chunk_rows * chunk_pitch;
    static constexpr int staging_bytes = persistent ? groups * 2 * chunk_bytes : 0;
    static constexpr int scratch_bytes = late_stages * late_bytes + staging_bytes;
    static constexpr int pitch = tile_n + 4; // floats of a row of sums, padded so that a warp's stores hit all banks
    static constexpr bool pingpong = false;
    // arrivals that free a stage: of a thread per warpgroup or, if they read rows for input_sums, of one per warp
    static constexpr int own_releases = S::input_sums ? consumers / 32 : groups, releases = own_releases * (sharers + together - 1);
    static constexpr bool meets_first = together > 1; // weights arrive in other workgroups' stages, too
    static constexpr bool adds_up = S::split_k > 1;
    static_assert(S::threads == threads, "tile: threads = 128 per 64 columns, plus a warp or a warpgroup that loads");
    static_assert(tile_m % 8 == 0 && tile_m <= 256, "tile: m is a multiple of 8, at most 256");
    static_assert(tile_m / 8 >= sharers && cluster <= 8,
                  "tile: each workgroup of a cluster loads at least 8 of the shared rows; a cluster has at most 8");
    static_assert(together <= 4, "tile: at most 4 workgroups share weights");
    static_assert(tile_n % 32 == 0 && tile_n >= 64 && tile_n <= 256, "tile: n is 64 to 256, in steps of 32");
    static_assert(!b_across || tile_n % 64 == 0, "tile: n is a multiple of 64 for B as [K, N]");
    static_assert(!a_across || !S::input_sums, "sums of squares need A as [M, K]");
    static_assert(tile_k % 64 == 0 && tile_k <= 256 && sizeof(a_type) == 2, "tile: k is 64, 128, 192 or 256; its elements have 16 bits");
    static_assert(persistent || stages * stage_bytes + scratch_bytes >= tile_m * pitch * 4,
                  "tile: the stages have room for the tile's partial sums");
    static_assert(!persistent || (S::epilogue_smem && S::rounds && S::split_k == 1 && S::tail == 1 && tile_n % 64 == 0),
                  "tile: persistent workgroups need an epilogue that rounds through shared memory, whole tiles, and n a multiple of 64");
    static_assert(one_type<a_type, b_type>, "both operands of a matrix instruction have one type");
    static_assert(S::granule == 16 && (S::width == 2 || S::width == 4), "tile: granule is 16, width 2 or 4");

    // The rows of a tile are the N of one wgmma. If its results would exceed the registers that a thread is launched with (ptxas gives the
    // mainloop no more), two wgmmas take about half of the rows each.
    static constexpr int at_launch = 512 / (resident * ((threads + 127) / 128)) / 8 * 8, beside_results = 26;
    static constexpr bool halves = many_rows && tile_m / 2 + beside_results > at_launch;
    static constexpr int half_rows = a_across ? 128 : (tile_m / 2 + 7) / 8 * 8;
    static constexpr int low_rows = halves ? half_rows : tile_m, high_rows = halves ? tile_m - low_rows : 16;
    using low_product = wgmma<a_type, low_rows>;
    using high_product = wgmma<a_type, high_rows>;
    struct tile {
        int row, column, part; // row, column: counted in tiles; the last ones of a cluster may not exist
        int cut;               // the tile's number among those that are split; -1: it is not split
        int batch;
    };
    struct row_state { // of a row whose results the thread stores
        int row;
        bool exists;
        typename S::context context;
    };
    struct accumulators {
        float low[low_product::registers], high[high_product::registers]; // high: of the second wgmma, if there are two
        row_state first;
    };

    static constexpr int column_tiles = (S::packed_n + tile_n - 1) / tile_n;
    static constexpr int all_k_tiles = (S::K + tile_k - 1) / tile_k;
    static_assert(S::split_k >= 1 && S::split_k <= all_k_tiles && S::split_k <= 8, "tile: each slice of split_k has at least one k tile");
    // Counted in clusters of `together` row tiles; the last tile of a cluster may not exist.
    DEV static int row_tiles(const args &p) { return (S::rows(p) + tile_m * together - 1) / (tile_m * together); }
    // Stream-K: first come whole tiles, the same number for each workgroup. If the remaining tiles would leave workgroups idle, they are
    // split along K, one part per workgroup, and run as the last round.
    static constexpr bool streams = S::tail > 1;
    static_assert(!streams || (S::split_k == 1 && S::tail <= all_k_tiles),
                  "tile: a tail needs split_k = 1, and at least one k tile for each of its slices");
    DEV static int matrix_tiles(const args &p) { return row_tiles(p) * ((column_tiles + sharers - 1) / sharers); } // counted in clusters
    DEV static int all_tiles(const args &p)
    {
        if constexpr (S::batched)
            return S::batches(p) * matrix_tiles(p);
        else
            return matrix_tiles(p);
    }
    DEV static int tail_tiles(const args &p)
    {
        const int clusters = block_total() / members, left = all_tiles(p) % clusters;
        return left <= S::tail_tiles && left * S::tail <= clusters ? left : 0;
    }
    DEV static int tiles(const args &p) { return (all_tiles(p) + (streams ? tail_tiles(p) * (S::tail - 1) : 0)) * cluster; }
    DEV static int parts_of(const tile &t) { return !streams ? S::split_k : t.cut >= 0 ? S::tail : 1; }
    DEV static int first_k_tile(const tile &t, int part) { return part * all_k_tiles / parts_of(t); }
    DEV static int k_tiles(const args &, const tile &t) { return first_k_tile(t, t.part + 1) - first_k_tile(t, t.part); }
    DEV static int column_of(const tile &t, int k_tile) { return (first_k_tile(t, t.part) + k_tile) * tile_k; }
    DEV static unsigned bytes(const args &) { return stage_bytes + late_bytes; }

    // Grid order: the workgroups of a cluster are adjacent, then row tiles of the same columns, which find weights in L2. Persistent
    // workgroups walk along the shorter side of the result, so that both operands are still in L2 when they are read again. Tiles of the
    // tail are ordered by part, so that adjacent workgroups walk the same range of K.
    DEV static tile at(const args &p, int item)
    {
        const int rows = row_tiles(p), member = item % cluster;
        int whole = item / cluster, part = member / members, cut = -1;
        if constexpr (streams) {
            const int tail = tail_tiles(p), first = all_tiles(p) - tail, in = whole - first;
            if (in >= 0) part = in / tail, cut = in % tail, whole = first + cut;
        }
        const int batch = S::batched ? whole / matrix_tiles(p) : 0;
        if constexpr (S::batched) whole -= batch * matrix_tiles(p);
        const int row = member % members / sharers, column = member % sharers;
        constexpr int columns = (column_tiles + sharers - 1) / sharers;
        if (persistent && columns < rows) return {whole / columns * together + row, whole % columns * sharers + column, part, cut, batch};
        return {whole % rows * together + row, whole / rows * sharers + column, part, cut, batch};
    }

    DEV static void load(early, const args &p, const tile &t, int k_tile, stage m)
    {
        const int n = t.column * (tile_n / 16), k = column_of(t, k_tile) / packing::length;
        if constexpr (S::b_early && together > 1) {
            const int at_k = row_in(t) % shares_of_k * share_k, at_n = row_in(t) / shares_of_k * share_n;
            piece_load_all<together, sharers>(m.memory + at_k * along_bytes + at_n * packing::bytes, S::b_map(p), m.full, n + at_n,
                                              k + at_k, first_below(t));
        } else if constexpr (S::b_early) {
            piece_load_once(m.memory, S::b_map(p), m.full, n, k);
        }
    }
    // Loads B of a matmul, which a previous launch may have written.
    DEV static void load_values(const args &p, const tile &t, int k_tile, stage m)
    {
        const int n = t.column * tile_n, k = column_of(t, k_tile);
        if constexpr (b_across) {
#pragma unroll
            for (int i = 0; i < tile_n / 64; i++)
                if (together == 1 || i % together == row_in(t))
                    box_load<together, sharers>(m.memory + i * panel_bytes, S::b_map(p), t, b_batch(p, t), n + i * 64, k, m, 0,
                                                first_below(t));
        } else {
#pragma unroll
            for (int i = 0; i < boxes; i++)
                box_load<together, sharers>(m.memory + i * b_box_bytes, S::b_map(p), t, b_batch(p, t), k + i * box_length, n, m,
                                            row_in(t) * (tile_n / together), first_below(t));
        }
    }
    DEV static void prepare(const args &p) { tensor_prefetch(S::a_map(p)); }
    DEV static void prefetch_next(const args &p) { next_weights<S>::prefetch(p, 0, 1); }
    DEV static void load(late, const args &p, const tile &t, int k_tile, stage m)
    {
        const int row = t.row * tile_m, k = column_of(t, k_tile);
        if constexpr (a_across) {
            for (int i = sharers == 1 ? 0 : cluster_rank() % sharers; i < a_panels; i += sharers)
                box_load<sharers>(m.memory + i * panel_bytes, S::a_map(p), t, a_batch(p, t), row + i * 64, k, m, 0, first_sharer(t));
        } else if (!S::in_turn || k_tile % sharers == own_rank() % sharers) {
            const int below = S::in_turn || sharers == 1 ? 0 : cluster_rank() % sharers * box_rows;
#pragma unroll
            for (int i = 0; i < boxes; i++)
                box_load<sharers>(m.memory + i * box_bytes, S::a_map(p), t, a_batch(p, t), k + i * box_length, row, m, below,
                                  first_sharer(t));
        }
    }
    // The number of the operand's matrix that the tile multiplies.
    DEV static int a_batch(const args &p, const tile &t)
    {
        if constexpr (S::batched)
            return S::a_batch(p, t.batch);
        else
            return 0;
    }
    DEV static int b_batch(const args &p, const tile &t)
    {
        if constexpr (S::batched)
            return S::b_batch(p, t.batch);
        else
            return 0;
    }
    // Loads a box of the operand's matrix `batch`. If there are several Members, which are ranks first, first + Stride, and so on of the
    // cluster, each loads the box that begins `below` rows after `row`, and multicasts it to all of them.
    template <int Members, int Stride = 1>
    DEV static void box_load(shared_address to, const tensor_map &map, const tile &t, int batch, int column, int row, stage m, int below,
                             int first)
    {
        if constexpr (S::batched && Members > 1)
            tensor_load_all<Members, Stride>(to, map, m.full, column, 0, row, batch, below, first);
        else if constexpr (S::batched)
            tensor_load(to, map, m.full, column, 0, row, batch);
        else if constexpr (Members > 1)
            tensor_load_all<Members, Stride>(to, map, m.full, column, row, below, first);
        else
            tensor_load(to, map, m.full, column, row);
    }

    // ---- products. Sums over more than `longest` k tiles are blocked sums (sums.h).
    static constexpr int longest = 32768 / tile_k, part_k_tiles = (all_k_tiles + S::split_k - 1) / S::split_k;
    static constexpr bool folds = part_k_tiles > longest;

    // First of a warpgroup's 64 columns. If tile_n % 64, the last warpgroup overlaps its neighbour by 32 columns.
    DEV static int first_column()
    {
        const int first = thread_index() / 128 * 64;
        return tile_n % 64 && first > tile_n - 64 ? tile_n - 64 : first;
    }

    // wgmma's descriptors of the first 16 elements along k of a stage. along(): bytes from there to the k-th 16 elements; box: bytes of a
    // box of 64 elements along k.
    static constexpr int high_bytes = a_across ? low_rows / 64 * panel_bytes : low_rows * 128;
    DEV static unsigned long long a_operand(shared_address at) { return a_across ? operand_across(at, panel_bytes) : operand(at); }
    DEV static unsigned long long b_operand(shared_address at)
    {
        if constexpr (S::b_form == in_pieces)
            return piece_operand(at + first_column() / 16 * 1024);
        else
            return b_across ? operand_across(at + first_column() / 64 * panel_bytes, panel_bytes) : operand(at + first_column() * 128);
    }
    template <operand_form Form> DEV static int along(int k, int box)
    {
        return Form == in_pieces ? k / 2 * along_bytes + k % 2 * 256 : Form == in_rows ? k / 4 * box + k % 4 * 32 : k * 2048;
    }

    // ---- sums of squares of A's rows. All consumers accumulate them from the stages. Eight adjacent threads take the 128 bytes of a row
    // in a box, and the same row in each k tile. They read in swizzled order, which does not matter for a sum. No chain has more than 256
    // terms.
    static constexpr int rows_at_once = consumers / 8, row_rounds = (tile_m + rows_at_once - 1) / rows_at_once;
    static constexpr int square_levels = sum_levels(all_k_tiles, 256);
    using square_sums = running<take_sum, row_rounds, square_levels, static_cast<int>(root_up(all_k_tiles, square_levels))>;
    DEV static int square_row(int round) { return round * rows_at_once + thread_index() / 8; }
    DEV static vec<float, row_rounds> squares_of_k_tile(shared_address rows)
    {
        vec<float, row_rounds> sums = splat<row_rounds>(0.0f);
#pragma unroll
        for (int round = 0; round < row_rounds; round++) {
            const int row = square_row(round) < tile_m ? square_row(round) : 0; // out-of-range rows are computed and dropped
#pragma unroll
            for (int i = 0; i < boxes; i++) {
                unsigned x[4];
                shared_read(rows + i * box_bytes + row * 128 + thread_index() % 8 * 16, x);
                sums[round] += squares_of<a_type>(x);
            }
        }
        return sums;
    }
    // The sum of squares of a row lies in the padding after its sums.
    static constexpr int squares_at = tile_n;
    DEV static void put(const square_sums &squares, shared_address sums)
    {
        const vec<float, row_rounds> all = squares.total();
#pragma unroll
        for (int round = 0; round < row_rounds; round++) {
            const float sum = wave_join<take_sum, 8>(all[round]);
            if (thread_index() % 8 == 0 && square_row(round) < tile_m)
                shared_write(sums + (square_row(round) * pitch + squares_at) * 4, sum);
        }
    }

    // Multiplies n k tiles. A tile of few rows waits for the products of each k tile and frees its stage at once, since memory is the
    // bottleneck. With more rows, products of a k tile are in flight while those of the next are issued.
    template <class Ring>
    DEV static void multiply(const tile &t, Ring &ring, shared_address rows, int &row_stage, accumulators &c, square_sums &squares, int n)
    {
        int s = 0, previous = 0;
        stage_products<a_type, low_rows> low;
        stage_products<a_type, high_rows> high;
        do {
            const stage m = ring.wait();
            const auto w = b_operand(m.memory), x = a_operand(rows + row_stage * late_bytes);
            pin_all(c);
            product_fence();
#pragma unroll
            for (int k = 0; k < tile_k / 16; k++) {
                const auto weights = operand_behind(w, along<S::b_form>(k, b_box_bytes));
                const auto here = operand_behind(x, along<S::a_form>(k, box_bytes));
                low.template multiply<b_across, a_across>(c.low, weights, here, k ? 1 : s);
                if constexpr (halves)
                    high.template multiply<b_across, a_across>(c.high, weights, operand_behind(here, high_bytes), k ? 1 : s);
            }
            low.commit();
            if constexpr (halves) high.commit_with_others();
            if constexpr (S::input_sums) squares.join(squares_of_k_tile(rows + row_stage * late_bytes));
            if constexpr (overlaps) pin_all(c);
            low.template wait<overlaps>(c.low);
            if constexpr (halves) high.template wait<overlaps>(c.high);
            if constexpr (!overlaps) pin_all(c);
            if constexpr (S::input_sums) warp_barrier(); // all lanes have read the rows
            release(t, ring, overlaps ? previous : ring.position, !overlaps || s > 0);
            previous = ring.position;
            ring.step();
            row_stage = row_stage + 1 == late_stages ? 0 : row_stage + 1;
        } while (++s < n);
        if constexpr (overlaps) {
            low.template wait<0>(c.low);
            if constexpr (halves) high.template wait<0>(c.high);
            pin_all(c);
            release(t, ring, previous, true);
        }
    }
    DEV static void pin_all(accumulators &c)
    {
        pin(c.low);
        if constexpr (halves) pin(c.high);
    }
    // Tells all workgroups that load into this stage that it is free.
    template <class Ring> DEV static void release(const tile &t, const Ring &ring, int position, bool yes)
    {
        const int in = thread_index() % (consumers / own_releases);
        if constexpr (members == 1) {
            barrier_arrive_if(ring.empty(position), yes && in == 0);
        } else {
            const int own = own_rank() - first_member(t);
            const bool shares = in / sharers == own / sharers || in % sharers == own % sharers;
            barrier_arrive_at(first_member(t) + in, ring.empty(position), yes && in < members && shares);
        }
    }
    // Ranks in the cluster. first_member: the first workgroup with the same slice of K as this one; first_sharer: the first with the same
    // slice and row tile; first_below: the first with the same slice and column tile. row_in: which of the cluster's row tiles this
    // workgroup has.
    DEV static int first_member(const tile &t) { return streams ? 0 : t.part * members; }
    DEV static int row_in(const tile &t) { return together == 1 ? 0 : (own_rank() - first_member(t)) / sharers; }
    DEV static int first_sharer(const tile &t) { return first_member(t) + row_in(t) * sharers; }
    DEV static int first_below(const tile &t) { return first_member(t) + (sharers == 1 ? 0 : own_rank() % sharers); }
    DEV static int own_rank() { return members == 1 ? 0 : cluster_rank(); }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, shared_address rows, accumulators &c)
    {
        int row_stage = persistent ? ring.position : 0;
        square_sums squares;
        if constexpr (!folds) {
            multiply(t, ring, rows, row_stage, c, squares, k_tiles(p, t));
        } else {
            accumulators total = {};
            for (int k_tile = 0; k_tile < k_tiles(p, t); k_tile += longest) {
                const int left = k_tiles(p, t) - k_tile;
                multiply(t, ring, rows, row_stage, c, squares, left < longest ? left : longest);
                add(c.low, total.low);
                if constexpr (halves) add(c.high, total.high);
            }
            copy(total.low, c.low);
            if constexpr (halves) copy(total.high, c.high);
        }
        if constexpr (persistent) return;
        group_barrier(1, consumers); // all consumers are done with the stages
        if constexpr (rounds_at_once) {
            put_results(c.low, ring.memory);
            if constexpr (halves) put_results(c.high, ring.memory + low_rows * result_pitch);
            return;
        }
        put_sums(c.low, ring.memory);
        if constexpr (halves) put_sums(c.high, ring.memory + low_rows * pitch * 4);
        if constexpr (S::input_sums) put(squares, ring.memory);
    }
    template <int N> DEV static void add(const float (&x)[N], float (&to)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++) to[i] += x[i];
    }
    template <int N> DEV static void copy(const float (&x)[N], float (&to)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++) to[i] = x[i];
    }
    template <int N> DEV static void put_sums(const float (&x)[N], shared_address sums)
    {
        const int thread = thread_index() % 128, group = thread_index() / 128;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int column = first_column() + fragment::row(thread, i);
            if (tile_n % 64 == 0 || column >= group * 64) // else another warpgroup stores them
                shared_write(sums + (fragment::column(thread, i) * pitch + column) * 4, x[i]);
        }
    }

    // ---- storing results. The workgroups of a cluster that split K share out the tile's rows. In a workgroup a team of threads takes one
    // row at a time, so that adjacent lanes store whole sectors.
    static constexpr int share = (tile_m + S::split_k - 1) / S::split_k, per_row = tile_n / 2 / S::width;
    static constexpr int team_of(int rows) // the largest power of two that is at most a warp and has work for each thread of a row
    {
        int team = 1;
        while (2 * team * rows <= consumers && 2 * team <= 32 && 2 * team <= per_row) team *= 2;
        return team;
    }
    static constexpr int most_at_a_time = S::epilogue_smem && share < consumers / 8 ? share : consumers / 8;
    static constexpr int team = team_of(many_rows || streams || S::epilogue_smem ? most_at_a_time : share);
    static constexpr int rows_at_a_time = consumers / team;

    DEV static row_state row_of(const args &p, const tile &t, int round)
    {
        const int in = round * rows_at_a_time + thread_index() / team, row = (streams ? 0 : t.part * share) + in;
        row_state r;
        r.row = t.row * tile_m + row;
        r.exists = in < share && row < tile_m && r.row < S::rows(p);
        if (r.exists) r.context = S::begin(p, t.batch, r.row);
        return r;
    }
    DEV static void start(const args &p, const tile &t, accumulators &c)
    {
        if constexpr (!rounds_at_once) c.first = row_of(p, t, 0);
    }

    // W sums of a row from column `at` on, added up over all slices or parts in order.
    template <int W> DEV static vec<float, W> summed(const args &p, const tile &t, int row, shared_address sums, int at)
    {
        const shared_address from = sums + (row * pitch + at) * 4;
        if constexpr (streams)
            if (t.cut >= 0) return summed_of_parts<W>(p, t, row, from, at);
        if constexpr (S::split_k == 1) {
            return shared_read<W>(from);
        } else {
            vec<float, W> each[S::split_k];
#pragma unroll
            for (int i = 0; i < S::split_k; i++) each[i] = cluster_read<W>(i * members + own_rank() % members, from);
#pragma unroll
            for (int i = 1; i < S::split_k; i++) each[0] += each[i];
            return each[0];
        }
    }

    // ---- stream-K: the workgroups of a tile's parts exchange sums through the workspace. All but the last write their sums there; the
    // last adds them up in the order of the parts, its own at the end. All workgroups are resident and take tiles in ascending order, so
    // there is no deadlock.
    static constexpr int words = tile_n / 4 + S::input_sums; // 16-byte words of a row
    using slices_of_parts = slices<tile_m * pitch>;
    DEV static slices_of_parts parts_in_memory(const args &p)
    {
        if constexpr (streams)
            return {S::partial(p)};
        else
            return {nullptr};
    }
    DEV static long long slice_of(const tile &t, int part) { return (t.cut * members + own_rank()) * (S::tail - 1) + part; }

    DEV static void give(const args &p, const tile &t, shared_address sums)
    {
        const slices_of_parts parts = parts_in_memory(p);
        float *out = parts.data(slice_of(t, t.part));
        const int left = S::rows(p) - t.row * tile_m, rows = left < tile_m ? left : tile_m;
#pragma unroll 4
        for (int i = thread_index(); i < rows * words; i += consumers) {
            const int at = i / words * pitch + i % words * 4;
            slice_word x = {};
            if (S::input_sums && i % words == words - 1)
                x.e[0] = shared_read<1>(sums + at * 4)[0];
            else
                shared_read(sums + at * 4, x.e[0], x.e[1], x.e[2], x.e[3]);
            slice_store(out + at, x);
        }
        slice_stored();
        group_barrier(1, consumers);
        if (thread_index() == 0) parts.publish(slice_of(t, t.part));
    }
    DEV static bool waits(const tile &t) { return thread_index() + 1 < S::tail; } // a thread for each part but the last
    DEV static void await_parts(const args &p, const tile &t)
    {
        if (waits(t)) parts_in_memory(p).await(slice_of(t, thread_index()));
        group_barrier(1, consumers);
    }
    DEV static void clear_parts(const args &p, const tile &t)
    {
        group_barrier(1, consumers);
        if (waits(t)) parts_in_memory(p).clear(slice_of(t, thread_index()));
    }
    template <int W> DEV static vec<float, W> summed_of_parts(const args &p, const tile &t, int row, shared_address own, int at)
    {
        const slices_of_parts parts = parts_in_memory(p);
        const int in = row * pitch + at;
        vec<float, W> sum = splat<W>(0.0f);
#pragma unroll
        for (int i = 0; i + 1 < S::tail; i++) {
            const slice_word x = slice_read(parts.data(slice_of(t, i)) + in / 4 * 4);
#pragma unroll
            for (int k = 0; k < W; k++) sum[k] += W == 2 && in % 4 ? x.e[k + 2] : x.e[k];
        }
        return sum + shared_read<W>(own);
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, shared_address sums)
    {
        if ((sharers > 1 && t.column >= column_tiles) || (together > 1 && t.row * tile_m >= S::rows(p))) return;
        if constexpr (persistent) {
            finish_chunks(p, t, c.low, 0, sums);
            if constexpr (halves) finish_chunks(p, t, c.high, low_rows, sums);
            return;
        }
        if constexpr (streams)
            if (t.cut >= 0) {
                if (t.part + 1 < S::tail) {
                    give(p, t, sums);
                    return;
                }
                await_parts(p, t);
            }
        if constexpr (rounds_at_once) {
            store_rows<result_pitch, tile_m, consumers>(p, t, sums, 0);
            return;
        }
        finish_rows(p, t, c.first, 0, sums);
        for (int round = 1; round * rows_at_a_time < share; round++) {
            row_state r = row_of(p, t, round);
            finish_rows(p, t, r, round, sums);
        }
        if constexpr (streams)
            if (t.cut >= 0) clear_parts(p, t);
    }
    // Items of a thread in a row. An item is `width` columns of the first half of a block and as many of the second.
    static constexpr int of_row = (per_row + team - 1) / team, at_once = of_row < 4 ? of_row : 4;
    struct columns {
        int low, n; // the item's first column, counted within the tile and among all packed columns
        bool exist;
    };
    DEV static columns columns_at(const tile &t, int item)
    {
        const int in = (item * team + thread_index() % team) * S::width, low = in / 16 * 32 + in % 16, n = t.column * tile_n + low;
        return {low, n, item < of_row && (per_row % team == 0 || in < tile_n / 2) && (S::packed_n % tile_n == 0 || n < S::packed_n)};
    }
    DEV static void finish_rows(const args &p, const tile &t, row_state &r, int round, shared_address sums)
    {
        if constexpr (S::epilogue_smem)
            finish_staged(p, t, r, round, sums);
        else
            finish_row(p, t, r, sums);
    }
    struct sums_at_once {
        vec<float, S::width> low[at_once], high[at_once];
    };
    DEV static void read_sums(const args &p, const tile &t, int row, shared_address sums, int first, sums_at_once &x)
    {
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            const columns at = columns_at(t, first + i);
            if (!at.exist) continue;
            x.low[i] = summed<S::width>(p, t, row, sums, at.low), x.high[i] = summed<S::width>(p, t, row, sums, at.low + 16);
        }
    }
    template <class Out>
    DEV static void finish_sums(const args &p, const tile &t, row_state &r, int first, const sums_at_once &x, float &sum, Out out)
    {
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            const columns at = columns_at(t, first + i);
            if (!at.exist) continue;
            if constexpr (S::epilogue_smem) out.at_column(at.low);
            S::template epilogue<S::width>(p, r.context, t.batch, r.row, at.n, x.low[i], x.high[i], sum, out);
        }
    }
    // Loads all sums before it uses the first.
    DEV static void finish_columns(const args &p, const tile &t, row_state &r, int row, shared_address sums, int first, float &sum)
    {
        sums_at_once x;
        read_sums(p, t, row, sums, first, x);
        finish_sums(p, t, r, first, x, sum, to_memory());
    }
    DEV static void finish_row(const args &p, const tile &t, row_state &r, shared_address sums)
    {
        float sum = 0;
        if (r.exists) {
            const int row = r.row - t.row * tile_m;
            if constexpr (S::input_sums) S::summed(p, r.context, t.batch, r.row, summed<1>(p, t, row, sums, squares_at)[0]);
            for (int i = 0; i < of_row; i += at_once) finish_columns(p, t, r, row, sums, i, sum);
        }
        join_sums(p, t, r, sum);
    }
    // All lanes of a warp call it together, including those without a row.
    DEV static void join_sums(const args &p, const tile &t, const row_state &r, float sum)
    {
        if constexpr (S::row_sums) {
            sum = wave_join<take_sum, team>(sum);
            if (r.exists && thread_index() % team == 0) S::finish_row(p, t.batch, r.row, t.column, sum);
        }
    }

    // ---- smem epilogue (gemm/staged.h): after all lanes of a team have read the sums of their row, results are written in their place.
    // Then the warp stores its rows one after the other.
    struct to_row {
        static constexpr bool first = true;
        shared_address row, to;
        DEV void at_column(int low) { to = row + (S::results == 2 ? low : low / 32 * 16 + low % 16) * 2; }
        template <int Half, int W, class T> DEV void put(T *, vec<float, W> v)
        {
            static_assert(W == 4, "tile: 4 results are 8 bytes");
            const unsigned x[2] = {packed(T(), v[0], v[1]), packed(T(), v[2], v[3])};
            shared_write(to + Half * 32, x);
        }
        template <int Half, int W, class T> DEV void put_some(T *at, int, vec<float, W> v) { put<Half, W>(at, v); }
    };
    static constexpr int rows_of_warp = 32 / team;
    static_assert(!S::epilogue_smem || of_row <= at_once, "tile: all sums of a row fit in registers, as results overwrite them");

    DEV static void finish_staged(const args &p, const tile &t, row_state &r, int round, shared_address sums)
    {
        const int row = r.row - t.row * tile_m;
        sums_at_once x;
        float sum = 0;
        if (r.exists) {
            if constexpr (S::input_sums) S::summed(p, r.context, t.batch, r.row, summed<1>(p, t, row, sums, squares_at)[0]);
            read_sums(p, t, row, sums, 0, x);
        }
        warp_barrier();
        if (r.exists) finish_sums(p, t, r, 0, x, sum, to_row{sums + row * pitch * 4, 0});
        join_sums(p, t, r, sum);
        warp_barrier();
        store_rows<pitch * 4, rows_of_warp, 32>(p, t, sums, round * rows_at_a_time + thread_index() / 32 * rows_of_warp);
    }
    // Stores Rows rows of the workgroup's share, from `first` on, by Threads threads. Pitch: bytes between rows in shared memory.
    static constexpr int row_pieces = tile_n * S::results / 2 / piece_columns;
    template <int Pitch, int Rows, int Threads> DEV static void store_rows(const args &p, const tile &t, shared_address results, int first)
    {
        constexpr int all = Rows * row_pieces, each = (all + Threads - 1) / Threads, in_flight = each < 4 ? each : 4;
#pragma unroll 1
        for (int i = 0; i < each; i += in_flight) store_some<Pitch, all, in_flight, Threads>(p, t, results, first, i);
    }
    template <int Pitch, int All, int Count, int Threads>
    DEV static void store_some(const args &p, const tile &t, shared_address results, int first, int from)
    {
        neighbours<unsigned, 4> raw[Count];
        int row[Count], item[Count];
#pragma unroll
        for (int i = 0; i < Count; i++) {
            item[i] = (from + i) * Threads + thread_index() % Threads;
            const int in = first + item[i] / row_pieces;
            row[i] = item[i] < All && in < share ? (streams ? 0 : t.part * share) + in : tile_m;
            if (row[i] < tile_m) shared_read(results + row[i] * Pitch + item[i] % row_pieces * 16, raw[i].e);
        }
#pragma unroll
        for (int i = 0; i < Count; i++) {
            const int column = item[i] % row_pieces * piece_columns, n = t.column * tile_n + column / (16 * S::results) * 32 + column % 16;
            const int global = t.row * tile_m + row[i];
            to_find out{S::results == 2 && column & 16, false, 0, nullptr};
            float none = 0;
            if (row[i] < tile_m && global < S::rows(p) && n < S::packed_n)
                S::template epilogue<1>(p, S::begin(p, t.batch, global), t.batch, global, n, splat<1>(0.0f), splat<1>(0.0f), none, out);
            store_piece<S::results_unit>(out, raw[i].e);
        }
    }

    // ---- a persistent workgroup: each warpgroup stores its own columns, by chunks of rows, while the stages receive the next tile.
    template <int N> DEV static void finish_chunks(const args &p, const tile &t, const float (&x)[N], int first, shared_address staging)
    {
        const int group = thread_index() / 128;
        group_barrier(4 + group, 128); // all threads of the warpgroup have read the chunks before
#pragma unroll
        for (int from = 0; from < 2 * N; from += chunk_rows) {
            const shared_address chunk = staging + (group * 2 + from / chunk_rows % 2) * chunk_bytes;
            const shared_address column = chunk + thread_index() % 128 / 32 * 32;
#pragma unroll
            for (int i = 0; i < chunk_rows && from + i < 2 * N; i += 16)
                put_rows(x, (from + i) / 2, column + i * chunk_pitch, chunk_pitch);
            group_barrier(4 + group, 128);
            store_chunk(p, t, first + from, 2 * N - from, chunk);
        }
    }
    // Stores up to `left` rows of a chunk whose first row is row `first` of the tile.
    DEV static void store_chunk(const args &p, const tile &t, int first, int left, shared_address chunk)
    {
        constexpr int each = chunk_rows * 8 / 128, rows_at_once = 128 / 8;
        const int thread = thread_index() % 128, column = first_column() + thread % 8 * piece_columns;
        const int n = t.column * tile_n + column / 32 * 32 + column % 16;
        neighbours<unsigned, 4> raw[each] = {};
#pragma unroll
        for (int i = 0; i < each; i++)
            if (thread / 8 + i * rows_at_once < left)
                shared_read(chunk + (thread / 8 + i * rows_at_once) * chunk_pitch + thread % 8 * 16, raw[i].e);
#pragma unroll
        for (int i = 0; i < each; i++) {
            const int in = thread / 8 + i * rows_at_once, row = t.row * tile_m + first + in;
            to_find out{(column & 16) != 0, false, 0, nullptr};
            float none = 0;
            if (in < left && row < S::rows(p) && n < S::packed_n)
                S::template epilogue<1>(p, S::begin(p, t.batch, row), t.batch, row, n, splat<1>(0.0f), splat<1>(0.0f), none, out);
            store_piece<S::results_unit>(out, raw[i].e);
        }
    }

    // ---- an epilogue that only rounds (S::rounds): products are rounded in registers, and go to shared memory as results.
    static constexpr bool rounds_at_once = S::epilogue_smem && S::rounds && S::split_k == 1 && !streams;
    static constexpr int result_pitch = tile_n * 2 + 16; // bytes of a row of results; 16 bytes of 8 rows are in different banks
    template <int N> DEV static void put_results(const float (&x)[N], shared_address results)
    {
        const int warp = thread_index() % 128 / 32 * 16, column = first_column() + warp;
        if (tile_n % 64 && column < thread_index() / 128 * 64) return; // another warpgroup stores these columns
#pragma unroll
        for (int i = 0; i < N; i += 8) put_rows(x, i, results + i * 2 * result_pitch + column * 2, result_pitch);
    }
    // Rounds products i to i + 7 of a thread, those of 16 rows, and writes them to rows of shared memory.
    template <int N> DEV static void put_rows(const float (&x)[N], int i, shared_address to, int bytes_of_row)
    {
        unsigned two[4] = {};
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + 2 * k < N) two[k] = packed(typename S::result_type(), x[i + 2 * k], x[i + 2 * k + 1]);
        if (N % 8 != 0 && i + 8 > N)
            fragment_store_across<true>(to, bytes_of_row, two);
        else
            fragment_store_across<false>(to, bytes_of_row, two);
    }
};
