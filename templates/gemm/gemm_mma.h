// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program on mma.sync (isa/mma.h) in the multistage frame,
// for any M, N, K from 1. 4 or 8 warps split a tile; a k tile is 32 or 64 of K. Refuses (static_assert) tiles that do not split evenly.
//
// Beyond the common contract S has
// - group_m: row tiles that share a column of B tiles while it is in L2
// - resident: workgroups per multiprocessor
// - a_form: how A lies in memory, in_rows or in_columns ([K, M]); a_stride: elements between its rows
// - a_unit, b_unit: rows of A, and of B if it is an activation, begin at multiples of so many bytes: 4, 8 or 16
// - width: columns of a row that the epilogue gets at a time, 2 or 4
// - epilogue_smem: the epilogue only rounds products to 16 bits, and results pass through shared memory; results, results_unit: see
//   staged.h; results is 2
// - reads: the epilogue loads more than row scalars
// - b_form: how B lies in memory (gemm/pieces.h)
// - batched: there are batches(p) products
// - if B is an activation (a matmul): b_row(p, batch, column or k) in place of packed(p); b_stride: elements between its rows; columns: how
//   many columns it has
// If A is [K, M], a_row(p, batch, k) is a row of it.
#pragma once
#include "templates/frame/frame_multistage.h"
#include "templates/gemm/pieces.h"
#include "templates/gemm/row_stride.h"
#include "templates/gemm/staged.h"
#include "templates/isa/mma.h"

template <class S> struct gemm_mma {
    using args = typename S::args;
    using in_list = multistage_in_list;
    using a_type = typename S::a_type;
    using b_type = typename S::b_type;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, threads = S::threads, stages = S::stages,
                         resident = S::resident;
    static constexpr int V = 16 / sizeof(a_type), pieces = tile_k / V, row_bytes = pieces * 16, units = tile_k / 16,
                         lines = threads / pieces;
    static constexpr int a_bytes = tile_m * row_bytes, stage_bytes = a_bytes + tile_n * row_bytes;
    static constexpr int warps = threads / 32,
                         warps_m = tile_m < 64                          ? 1
                                   : warps == 8 && tile_m >= 2 * tile_n ? 4
                                                                        : 2,
                         warps_n = warps / warps_m;
    static constexpr int warp_m = tile_m / warps_m, warp_n = tile_n / warps_n;
    // 16 rows of each row of warps, padded against bank conflicts
    static constexpr int staged_rows = 16 * warps_m, staged_pitch = tile_n * 2 + 16;
    static constexpr int scratch_bytes = S::epilogue_smem ? staged_rows * staged_pitch : S::row_sums ? tile_m * warps_n * 4 : 0;
    using part = fragment<pieces>;
    using packing = ::pieces<b_type>;
    static constexpr int row_blocks = warp_m / part::rows, column_blocks = warp_n / part::columns, b_times = tile_n / lines;
    static_assert(one_type<a_type, b_type>, "both operands of a matrix instruction have one type");
    static_assert(sizeof(a_type) == 2 && S::granule == 16 && (S::width == 2 || S::width == 4),
                  "tile: operands of 16 bits; granule is 16, width 2 or 4");
    static_assert(warp_m % part::rows == 0 && warp_n % part::columns == 0 && warps_m * warps_n == warps,
                  "tile: each warp has whole blocks of rows and columns");
    static_assert(tile_m % lines == 0 && tile_n % lines == 0, "tile: m and n are multiples of the rows that all threads copy at once");
    static_assert((S::a_unit == 4 || S::a_unit == 8 || S::a_unit == 16) && (S::b_unit == 4 || S::b_unit == 8 || S::b_unit == 16),
                  "cp.async copies 4, 8 or 16 bytes");
    static_assert(lines % packing::columns == 0 && tile_k % packing::length == 0,
                  "tile: the rows copied at once, and k, are multiples of a piece");

    // A has K contiguous (rows) or M (columns). B is a packed weight, or an activation with K contiguous (rows) or N (columns).
    static constexpr bool a_across = S::a_form == in_columns, packed = S::b_form == in_pieces, b_across = S::b_form == in_columns;

    struct tile {
        int row, column; // counted in tiles
        int batch;
    };
    struct accumulators {
        typename part::block acc[row_blocks][column_blocks];
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    static constexpr int column_tiles = ceil_div(S::packed_n, tile_n);
    DEV static int matrix_tiles(const args &p) { return row_tiles(p) * column_tiles; }
    DEV static int tiles(const args &p)
    {
        if constexpr (S::batched)
            return S::batches(p) * matrix_tiles(p);
        else
            return matrix_tiles(p);
    }
    using walk = pass_tiles<S, tile_k>;
    DEV static int k_tiles(const args &) { return walk::all; }

    // Rasterisation: groups of S::group_m row tiles, walked column by column, so that what the grid works on at a time is nearly square.
    DEV static tile at(const args &p, int item)
    {
        const int batch = S::batched ? item / matrix_tiles(p) : 0, index = S::batched ? item - batch * matrix_tiles(p) : item;
        const int rows = row_tiles(p), g = index / (S::group_m * column_tiles), in = index - g * S::group_m * column_tiles;
        const int height = rows - g * S::group_m < S::group_m ? rows - g * S::group_m : S::group_m;
        return {g * S::group_m + in % height, in / height, batch};
    }

    // ---- copies. Adjacent threads copy adjacent units of a stage's line: of Unit bytes, or 16 of a packed weight.
    // Lines along k: Lines rows of A, or columns of B.
    template <int Lines, int Unit> struct along_k {
        static constexpr int in_line = row_bytes / Unit, at_once = threads / in_line;
        static_assert(Lines % at_once == 0, "tile: m and n are multiples of the rows that all threads copy at once");
        DEV static int line() { return thread_index() / in_line; }
        DEV static int first() { return thread_index() % in_line * Unit / static_cast<int>(sizeof(a_type)); } // element of the line
        DEV static shared_address at(int line)
        {
            return part::a_at(line, thread_index() % in_line * Unit / 16) + thread_index() % (16 / Unit) * Unit;
        }
        // left: lines from the thread's first one to the end of the matrix; valid: bytes of its unit that exist
        template <class T> DEV static void load(copies &c, shared_address to, const T *from, long long stride, int left, int valid)
        {
            const shared_address own = to + at(line()); // lines that lie a multiple of 8 apart have the same swizzle key
#pragma unroll
            for (int i = 0; i < Lines; i += at_once)
                c.template start<Unit>(at_once % 8 == 0 ? own + i * row_bytes : to + at(line() + i), from + i * stride,
                                       i < left ? valid : 0);
        }
    };
    // Lines across k: a row of A as [K, M], or of B as [K, N].
    template <int Columns, int Unit> struct across_k {
        static constexpr int in_line = Columns * static_cast<int>(sizeof(a_type)) / Unit, at_once = threads / in_line;
        static_assert(threads % in_line == 0 && tile_k % at_once == 0,
                      "tile: for operands with K first, threads and k are multiples of what one copy takes");
        DEV static int line() { return thread_index() / in_line; }
        DEV static int first() { return thread_index() % in_line * Unit / static_cast<int>(sizeof(a_type)); }
        // k_left: lines from the thread's first one to the end of K
        template <class T> DEV static void load(copies &c, shared_address to, const T *from, long long stride, int k_left, int valid)
        {
            const int piece = thread_index() % in_line * Unit / 16, in = thread_index() % (16 / Unit) * Unit;
#pragma unroll
            for (int i = 0; i < tile_k; i += at_once)
                c.template start<Unit>(to + across_at<Columns>(line() + i, piece) + in, from + i * stride,
                                       S::K % tile_k == 0 || i < k_left ? valid : 0);
        }
    };
    template <bool Across, int Lines, int Unit> struct copied {
        using type = along_k<Lines, Unit>;
    };
    template <int Lines, int Unit> struct copied<true, Lines, Unit> {
        using type = across_k<Lines, Unit>;
    };
    using copied_a = typename copied<a_across, tile_m, S::a_unit>::type;
    using copied_b = typename copied<b_across, tile_n, S::b_unit>::type; // if B is an activation

    struct source { // of the thread's next copies
        const a_type *a;
        const b_type *b;
        int a_rows, b_columns; // rows from a on, and columns from b on, to the end of the matrix
        long long a_stride, b_stride; // take no registers if S has constants, which compilers fold; b_stride: only of an activation
    };

    DEV static source source_of(const args &p, const tile &t)
    {
        source s;
        if constexpr (a_across) {
            const int row = t.row * tile_m + copied_a::first();
            s.a = S::a_row(p, t.batch, copied_a::line()) + row, s.a_rows = S::rows(p) - row;
        } else {
            const int row = t.row * tile_m + copied_a::line();
            s.a = S::a_row(p, t.batch, row) + walk::of_rows(0) * tile_k + copied_a::first(), s.a_rows = S::rows(p) - row;
        }
        s.a_stride = a_stride_of<S>(p);
        if constexpr (packed) {
            const int column = t.column * tile_n + part::copied_line(thread_index()),
                      k = walk::of_columns(0) * tile_k + part::copied_piece(thread_index()) * V;
            s.b = S::packed(p) + packing::at(S::packed_k, column, k), s.b_columns = S::packed_n - column, s.b_stride = 0;
        } else if constexpr (b_across) {
            const int column = t.column * tile_n + copied_b::first();
            s.b = S::b_row(p, t.batch, copied_b::line()) + column, s.b_columns = S::columns - column, s.b_stride = b_stride_of<S>(p);
        } else {
            const int column = t.column * tile_n + copied_b::line();
            s.b = S::b_row(p, t.batch, column) + copied_b::first(), s.b_columns = S::columns - column, s.b_stride = b_stride_of<S>(p);
        }
        return s;
    }
    DEV static void end(source &s) { s.a_rows = s.b_columns = 0; }
    // Bytes of a unit, given the elements from its first one to the end of the line.
    template <int Unit> DEV static int valid(int left)
    {
        constexpr int all = Unit / static_cast<int>(sizeof(a_type));
        return left >= all ? Unit : left > 0 ? left * static_cast<int>(sizeof(a_type)) : 0;
    }
    template <int Unit> DEV static int valid_along_k(int k_tile, int first)
    {
        constexpr int length = walk::terms::row_length;
        return length % tile_k == 0 ? Unit : valid<Unit>(length - walk::of_rows(k_tile) * tile_k - first);
    }
    DEV static void load(copies &c, source &s, int k_tile, shared_address stage)
    {
        if constexpr (a_across) {
            copied_a::load(c, stage, s.a, s.a_stride, S::K - k_tile * tile_k - copied_a::line(), valid<S::a_unit>(s.a_rows));
            s.a += tile_k * s.a_stride;
        } else {
            copied_a::load(c, stage, s.a, s.a_stride, s.a_rows, valid_along_k<S::a_unit>(k_tile, copied_a::first()));
            s.a += tile_k;
        }
        if (walk::passes > 1 && walk::ends_pass(k_tile)) // goes to the first k tile of the term that the next pass multiplies
            s.a += walk::terms::of_a ? (walk::of_rows(k_tile + 1) - walk::of_rows(k_tile) - 1) * tile_k : -walk::each * tile_k;
        if constexpr (packed) {
            load_pieces(c, s, k_tile, stage + a_bytes);
        } else if constexpr (b_across) {
            copied_b::load(c, stage + a_bytes, s.b, s.b_stride, S::K - k_tile * tile_k - copied_b::line(), valid<S::b_unit>(s.b_columns));
            s.b += tile_k * s.b_stride;
        } else {
            copied_b::load(c, stage + a_bytes, s.b, s.b_stride, s.b_columns, valid_along_k<S::b_unit>(k_tile, copied_b::first()));
            s.b += tile_k;
        }
    }
    DEV static void load_pieces(copies &c, source &s, int k_tile, shared_address to)
    {
        const int line = part::copied_line(thread_index()), piece = part::copied_piece(thread_index());
        const bool exists = S::packed_k % (walk::each * tile_k) == 0 || walk::of_columns(k_tile) * tile_k + piece * V < S::packed_k;
#pragma unroll
        for (int i = 0; i < b_times; i++)
            c.start(to + part::b_at(line, piece) + i * lines * row_bytes, s.b + i * lines * S::packed_k,
                    exists && i * lines < s.b_columns ? 16 : 0);
        const int next = walk::terms::of_a ? walk::of_columns(k_tile + 1) - walk::of_columns(k_tile) : 1;
        s.b += next * (tile_k / packing::length * packing::elements);
    }

    // Long sums are blocked sums (sums.h), if registers suffice for both levels.
    static constexpr bool folds = is_long(S::K) && tile_m * tile_n / threads <= 32;
    static constexpr int folded_k_tiles = ceil_div(static_cast<int>(root_up(S::K, 2)), tile_k);
    DEV static void clear(accumulators &c)
    {
#pragma unroll
        for (int i = 0; i < row_blocks; i++)
#pragma unroll
            for (int j = 0; j < column_blocks; j++) part::clear(c.acc[i][j]);
    }
    // Adds c to total and clears c.
    DEV static void add(accumulators &total, accumulators &c)
    {
#pragma unroll
        for (int i = 0; i < row_blocks; i++)
#pragma unroll
            for (int j = 0; j < column_blocks; j++)
#pragma unroll
                for (int e = 0; e < part::products; e++)
#pragma unroll
                    for (int k = 0; k < 4; k++) total.acc[i][j].sum[e][k] += c.acc[i][j].sum[e][k];
        clear(c);
    }
    template <class Stream> DEV static void compute(const args &p, Stream &s, accumulators &c)
    {
        accumulators total;
        clear(c);
        if constexpr (folds) clear(total);
        operands x[2]; // double buffer: operands of 16 of K are read while those of the previous 16 are multiplied
        x[0].read(s.here(), 0);
#pragma unroll 1
        for (int left = k_tiles(p); left > 0; left--) {
#pragma unroll
            for (int u = 0; u < units; u++) {
                if (u + 1 < units) x[(u + 1) % 2].read(s.here(), u + 1);
                if (u + 1 == units) {
                    s.step();
                    if (left > 1) x[0].read(s.here(), 0);
                }
                x[u % 2].template multiply<0, row_blocks / 2>(c);
                if (u == 0) s.load();
                x[u % 2].template multiply<row_blocks / 2, row_blocks>(c);
            }
            s.advance();
            if (folds && left % folded_k_tiles == 0) add(total, c);
        }
        if constexpr (folds) {
            add(total, c);
            c = total;
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, shared_address scratch)
    {
#pragma unroll
        for (int i = 0; !packed && i < row_blocks; i++)
#pragma unroll
            for (int j = 0; j < column_blocks; j++) part::settle(c.acc[i][j]);
        if constexpr (S::epilogue_smem) {
            store_staged(p, t, c, scratch);
            return;
        }
        if (S::reads && S::width == 4 && (t.row + 1) * tile_m <= S::rows(p) && (t.column + 1) * tile_n <= S::packed_n)
            store_tile<true>(p, t, c, scratch);
        else
            store_tile<false>(p, t, c, scratch);
        if constexpr (S::row_sums) {
            barrier();
            for (int in = thread_index(); in < tile_m && t.row * tile_m + in < S::rows(p); in += threads) {
                float sum = 0;
                for (int w = 0; w < warps_n; w++) sum += shared_read(scratch + (in * warps_n + w) * 4);
                S::finish_row(p, t.batch, t.row * tile_m + in, t.column, sum);
            }
        }
    }

  private:
    // ---- results that pass through shared memory (gemm/staged.h), 16 rows of each row of warps at a time
    struct to_stage {
        static constexpr bool first = true;
        unsigned value[2][2]; // of each half; 0 beyond the last column
        template <int Half, int W, class T> DEV void put(T *, vec<float, W> v)
        {
            static_assert(W == 4, "4 results are 8 bytes");
            value[Half][0] = ::packed(T(), v[0], v[1]), value[Half][1] = ::packed(T(), v[2], v[3]);
        }
        template <int Half, int W, class T> DEV void put_some(T *at, int, vec<float, W> v) { put<Half, W>(at, v); }
    };
    DEV static void store_staged(const args &p, const tile &t, accumulators &c, shared_address stage)
    {
        static_assert(S::results == 2 && !S::row_sums, "the epilogue only rounds");
        const int first = packed ? part::column() : part::dense_column();
#pragma unroll
        for (int i = 0; i < row_blocks; i++) {
            if (i) barrier(); // all threads have read the rows of the previous blocks
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = t.row * tile_m + warp_row() * warp_m + i * 16 + part::row(h);
#pragma unroll
                for (int j = 0; j < column_blocks; j++) {
                    const int n = warp_column() * warp_n + j * part::columns + first;
                    if (row >= S::rows(p) || t.column * tile_n + n >= S::packed_n) continue;
                    float none = 0;
                    to_stage out = {};
                    S::template epilogue<4>(p, S::begin(p, t.batch, row), t.batch, row, t.column * tile_n + n,
                                            part::template low<4>(c.acc[i][j], h, 0), part::template high<4>(c.acc[i][j], h, 0), none, out);
                    const shared_address to = stage + (warp_row() * 16 + part::row(h)) * staged_pitch + n * 2;
                    shared_write(to, out.value[0]), shared_write(to + 32, out.value[1]);
                }
            }
            barrier();
            store_rows(p, t, i * 16, stage);
        }
    }
    DEV static void store_rows(const args &p, const tile &t, int below, shared_address stage)
    {
        constexpr int of_row = tile_n / piece_columns;
        static_assert(staged_rows * of_row % threads == 0, "tile: threads store equal numbers of pieces");
#pragma unroll 1
        for (int i = thread_index(); i < staged_rows * of_row; i += threads) {
            const int in = i / of_row, column = i % of_row * piece_columns, row = t.row * tile_m + in / 16 * warp_m + below + in % 16;
            const int n = t.column * tile_n + column / 32 * 32 + column % 16;
            unsigned x[4] = {};
            to_find out{(column & 16) != 0, false, 0, nullptr};
            float none = 0;
            if (row < S::rows(p) && n < S::packed_n) {
                shared_read(stage + in * staged_pitch + column * 2, x);
                S::template epilogue<1>(p, S::begin(p, t.batch, row), t.batch, row, n, splat<1>(0.0f), splat<1>(0.0f), none, out);
            }
            store_piece<S::results_unit>(out, x);
        }
    }

    static_assert(units % 2 == 0, "tile: an even number of units of k");
    DEV static int warp_row() { return wave_index() / warps_n; }
    DEV static int warp_column() { return wave_index() % warps_n; }

    template <bool Packed, class X> struct either {
        using type = column_operand<b_type, X::value>;
    };
    template <class X> struct either<false, X> {
        using type = dense_operand<b_type, X::value>;
    };
    struct count {
        static constexpr int value = pieces;
    };
    using of_columns = typename either<packed, count>::type;

    struct operands {
        row_operand<a_type, pieces> a[row_blocks];
        of_columns b[column_blocks];
        DEV void read(shared_address stage, int unit)
        {
            const shared_address rows = stage + warp_row() * warp_m * row_bytes, all_columns = stage + a_bytes,
                                 columns = all_columns + warp_column() * warp_n * row_bytes;
#pragma unroll
            for (int i = 0; i < row_blocks; i++)
                if constexpr (a_across)
                    a[i].template read_columns<tile_m>(stage, warp_row() * warp_m + i * part::rows, unit);
                else
                    a[i].read(rows + i * part::rows * row_bytes, unit);
#pragma unroll
            for (int j = 0; j < column_blocks; j++)
                if constexpr (packed)
                    b[j].read(columns + j * part::columns * row_bytes, unit);
                else if constexpr (b_across)
                    b[j].template read_columns<tile_n>(all_columns, warp_column() * warp_n + j * part::columns, unit);
                else
                    b[j].read_rows(columns + j * part::columns * row_bytes, unit);
        }
        template <int From, int To> DEV void multiply(accumulators &c) const
        {
#pragma unroll
            for (int i = From; i < To; i++)
#pragma unroll
                for (int j = 0; j < column_blocks; j++) ::multiply<a_type, pieces>(c.acc[i][j], a[i], b[j]);
        }
    };

    struct row_state {
        int row;
        bool exists;
        float sum;
        typename S::context context;
    };

    // Whole: all rows and columns of the tile exist. Its epilogue then has no branches, so that all its loads are in flight together. Not
    // used with width 2, whose twice as many loads would exceed a thread's registers.
    template <bool Whole> DEV static void store_tile(const args &p, const tile &t, accumulators &c, shared_address scratch)
    {
        const int n0 = t.column * tile_n + warp_column() * warp_n;
#pragma unroll
        for (int i = 0; i < row_blocks; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int in = warp_row() * warp_m + i * part::rows + part::row(h);
                row_state r;
                r.row = t.row * tile_m + in;
                r.exists = Whole || r.row < S::rows(p);
                r.sum = 0;
                if (r.exists) {
                    r.context = S::begin(p, t.batch, r.row);
#pragma unroll
                    for (int j = 0; j < column_blocks; j++)
                        if (Whole || n0 + j * part::columns < S::packed_n) store_block(p, t, c.acc[i][j], h, n0 + j * part::columns, r);
                }
                if constexpr (S::row_sums) {
                    r.sum += lane_xor<4>(r.sum, 1);
                    r.sum += lane_xor<4>(r.sum, 2);
                    if (part::lane() % 4 == 0) shared_write(scratch + (in * warps_n + warp_column()) * 4, r.sum);
                }
            }
    }
    DEV static void store_block(const args &p, const tile &t, const typename part::block &b, int half, int n, row_state &r)
    {
        to_memory out;
#pragma unroll
        for (int first = 0; first < 4; first += S::width)
            S::template epilogue<S::width>(p, r.context, t.batch, r.row, n + (packed ? part::column() : part::dense_column()) + first,
                                           part::template low<S::width>(b, half, first), part::template high<S::width>(b, half, first),
                                           r.sum, out);
    }
};
