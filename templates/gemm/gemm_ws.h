// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program in the warp-specialised frame: one warpgroup
// loads both operands into stages of shared memory by TMA, two consumer warpgroups multiply 64 rows by tile_n columns each and run S's
// epilogue. Refuses (static_assert) tiles other than 128 rows by 64 to 256 columns in steps of 32. With own_tiles each consumer warpgroup
// has a tile of its own, of 64 or 128 rows.
//
// Beyond the common contract S has
// - a_form, b_form: how the operands lie in memory (gemm/pieces.h)
// - b_early: B is a weight, which no launch writes
// - batched: there are batches(p) products, of the operands' matrices a_batch(p, batch) and b_batch(p, batch). The tensor maps then have
//   rank 4 (column, head, row, batch), with one head
// - a_map(p), b_map(p): tensor maps with 128-byte swizzle. Boxes of A: in rows [M, K] 128 bytes x tile_m rows, in columns [K, M] 128 bytes
//   x tile_k rows. Boxes of B: in pieces tile_n columns x 128 bytes / cluster, in rows [N, K] 128 bytes x tile_n / cluster rows, in columns
//   [K, N] 128 bytes x tile_k rows
// - own_tiles: each consumer warpgroup computes tiles of its own, which split_k does not cut (frame_ws.h)
// - group_m: row tiles that share a column of B tiles while it is in L2
// - cluster: workgroups of consecutive row tiles that load B together (multicast)
// - split_k: slices of K, one per workgroup; partial(p): the workspace through which their sums are added up, by a tree (gemm/part_tree.h)
//   or, if `shares` and each workgroup has one item, a share by each workgroup (gemm/k_shares.h)
// - reads: the epilogue loads more than row scalars
// - width: columns of a row that the epilogue gets at a time, 2 or 4, unless epilogue_smem
// - epilogue_smem: results of 2 bytes, one output per segment, pass through shared memory; results, results_unit: see staged.h
// - if epilogue_smem, segments: how many segments the packed columns form, each a multiple of 32 columns with an epilogue of its own. If
//   there are several: segment_of(n), and epilogue<W, Segment>() in place of epilogue<W>()
// - if epilogue_smem, vectors: the epilogue reads vectors, one number per column; touched(p, n) reads these numbers at column n
#pragma once
#include "templates/frame/frame_ws.h"
#include "templates/gemm/k_shares.h"
#include "templates/gemm/part_tree.h"
#include "templates/gemm/pieces.h"
#include "templates/gemm/staged.h"

// Whether the program sums the squares of A's rows (S::input_sums).
template <class S, class = void> constexpr bool takes_sums_of = false;
template <class S> constexpr bool takes_sums_of<S, nothing<decltype(S::input_sums)>> = S::input_sums;

// Whether threads load what their epilogue reads, such as residuals, before the products: then S has load_early(), as in
// gemm_register_fed.h. A thread's results of a row are then one block of the epilogue.
template <class S, class = void> constexpr bool loads_early_of = false;
template <class S> constexpr bool loads_early_of<S, nothing<decltype(S::loads_early)>> = S::loads_early;

template <class S> struct gemm_ws {
    using args = typename S::args;
    using in_list = ws_in_list;
    using a_type = typename S::a_type;
    using b_type = typename S::b_type;
    using packing = pieces<b_type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, stages = S::stages;
    static constexpr int panel_bytes = tile_k * 128; // a panel of an operand in columns: tile_k rows of 128 bytes
    static constexpr bool a_across = S::a_form == in_columns, b_across = S::b_form == in_columns;
    static constexpr int b_panels = (tile_n + 63) / 64;
    static constexpr int a_bytes = tile_m * 128, b_bytes = b_across ? b_panels * panel_bytes : tile_n * 128;
    static constexpr int stage_bytes = a_bytes + b_bytes;
    static constexpr int half_bytes = tile_n * packing::row_bytes; // half a stage of packed B: the pieces of one position along k
    static constexpr int pitch = 128 + 16; // bytes of a row in a warp's part of scratch: 64 columns, padded against bank conflicts
    static constexpr int scratch_bytes = S::epilogue_smem ? ws_consumers / 32 * 16 * pitch : 0, cluster = S::cluster;
    static constexpr bool pingpong = false, own_tiles = S::own_tiles;
    // the warpgroups multiply the same 64 rows, each with half of the columns
    static constexpr bool shares_rows = S::tile_m == 64 && !own_tiles;
    static constexpr int group_n = shares_rows ? S::tile_n / 2 : S::tile_n; // columns of a warpgroup
    static constexpr bool input_sums = takes_sums_of<S>, loads_early = loads_early_of<S>;
    static constexpr int threads = ws_threads;
    static constexpr int of_warpgroup = own_tiles ? tile_m : 64, halves = of_warpgroup / 64; // rows that a warpgroup multiplies
    static_assert(S::threads == threads, "tile: two warpgroups compute; one loads, or a warp (in a launch of several phases)");
    static_assert(S::group_m % cluster == 0, "tile: cluster divides group_m");
    static_assert(cluster <= 2, "tile: cluster is 1 or 2");
    static_assert((tile_m == 128 || tile_m == 64) && group_n % 32 == 0 && tile_n <= 256,
                  "tile: m is 128 or 64; n a multiple of 32 for each warpgroup, at most 256");
    static_assert(!shares_rows || (S::b_form == in_pieces && S::split_k == 1 && cluster == 1),
                  "tile: m is 64 only for packed weights, with split_k=1 and cluster=1, or with tiles of a warpgroup's own");
    static_assert(!input_sums || (S::a_form == in_rows && S::split_k == 1 && cluster == 1 && pass_tiles<S, tile_k>::passes == 1),
                  "sums of squares need A as [M, K] and whole sums");
    static_assert(halves * tile_n <= 384, "tile: a warpgroup has at most 192 sums a thread");
    static_assert(!loads_early || (shares_rows && group_n == 32 && S::width == 4 && !S::epilogue_smem),
                  "vectors are loaded early for tiles of 64 rows by 64 columns");
    static_assert(!own_tiles || S::split_k == 1, "tile: split_k is 1 where warpgroups have tiles of their own");
    static_assert(one_type<a_type, b_type>, "both operands of a matrix instruction have one type");
    static_assert(tile_k * sizeof(a_type) == 128, "tile: k is 128 bytes");
    static_assert(S::granule == 16 && (S::width == 2 || S::width == 4 || S::epilogue_smem),
                  "tile: granule is 16; width 2 or 4, or results pass through shared memory");

    using product = wgmma<a_type, group_n>;
    struct tile {
        int row, column; // counted in tiles
        int part, index; // the split-K slice; the tile's number
        int batch;
    };
    // ---- sums of squares of rows of A, from the stages. The threads of a quad have the same two rows of results; each takes two of
    // the eight 16-byte pieces of each row. Pieces are swizzled, which does not matter for a sum. No chain has more than 256 terms.
    static constexpr int square_levels = sum_levels(pass_tiles<S, tile_k>::each, 256 / 16);
    using square_sums = running<take_sum, 2, square_levels, static_cast<int>(root_up(pass_tiles<S, tile_k>::each, square_levels))>;
    DEV static unsigned place_of_squares() // of the thread's first piece, in bytes from the first row
    {
        const int thread = thread_index() % 128, first = fragment::row(thread, 0);
        return first * 128 + (thread % 4 + first % 2 * 4) * 16;
    }
    DEV static vec<float, 2> squares_of_k_tile(shared_address rows, unsigned place)
    {
        vec<float, 2> sums = splat<2>(0.0f);
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                unsigned x[4];
                shared_read(rows + (place ^ i * 64) + h * 1024, x);
                sums[h] += squares_of_piece(x);
            }
        return sums;
    }
    DEV static float squares_of_piece(const unsigned (&x)[4])
    {
        if constexpr (!one_type<a_type, bf16>) return squares_of<a_type>(x);
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) { // a shift or a mask makes an f32, where compilers would move each half down first
            const float low = bits_float(x[i] << 16), high = bits_float(x[i] & 0xffff0000u);
            sum = fused(high, high, fused(low, low, sum));
        }
        return sum;
    }
    struct no_sums {};
    template <bool Yes, class X> struct only_if {
        using type = no_sums;
    };
    template <class X> struct only_if<true, X> {
        using type = X;
    };
    struct contexts {
        typename S::context of[2]; // of the thread's two rows
    };
    struct accumulators {
        float acc[product::registers], second[halves == 2 ? product::registers : 1]; // second: sums of rows 64 to 127 of the tile
        float touched; // what touch() read
        typename only_if<input_sums, square_sums>::type squares;
        typename only_if<loads_early, contexts>::type early;
    };

    // A multiple of the cluster, whose workgroups have consecutive row tiles and share B tiles. A workgroup beyond the last row still loads
    // for the others.
    DEV static int row_tiles(const args &p) { return (S::rows(p) + tile_m * cluster - 1) / (tile_m * cluster) * cluster; }
    static constexpr int column_tiles = (S::packed_n + tile_n - 1) / tile_n;
    using walk = pass_tiles<S, tile_k>;
    static_assert(S::split_k >= 1 && S::split_k <= walk::each, "tile: each slice of split_k has at least one k tile");
    DEV static int matrix_tiles(const args &p) { return row_tiles(p) * column_tiles; }
    DEV static int whole_tiles(const args &p)
    {
        if constexpr (S::batched)
            return S::batches(p) * matrix_tiles(p);
        else
            return matrix_tiles(p);
    }
    DEV static int tiles(const args &p) { return whole_tiles(p) * S::split_k; }
    // With several passes, a slice has the same range of k tiles in every pass.
    DEV static int first_k_tile(int part) { return part * walk::each / S::split_k; }
    DEV static int length_of(const tile &t) { return S::split_k == 1 ? walk::each : first_k_tile(t.part + 1) - first_k_tile(t.part); }
    DEV static int k_tiles(const args &, const tile &t) { return walk::passes * length_of(t); }
    DEV static int column_in_pass(const tile &t, int k_tile)
    {
        const int in = walk::passes == 1 ? k_tile : k_tile % length_of(t);
        return (S::split_k == 1 ? in : first_k_tile(t.part) + in) * tile_k;
    }
    DEV static int column_of_a(const tile &t, int k_tile)
    {
        const int term = walk::terms::of_a ? walk::terms::a(k_tile / length_of(t)) : 0;
        return column_in_pass(t, k_tile) + term * walk::each * tile_k;
    }
    DEV static int column_of(const tile &t, int k_tile)
    {
        return column_in_pass(t, k_tile) + (walk::passes == 1 ? 0 : walk::terms::b(k_tile / length_of(t)) * walk::each * tile_k);
    }
    DEV static unsigned bytes(const args &) { return stage_bytes; }
    DEV static void prefetch_maps(const args &p)
    {
        tensor_prefetch(S::a_map(p));
        tensor_prefetch(S::b_map(p));
    }

    // Rasterisation: groups of S::group_m row tiles, walked column by column, so that what the grid works on at a time is nearly square.
    // Items are ordered by slice: of the slices of a tile, the one that waits for the others has the highest index.
    DEV static tile at(const args &p, int item)
    {
        const int whole = S::split_k == 1 ? 0 : whole_tiles(p), part = S::split_k == 1 ? 0 : item / whole, index = item - part * whole;
        const int batch = S::batched ? index / matrix_tiles(p) : 0, of_matrix = S::batched ? index - batch * matrix_tiles(p) : index;
        const int rows = row_tiles(p), g = of_matrix / (S::group_m * column_tiles), in = of_matrix - g * S::group_m * column_tiles;
        const int height = rows - g * S::group_m < S::group_m ? rows - g * S::group_m : S::group_m;
        return {g * S::group_m + in % height, in / height, part, index, batch};
    }

    // Weights load early; an activation exists only after the launch that makes it has ended.
    DEV static void load(early, const args &p, const tile &t, int k_tile, stage m)
    {
        const int n = t.column * (tile_n / 16), k = column_of(t, k_tile) / packing::length;
        if constexpr (!S::b_early)
            return;
        else if constexpr (cluster == 1)
            piece_load(m.memory + a_bytes, S::b_map(p), m.full, n, k);
        else
            piece_load_all<cluster>(m.memory + a_bytes + cluster_rank() * half_bytes, S::b_map(p), m.full, n, k + cluster_rank(), 0);
    }
    DEV static void load(late, const args &p, const tile &t, int k_tile, stage m)
    {
        load_a(p, t, column_of_a(t, k_tile), m);
        if constexpr (!S::b_early) load_b(p, t, column_of(t, k_tile), m);
    }
    DEV static void load_a(const args &p, const tile &t, int k, stage m)
    {
        const int row = t.row * tile_m;
        if constexpr (a_across)
            for (int i = 0; i < tile_m / 64; i++)
                box_load<1>(m.memory + i * panel_bytes, S::a_map(p), t, a_batch(p, t), row + i * 64, k, m, 0);
        else
            box_load<1>(m.memory, S::a_map(p), t, a_batch(p, t), k, row, m, 0);
    }
    DEV static void load_b(const args &p, const tile &t, int k, stage m)
    {
        const shared_address to = m.memory + a_bytes;
        const int n = t.column * tile_n;
        if constexpr (b_across)
            for (int i = cluster == 1 ? 0 : cluster_rank(); i < b_panels; i += cluster)
                box_load<cluster>(to + i * panel_bytes, S::b_map(p), t, b_batch(p, t), n + i * 64, k, m, 0);
        else
            box_load<cluster>(to, S::b_map(p), t, b_batch(p, t), k, n, m, tile_n / cluster);
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
    // Loads a box of the operand's matrix `batch`. If there are several Members in the cluster, each loads box_rows of its rows, and
    // multicasts them to all.
    template <int Members>
    DEV static void box_load(shared_address to, const tensor_map &map, const tile &t, int batch, int column, int row, stage m,
                         int box_rows)
    {
        if constexpr (S::batched && Members > 1)
            tensor_load_all<Members>(to, map, m.full, column, 0, row, batch, cluster_rank() * box_rows, 0);
        else if constexpr (S::batched)
            tensor_load(to, map, m.full, column, 0, row, batch);
        else if constexpr (Members > 1)
            tensor_load_all<Members>(to, map, m.full, column, row, cluster_rank() * box_rows, 0);
        else
            tensor_load(to, map, m.full, column, row);
    }

    DEV static unsigned long long a_operand(shared_address at) { return a_across ? operand_across(at, panel_bytes) : operand(at); }
    DEV static unsigned long long b_operand(shared_address at)
    {
        return S::b_form == in_pieces ? piece_operand(at) : b_across ? operand_across(at, panel_bytes) : operand(at);
    }
    // Bytes in a stage from the operand of the first instruction of a k tile to that of instruction k.
    template <operand_form Form> DEV static int along(int k)
    {
        return Form == in_pieces ? k / 2 * half_bytes + k % 2 * 256 : Form == in_rows ? k * 32 : k * 2048;
    }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, accumulators &c)
    {
        const int group = warpgroup_of_tile(), n = k_tiles(p, t);
        int s = 0, previous = 0;
        stage_products<a_type, group_n> products, others;
        unsigned place = 0;
        if constexpr (input_sums) place = place_of_squares();
        if constexpr (own_tiles) turn_take();
        if constexpr (Ring::shared) { // without this, the accumulators of each phase of the launch would be live throughout
#pragma unroll
            for (int i = 0; i < product::registers; i++) c.acc[i] = 0;
        }
        do {
            const stage m = ring.wait();
            const auto a = a_operand(m.memory + group * 64 * 128),
                       b = b_operand(m.memory + a_bytes + column_group() * group_n * packing::row_bytes);
            pin_all(c);
            product_fence();
            products.template multiply<a_across, b_across>(c.acc, a, b, s);
#pragma unroll
            for (int k = 1; k < 4; k++)
                products.template multiply<a_across, b_across>(c.acc, operand_behind(a, along<S::a_form>(k)),
                                                               operand_behind(b, along<S::b_form>(k)), 1);
            if constexpr (halves == 2) {
                const auto below = operand_behind(a, 64 * 128);
#pragma unroll
                for (int k = 0; k < 4; k++)
                    others.template multiply<a_across, b_across>(c.second, operand_behind(below, along<S::a_form>(k)),
                                                                 operand_behind(b, along<S::b_form>(k)), k ? 1 : s);
            }
            products.commit();
            if constexpr (halves == 2) others.commit_with_others();
            pin_all(c);
            touch(p, t, c, s);
            if constexpr (input_sums) {
                warp_barrier(); // else ptxas moves these loads, and the sums, ahead of the last products
                c.squares.join(squares_of_k_tile(m.memory + group * 64 * 128, place));
            }
            products.template wait<1>(c.acc); // products of the previous k tile are complete and no longer read their stage
            if constexpr (halves == 2) others.template wait<1>(c.second);
            release(ring, previous, s > 0);
            previous = ring.position;
            ring.step();
        } while (++s < n);
        if constexpr (own_tiles) turn_pass();
        products.template wait<0>(c.acc);
        if constexpr (halves == 2) others.template wait<0>(c.second);
        pin_all(c);
        release(ring, previous, true);
    }
    // Arrivals that free a stage: of a thread of each warpgroup or, if threads read rows for input_sums, of one of each warp.
    static constexpr int releases = input_sums ? ws_consumers / 32 : own_tiles ? 1 : ws_consumers / 128;
    template <class Ring> DEV static void release(Ring &ring, int stage, bool yes)
    {
        if constexpr (input_sums) {
            warp_barrier(); // all lanes have read the rows
            barrier_arrive_if(ring.empty(stage), yes && thread_index() % 32 == 0);
        } else {
            ring.release_if(stage, yes);
        }
    }
    DEV static void pin_all(accumulators &c)
    {
        pin(c.acc);
        if constexpr (halves == 2) pin(c.second);
    }
    // warpgroup_of_tile: the index of the thread's warpgroup among those that share a tile. first_row: the first of the 16 rows that the
    // thread's warp stores out of the 64 rows of `half`.
    DEV static int warpgroup_of_tile() { return own_tiles || shares_rows ? 0 : thread_index() / 128 - ws_producers / 128; }
    DEV static int column_group() { return shares_rows ? thread_index() / 128 - ws_producers / 128 : 0; }
    // The index of the sum of a row's columns that the warpgroup has.
    DEV static int part_of_row(const tile &t)
    {
        if constexpr (shares_rows)
            return 2 * t.column + column_group();
        else
            return t.column;
    }
    DEV static int first_column(const tile &t)
    {
        if constexpr (shares_rows)
            return t.column * tile_n + column_group() * group_n;
        else
            return t.column * tile_n;
    }
    DEV static int first_row(const tile &t, int half)
    {
        return t.row * tile_m + warpgroup_of_tile() * 64 + half * 64 + thread_index() % 128 / 32 * 16;
    }

    // If loads_early, called before compute().
    DEV static void load_early(const args &p, const tile &t, accumulators &c)
    {
        const int lane = thread_index() % 32, n = first_column(t) + column_of_four();
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = first_row(t, 0) + fragment::row(lane, 2 * h);
            if (row >= S::rows(p)) continue;
            c.early.of[h] = S::begin(p, t.batch, row);
            if constexpr (loads_early)
                if (n < S::packed_n) S::template load_early<4>(p, c.early.of[h], t.batch, row, n);
        }
    }
    // In a block of 32 columns, the first of the four (and, 16 further on, four) that a lane stores at a time.
    DEV static int column_of_four() { return thread_index() % 2 * 8 + thread_index() % 4 / 2 * 4; }

    // Reduces split-K slices. True: the accumulators hold the complete sums of the tile, and this workgroup must store them.
    DEV static bool holds_all(const args &p, const tile &t, accumulators &c)
    {
        if constexpr (S::shares)
            if (tiles(p) <= static_cast<int>(block_total())) {
                shares::add(p, t, parts_of(p), c.acc);
                return false;
            }
        if constexpr (S::split_k > 1) {
            if (const int count = tree::taken(t.part)) take(p, t, c, count);
            if (!tree::is_last(t.part)) {
                give(p, t, c);
                return false;
            }
        }
        return true;
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, shared_address scratch)
    {
        if (!holds_all(p, t, c)) return;
        scratch += (thread_index() - ws_producers) / 32 * 16 * pitch; // the part of this warp
        if constexpr (S::epilogue_smem) keep_touched(c, scratch);
        finish_half(p, t, c, c.acc, 0, scratch);
        if constexpr (halves == 2) finish_half(p, t, c, c.second, 1, scratch);
    }
    DEV static void finish_half(const args &p, const tile &t, const accumulators &c, float (&acc)[product::registers], int half,
                                shared_address scratch)
    {
        const int lane = thread_index() % 32;
        row_state r[2] = {};
#pragma unroll
        for (int h = 0; h < 2; h++) {
            r[h].row = first_row(t, half) + fragment::row(lane, 2 * h);
            r[h].exists = r[h].row < S::rows(p);
            r[h].sum = 0;
            if constexpr (loads_early)
                r[h].context = c.early.of[h];
            else if (r[h].exists)
                r[h].context = S::begin(p, t.batch, r[h].row);
            if constexpr (input_sums) {
                float all = c.squares.total()[h];
                all += lane_xor<4>(all, 1);
                all += lane_xor<4>(all, 2);
                if (r[h].exists) S::summed(p, r[h].context, t.batch, r[h].row, all);
            }
        }
        if constexpr (S::epilogue_smem)
            store_staged(p, t, acc, half, r, scratch);
        else if (S::reads && !S::rolled && (t.row + 1) * tile_m <= S::rows(p) && (t.column + 1) * tile_n <= S::packed_n)
            store_tile<true>(p, t, acc, r);
        else
            store_tile<false>(p, t, acc, r);
        if constexpr (S::row_sums)
            for (int h = 0; h < 2; h++) {
                float sum = r[h].sum;
                sum += lane_xor<4>(sum, 1);
                sum += lane_xor<4>(sum, 2);
                if (r[h].exists && lane % 4 == 0) S::finish_row(p, t.batch, r[h].row, part_of_row(t), sum);
            }
    }

  protected:
    struct row_state {
        int row;
        bool exists;
        float sum;
        typename S::context context;
    };

    // ---- split-K through a tree (gemm/part_tree.h): each warpgroup passes its accumulators to the same warpgroup of another workgroup,
    // which adds them to its own. All workgroups are resident and take items in ascending order, so there is no deadlock.
    static constexpr int registers = product::registers;
    using slices_of_parts = slices<128 * registers>;
    using tree = part_tree<S::split_k>;
    using shares = k_shares<gemm_ws, S::split_k, registers>;
    friend shares;

    DEV static slices_of_parts parts_of(const args &p) { return {S::partial(p)}; }
    DEV static long long slice_of(const tile &t, int part)
    {
        const int group = thread_index() / 128 - ws_producers / 128;
        return (static_cast<long long>(t.index) * S::split_k + part) * 2 + group;
    }
    DEV static void give(const args &p, const tile &t, const accumulators &c)
    {
        const slices_of_parts parts = parts_of(p);
        const long long own = slice_of(t, t.part);
#pragma unroll
        for (int i = 0; i < registers; i += 4) {
            const slice_word x = {{c.acc[i], c.acc[i + 1], c.acc[i + 2], c.acc[i + 3]}};
            slice_store(parts.data(own) + (i * 32 + thread_index() % 128) * 4, x);
        }
        slice_stored();
        group_barrier(4 + thread_index() / 128, 128);
        if (thread_index() % 128 == 0) parts.publish(own);
    }
    DEV static void take(const args &p, const tile &t, accumulators &c, int others)
    {
        const int thread = thread_index() % 128;
        const bool looks = thread < others; // one thread waits for each slice
        const slices_of_parts parts = parts_of(p);
        const long long awaited = slice_of(t, looks ? tree::giver(t.part, thread) : 0);
        if (looks) parts.await(awaited);
        group_barrier(4 + thread_index() / 128, 128);
        pin(others); // else a loop of one iteration would be unrolled, and all its loads at once do not fit the registers
#pragma unroll 1
        for (int part = 0; part < others; part++) {
            const float *from = parts.data(slice_of(t, tree::giver(t.part, part))) + thread * 4;
#pragma unroll
            for (int i = 0; i < registers; i += 4) {
                const slice_word x = slice_read(from + i * 128);
#pragma unroll
                for (int k = 0; k < 4; k++) c.acc[i + k] += x.e[k];
            }
        }
        group_barrier(4 + thread_index() / 128, 128);
        if (looks) parts.clear(awaited);
    }

    // Runs the epilogue on four sums (gemm/k_shares.h).
    DEV static void store_word(const args &p, const tile &t, int word, int thread, const slice_word &x)
    {
        const int group = thread_index() / 128 - ws_producers / 128;
        const int row = t.row * tile_m + group * 64 + fragment::row(thread, word % 2 * 2);
        const int block = t.column * tile_n + word / 4 * 32, n = block + word % 4 / 2 * 8 + thread % 4 * 2;
        if (row >= S::rows(p) || block >= S::packed_n) return;
        vec<float, 2> lo, hi;
        lo[0] = x.e[0], lo[1] = x.e[1], hi[0] = x.e[2], hi[1] = x.e[3];
        float none = 0;
        to_memory out;
        S::template epilogue<2>(p, S::begin(p, t.batch, row), t.batch, row, n, lo, hi, none, out);
    }

    // ---- S::rolled: a long epilogue is compiled once, for a block of 32 columns (a thread's first 16 accumulators), in a loop that moves
    // the other accumulators down. A copy per block would take tens of seconds to compile and overflow the instruction cache. A very long
    // epilogue (S::rolled = 4) is compiled for a quad, in a loop within the loop. A quad is 4 of a thread's 16 sums: of one row, two
    // columns and those 16 further on. Quad i is in row i % 2 of the thread's two; its accumulators are 2i, 2i + 1, 2i + 8 and 2i + 9.
    static constexpr int block_copies = S::rolled ? 1 : group_n / 32;
    static constexpr bool by_quads = S::rolled == 4;
    static constexpr int steps = by_quads ? 4 : 1, step_quads = 4 / steps;
    static_assert(S::rolled == 0 || S::rolled == 1 || S::rolled == 4, "rolled is 0, 1 or 4");

    DEV static void next_block(float (&acc)[product::registers])
    {
        if constexpr (S::rolled) {
#pragma unroll
            for (int i = 16; i < group_n / 2; i++) acc[i - 16] = acc[i];
        }
    }
    // Moves the accumulators of the next quad down, and its row to the front.
    DEV static void next_quad(float *acc, row_state (&r)[2])
    {
#pragma unroll
        for (int i = 2; i < 8; i++) acc[i - 2] = acc[i], acc[i + 6] = acc[i + 8];
        const row_state first = r[0];
        r[0] = r[1], r[1] = first;
    }

    // ---- smem epilogue: 2-byte results pass through shared memory, so that adjacent lanes store rows in pieces of 16 bytes
    // (gemm/staged.h). The instance for values does not branch on rows beyond the last: it computes values for them that nobody stores.
    struct to_stage {
        bool first;
        unsigned value[2];
        template <int Half, int W, class T> DEV void put(T *, vec<float, W> v) { value[Half] = packed(T(), v[0], v[1]); }
        template <int Half, int W, class T> DEV void put_some(T *to, int, vec<float, W> v) { put<Half, W>(to, v); }
    };
    // Blocks of 32 packed columns whose results, 64 columns, pass at a time: 2 if a pair of columns makes two results, 4 if it makes one.
    static constexpr int stage_blocks = 4 / S::results;
    // Copies of the code of the two loops over blocks: exactly their iterations. With more, NVRTC unrolls neither if all columns of a tile
    // exist and the blocks are no multiple of stage_blocks; the accumulators then lie in memory.
    static constexpr int stage_copies = S::rolled ? 1 : (group_n / 32 + stage_blocks - 1) / stage_blocks;
    static constexpr int copies_in_stage = S::rolled ? 1 : stage_blocks;

    // An epilogue with a bias would wait for loads of the bias from L2: 300 cycles or more for each 32 columns. So each warp reads the
    // tile's vectors while the products of the first k tile run, and the epilogue finds them in L1. (H200, 6304x3072x1024 in three segments
    // with a bias each: 84.7 us; with touch() and in_segment() 73.4.)
    static constexpr bool touches = [] {
        if constexpr (S::epilogue_smem)
            return S::vectors;
        else
            return false;
    }();
    DEV static void touch(const args &p, const tile &t, accumulators &c, int k_tile)
    {
        if constexpr (touches) {
            if (k_tile > 0) return;
            const int column = thread_index() % 32 * piece_columns, n = first_column(t) + column;
            c.touched = column < group_n && n < S::packed_n ? S::touched(p, n) : 0;
        }
    }
    // Stores what touch() read, else compilers would drop its loads. Results overwrite it.
    DEV static void keep_touched(const accumulators &c, shared_address staging)
    {
        if constexpr (touches) shared_write(staging + thread_index() % 32 * 4, c.touched);
    }

    template <int I> struct segment {
        static constexpr int index = I;
    };
    // Calls block(segment) for the segment of the 32 packed columns from n on: one branch for all of them, so that the loads of their
    // epilogue are issued together.
    template <class Block, int I = 0> DEV static void in_segment(int n, Block block)
    {
        if constexpr (I + 1 == S::segments) {
            block(segment<I>());
        } else {
            if (S::segment_of(n) == I)
                block(segment<I>());
            else
                in_segment<Block, I + 1>(n, block);
        }
    }

    DEV static void store_staged(const args &p, const tile &t, float (&acc)[product::registers], int half, row_state (&r)[2],
                                 shared_address staging)
    {
#pragma unroll stage_copies
        for (int j = 0; j < group_n / 32; j += stage_blocks) {
            const int n = first_column(t) + j * 32;
            if (S::packed_n % tile_n && n >= S::packed_n) break;
            __syncwarp(); // all lanes have stored the previous contents
#pragma unroll copies_in_stage
            for (int b = 0; b < stage_blocks && j + b < group_n / 32; b++) {
                if (S::packed_n % tile_n && n + b * 32 >= S::packed_n) break;
                in_segment(n + b * 32, [&](auto segment) {
                    stage_block(segment, p, t, acc + (S::rolled ? 0 : j + b) * 16, n + b * 32, r, staging + b * S::results * 32);
                });
                next_block(acc);
            }
            __syncwarp();
            if (first_row(t, half) + 16 <= S::rows(p))
                store_stage<true>(p, t, first_row(t, half), n, group_n / 32 - j, staging);
            else
                store_stage<false>(p, t, first_row(t, half), n, group_n / 32 - j, staging);
        }
    }

    template <class Segment>
    DEV static void stage_block(Segment, const args &p, const tile &t, float *acc, int n, row_state (&r)[2], shared_address staging)
    {
        to_stage out[4] = {};
#pragma unroll 1
        for (int step = 0; step < steps; step++) {
#pragma unroll
            for (int i = 0; i < 4 - step_quads; i++) out[i] = out[i + step_quads];
#pragma unroll
            for (int i = 0; i < step_quads; i++) { // quad i is in row i % 2, in columns i / 2 * 8 and following of each half
                to_stage &to = out[4 - step_quads + i];
                const float *x = acc + 2 * i;
                vec<float, 2> lo, hi;
                lo[0] = x[0], lo[1] = x[1], hi[0] = x[8], hi[1] = x[9];
                to = {r[i % 2].exists, {}};
                const int column = n + (step * step_quads + i) / 2 * 8 + thread_index() % 4 * 2;
                if constexpr (S::segments == 1)
                    S::template epilogue<2>(p, r[i % 2].context, t.batch, r[i % 2].row, column, lo, hi, r[i % 2].sum, to);
                else
                    S::template epilogue<2, Segment::index>(p, r[i % 2].context, t.batch, r[i % 2].row, column, lo, hi, r[i % 2].sum, to);
            }
            if constexpr (by_quads) next_quad(acc, r);
        }
#pragma unroll
        for (int s = 0; s < S::results; s++)
            fragment_store(staging + s * 32, pitch, {out[0].value[s], out[1].value[s], out[2].value[s], out[3].value[s]});
    }

    template <bool Whole> DEV static void store_stage(const args &p, const tile &t, int row, int n, int blocks, shared_address staging)
    {
        constexpr int V = piece_columns, lanes = 64 / V, rows_at_once = 32 / lanes;
        const int lane = thread_index() % 32, column = lane % lanes * V, block = column / (16 * S::results);
        const int first = row + lane / lanes;
        n += block * 32 + column % 16;
        const bool exists = block < blocks && n < S::packed_n;
        if (S::results_unit == piece_columns && !exists) return;
        const shared_address from = staging + lane / lanes * pitch + (exists ? column * 2 : 0); // columns beyond the last were not written
        neighbours<unsigned, 4> raw[16 / rows_at_once]; // all loads are in flight before the first result is used
#pragma unroll
        for (int k = 0; k < 16; k += rows_at_once) shared_read(from + k * pitch, raw[k / rows_at_once].e);
#pragma unroll
        for (int k = 0; k < 16; k += rows_at_once) {
            const bool here = Whole || first + k < S::rows(p);
            if (S::results_unit == piece_columns && !here) break;
            to_find out{S::results == 2 && column & 16, false, 0, nullptr};
            float none = 0;
            if (here && exists)
                S::template epilogue<1>(p, S::begin(p, t.batch, first + k), t.batch, first + k, n, splat<1>(0.0f), splat<1>(0.0f), none,
                                        out);
            store_piece<S::results_unit>(out, raw[k / rows_at_once].e);
        }
    }

    // ---- register epilogue. Whole: all rows and columns of the tile exist. The epilogue then has no branches, so that all its loads are
    // in flight together; if it loads nothing, that would only cost registers.
    template <bool Whole> DEV static void store_tile(const args &p, const tile &t, float (&acc)[product::registers], row_state (&r)[2])
    {
#pragma unroll block_copies
        for (int j = 0; j < group_n / 32; j++) {
            if (!Whole && first_column(t) + j * 32 >= S::packed_n) break;
            store_block<S::width, Whole>(p, t, acc + (S::rolled ? 0 : j) * 16, first_column(t) + j * 32, r);
            next_block(acc);
        }
    }

    // Stores a block of 32 columns, of which a thread has 2 of each 8 adjacent columns, in two rows. With W = 4 the stores of four adjacent
    // lanes fill 32 bytes of a row of 16-bit results.
    template <int W, bool Whole> DEV static void store_block(const args &p, const tile &t, float *acc, int n, row_state (&r)[2])
    {
        const int lane = thread_index() % 4;
        to_memory out;
        if constexpr (W == 4) { // two quads of a row at a time
            constexpr int row_steps = by_quads ? 2 : 1;
#pragma unroll 1
            for (int step = 0; step < row_steps; step++) {
#pragma unroll
                for (int h = 0; h < 2 / row_steps; h++) {
                    const float *x = acc + 2 * h; // x[4 * g], x[4 * g + 1]: group g of 8 columns
                    const vec<float, 4> lo = exchanged(x[0], x[1], x[4], x[5]), hi = exchanged(x[8], x[9], x[12], x[13]);
                    if (Whole || r[h].exists)
                        S::template epilogue<4>(p, r[h].context, t.batch, r[h].row, n + column_of_four(), lo, hi, r[h].sum, out);
                }
                if constexpr (by_quads) next_quad(acc, r);
            }
        } else {
#pragma unroll 1
            for (int step = 0; step < steps; step++) {
#pragma unroll
                for (int i = 0; i < step_quads; i++) {
                    vec<float, 2> lo, hi;
                    lo[0] = acc[2 * i], lo[1] = acc[2 * i + 1], hi[0] = acc[2 * i + 8], hi[1] = acc[2 * i + 9];
                    if (Whole || r[i % 2].exists)
                        S::template epilogue<2>(p, r[i % 2].context, t.batch, r[i % 2].row,
                                                n + (step * step_quads + i) / 2 * 8 + lane * 2, lo, hi, r[i % 2].sum, out);
                }
                if constexpr (by_quads) next_quad(acc, r);
            }
        }
    }

    // In: two columns of each of two groups of 8 columns, x and y. An even lane gives its y for the x of its odd neighbour: the even lane
    // gets 4 columns of x, the odd one 4 of y.
    DEV static vec<float, 4> exchanged(float x0, float x1, float y0, float y1)
    {
        const bool odd = thread_index() % 2;
        const float other0 = lane_xor<32>(odd ? x0 : y0, 1), other1 = lane_xor<32>(odd ? x1 : y1, 1);
        vec<float, 4> v;
        v[0] = odd ? other0 : x0, v[1] = odd ? other1 : x1, v[2] = odd ? y0 : other0, v[3] = odd ? y1 : other1;
        return v;
    }
};
