// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program for few rows in the ring frame, for any M, N, K
// from 1. One warp streams weights through the launch's ring of pages in shared memory, and each weight is read once for all rows of a
// tile. As in gemm_register_fed, the other warps take pieces along K in turn (sliced-K), and their sums are added up in shared memory in a
// fixed order. Refuses (static_assert) tiles that are not whole pieces.
//
// S is as for gemm_register_fed, but `ahead` is the number of pieces that each warp reads from a page. lane_units: units of 16 bytes of
// A's rows that a lane copies to shared memory at a time. If rows of A come in words (frame/words.h), S has a_words(p, batch, row), where a
// row's words begin, and args has tf_words. If some_rows_in_words, a_words() may be null, and the rows are then those of a_row().
#pragma once
#include "templates/frame/frame_ring.h"
#include "templates/gemm/gemm_register_fed.h"
#include "templates/isa/pieces_in_memory.h"

// Returns x, and keeps compilers from moving its computation down to its first use, which may be behind a wait.
#if defined(TF_ON_HOST)
template <class T> DEV const T *computed_here(const T *x) { return x; }
#else
template <class T> DEV const T *computed_here(const T *x) // in global memory
{
    unsigned long long at = __cvta_generic_to_global(x);
    asm volatile("" : "+l"(at));
    return static_cast<const T *>(__cvta_global_to_generic(at));
}
#endif

template <class S, class = void> constexpr bool has_row_words = false;
template <class S> constexpr bool has_row_words<S, nothing<decltype(S::some_rows_in_words)>> = true;
template <class S> constexpr bool plain_rows_of()
{
    if constexpr (has_row_words<S>) return S::some_rows_in_words;
    else return true;
}

template <class S> struct gemm_ring : gemm_register_fed<S> {
    using base = gemm_register_fed<S>;
    using spec = S;
    using typename base::args;
    using typename base::b_type;
    using typename base::results;
    using typename base::sums;
    using typename base::tile;
    using in_list = ring_in_list;
    using weights = piece_in_memory<b_type, typename base::a_type>;
    using operand = piece_in_order<typename base::a_type>;
    static constexpr int across = base::across, down = base::down, waves = base::waves, along = base::along;
    static constexpr int ahead = base::ahead, iterations = base::iterations, piece_bytes = pieces<b_type>::bytes;
    static constexpr int each_page = waves * ahead; // pieces of a page: those of one iteration, of the same 16 columns
    static_assert(each_page * piece_bytes == page_bytes, "ring: the pieces of an iteration are a page");

    DEV static tile at(const args &p, int index)
    {
        if (base::row_tiles(p) == 1) return {0, index * base::tile_n}; // a division would take long
        return base::at(p, index);
    }
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

    // ---- rows of A. Each warp copies its share of the tile's rows, the elements that its pieces need, to shared memory of its own: all at
    // once, so that a tile waits for memory once, or in chunks if they do not fit. A chunk has all rows; their number is rounded up to a
    // power of two.
    static constexpr int units = base::length / 8; // units of 16 bytes in a row's part of a piece
    static constexpr int rows_up(int rows) { return rows <= 8 ? 8 : rows <= 16 ? 16 : rows <= 32 ? 32 : 64; }
    static constexpr int most_rows = rows_up(base::tile_m), lane_units = S::lane_units;
    static_assert(lane_units >= ahead * most_rows / 8 && (lane_units & (lane_units - 1)) == 0, "ring: a chunk has whole iterations");
    static constexpr int chunk_log = 5 + (lane_units > 1) + (lane_units > 2) + (lane_units > 4) + (lane_units > 8);
    static constexpr int share_bytes = lane_units * TF_WAVE * 16 + most_rows * 16, rows_bytes = waves * share_bytes;
    using chunks = chunk[lane_units];
    static constexpr bool may_be_plain = plain_rows_of<S>();
    // Of a tile: where its rows lie, and where the warp keeps its share of them. Computed before the tile waits for its rows.
    struct row_share {
        tile t;
        unsigned lane, warp;
        int log;                       // 2 ** log units belong to a row of a chunk
        const chunk *row;              // the tile's first row
        chunk *memory;                 // of the warp
        const chunk *unit[lane_units]; // the units of the first chunk that the lane copies
        const float *row_words, *words[has_row_words<S> ? lane_units : 1]; // the same, of rows in words
        int piece[lane_units];         // the pieces that need them
        typename operand::place near[down];

        DEV void place(const args &p, int index, char *shared)
        {
            lane = static_cast<unsigned>(thread_index()) % 32, warp = static_cast<unsigned>(thread_index()) / 32;
            t = at(p, index);
            const int rows = S::rows(p) - t.row;
            log = chunk_log;
#pragma unroll
            for (int held = 1; held < most_rows; held *= 2) log -= rows > held;
            memory = reinterpret_cast<chunk *>(shared + warp * share_bytes);
            if constexpr (may_be_plain) row = reinterpret_cast<const chunk *>(S::a_row(p, 0, t.row));
            if constexpr (has_row_words<S>) row_words = S::a_words(p, 0, t.row);
#pragma unroll
            for (int v = 0; v < lane_units; v++) {
                const int nth = unit_of(v) >> log, in = unit_of(v) & ((1u << log) - 1);
                piece[v] = in / units * waves + warp;
                const auto at = (nth < rows ? nth : rows - 1) * (a_stride_of<S>(p) / 8) + piece[v] * units + lane % units;
                if constexpr (may_be_plain) unit[v] = computed_here(row + at);
                if constexpr (has_row_words<S>) words[v] = computed_here(row_words + at * 8);
            }
#pragma unroll
            for (int i = 0; i < down; i++)
                near[i] = operand::at(reinterpret_cast<const char *>(memory), lane, i * piece_results::rows, (16 << log) + 16,
                                      1 << (chunk_log - log)); // the pitch is an odd number of units, so ldmatrix has no bank conflicts
        }
        DEV unsigned unit_of(int v) const { return v * 32 + lane; }
        DEV int iterations_of_chunk() const { return (1u << log) / (units * ahead); }
        DEV bool has(int v, int first) const { return piece[v] + first * each_page < along; }
        // Loads the lane's units of the chunk that begins with iteration `first`; put() stores them.
        DEV void load(const args &p, chunks &x, int first) const
        {
            if constexpr (has_row_words<S>)
                if (!may_be_plain || row_words) return take_words(p, x, first);
            if constexpr (may_be_plain) load_plain(x, first);
        }
        DEV int column_of(int v, int first) const { return (piece[v] + first * each_page) * base::length + lane % units * 8; }
        // Of units that do not exist, zeros.
        DEV void take_words(const args &p, chunks &x, int first) const
        {
            constexpr int most = 4, together = lane_units < most ? lane_units : most;
#pragma unroll
            for (int v = 0; v < lane_units; v += together) {
                const auto exists = [&](int i) {
                    return has(v + i, first) && (S::K % base::length == 0 || column_of(v + i, first) < S::K);
                };
                chunk some[together];
                p.tf_words.template take<together, true>(
                    some, [&](int i) { return words[v + i] + first * (each_page * base::length); },
                    [&](int i) { return !exists(i) ? 0 : S::K % 8 == 0 || S::K - column_of(v + i, first) > 4 ? 2 : 1; });
#pragma unroll
                for (int i = 0; i < together; i++) {
                    x[v + i] = some[i];
                }
            }
        }
        DEV void load_plain(chunks &x, int first) const
        {
#pragma unroll
            for (int v = 0; v < lane_units; v++) {
                const int k = column_of(v, first);
                const bool exists = has(v, first) && (S::K % base::length == 0 || k < S::K);
                // In place of a unit that does not exist, another one is read: a load under a condition would take registers for x
                // throughout the launch.
                x[v] = element_of(exists ? unit[v] + first * (each_page * units) : row);
                if (S::K % base::length && !exists) x[v] = {};
                if constexpr (S::K % 8 != 0)
                    if (S::K - k < 8) cut_chunk(x[v], S::K - k);
            }
        }
        DEV bool is_one_chunk() const { return iterations_of_chunk() >= iterations; }
        DEV void put(const chunks &x, int first) const
        {
            __syncwarp(); // all lanes have read the previous chunk
#pragma unroll
            for (int v = 0; v < lane_units; v++)
                if (has(v, first)) put_element(memory + unit_of(v) + (unit_of(v) >> log), x[v]);
            __syncwarp();
        }
    };
    using operands = operand[down];
    // Whether piece u of an iteration exists; known at compile time if K fills all iterations.
    DEV static bool has_piece(const row_share &from, int iteration, int u)
    {
        return along % each_page == 0 || (iteration * ahead + u) * waves + static_cast<int>(from.warp) < along;
    }
    static_assert(sizeof(typename base::a_type) == 2, "ring: rows have 16 bits");

    // What a workgroup keeps from tile to tile.
    struct kept {
        // First row of the last tile, whose rows are still in shared memory if one chunk has all of K; tiles so far.
        int row = -1, turn = 0;
        bool wide = false; // the last tile had more than half of its rows
    };
    // Weights of another dtype become several terms, which take the registers that the overlap of loads and products needs.
    static constexpr bool is_split = !same_type<typename base::a_type, b_type>;
    // If a page's products would all depend on each other, every other one goes to sums of its own.
    static constexpr bool has_odd = across == 1 && ahead > 1 && !is_split;
    template <class Reader>
    DEV static void take_iteration(const row_share &from, int iteration, int first, results &r, sums &sum, sums &odd, Reader &ring)
    {
        operands x[ahead];
#pragma unroll
        for (int u = 0; u < ahead; u++)
            if (has_piece(from, iteration, u))
#pragma unroll
                for (int i = 0; i < down; i++) {
                    x[u][i].load(from.near[i], ((iteration - first) * ahead + u) * units * 16);
                    if constexpr (S::input_sums) r.squares[i].join(x[u][i]);
                }
        // Two pages at a time, so that their loads and products overlap.
        constexpr int pages = across > 1 && !is_split ? 2 : 1;
#pragma unroll
        for (int first_g = 0; first_g < across; first_g += pages) {
            weights w[pages][ahead];
            unsigned held[pages];
            const auto exists = [&](int g) { return first_g + g < across && has_columns(from.t, first_g + g); };
#pragma unroll
            for (int g = 0; g < pages; g++) {
                if (!exists(g)) continue;
                held[g] = ring.take();
                const char *page = ring.bytes(held[g]) + from.warp * piece_bytes;
#pragma unroll
                for (int u = 0; u < ahead; u++)
                    if (has_piece(from, iteration, u)) w[g][u].load(page + u * waves * piece_bytes, from.lane);
            }
#pragma unroll
            for (int u = 0; u < ahead; u++)
#pragma unroll
                for (int g = 0; g < pages; g++)
                    if (exists(g) && has_piece(from, iteration, u))
#pragma unroll
                        for (int i = 0; i < down; i++)
                            multiply(has_odd && u % 2 ? odd[first_g + g][i] : sum[first_g + g][i], w[g][u], x[u][i]);
#pragma unroll
            for (int g = 0; g < pages; g++) {
                if (!exists(g)) continue;
                unsigned read = 0;
#pragma unroll
                for (int u = 0; u < ahead; u++)
                    if (has_piece(from, iteration, u)) read |= w[g][u].bits();
                ring.give_back(held[g], read, from.lane);
            }
        }
    }

    // The first item of results that the thread stores. If a tile has fewer items than there are threads, only some warps store. Which ones
    // changes from tile to tile; the others go on to the next tile.
    DEV static int item_of(const kept &k) { return static_cast<unsigned>(thread_index() + k.turn * TF_WAVE) % base::threads; }
    DEV static void begin(const args &p, const tile &t, int item, typename S::context &c)
    {
        const int row = t.row + base::item_row(item);
        if (base::item_row(item) >= base::tile_m || row >= S::rows(p)) return;
        c = S::begin(p, 0, row);
        base::load_early(p, t, item, c);
    }
    template <class Reader> DEV static results compute(const args &p, const row_share &from, Reader &ring, kept &k)
    {
        results r;
        sums part, odd;
        const tile &t = from.t;
        const int each = from.iterations_of_chunk();
        const bool has_rows = k.row == t.row && from.is_one_chunk();
        k.row = t.row;
        r.context = {};
        base::clear(r.of);
        if constexpr (base::folds) base::clear(part);
        if constexpr (has_odd) base::clear(odd);
        if constexpr (S::input_sums)
#pragma unroll
            for (int i = 0; i < down; i++) r.squares[i] = {};
#pragma unroll 1
        for (int first = 0; first < iterations; first += each) {
            if (has_rows) {
                begin(p, t, item_of(k), r.context);
            } else {
                chunks x;
                if (has_row_words<S> && first == 0) begin(p, t, item_of(k), r.context); // what it loads is there before the rows
                from.load(p, x, first);
                if (!has_row_words<S> && first == 0) begin(p, t, item_of(k), r.context);
                from.put(x, first);
                if (first == 0 && thread_index() == 0) ring.memory.set_calm(false);
            }
            const int end = first + each < iterations ? first + each : iterations;
#pragma unroll 1
            for (int iteration = first; iteration < end; iteration++) {
                if constexpr (base::folds)
                    take_iteration(from, iteration, first, r, part, odd, ring);
                else
                    take_iteration(from, iteration, first, r, r.of, odd, ring);
                if (base::folds && (iteration + 1) % base::folded_iterations == 0) {
                    base::add(r.of, part);
                    if constexpr (has_odd) base::add(r.of, odd);
                }
            }
        }
        if constexpr (base::folds) base::add(r.of, part);
        if constexpr (has_odd) base::add(r.of, odd);
        return r;
    }

    // ---- sums over warps, by row, then warp, then column. If a tile has at most half of its rows, successive tiles use the two halves of
    // the memory in turn, so that one barrier per tile suffices: when all warps have reached the next tile's barrier, all have read this
    // tile's sums.
    static constexpr int warps_floats = waves * base::tile_n;
    static constexpr int row_floats = warps_floats + (20 - warps_floats % 16) % 16; // 4 more than a multiple of 16: no bank conflicts
    static constexpr int half_rows = base::tile_m / 2, squares_floats = S::input_sums ? waves * base::tile_m : 0;
    static constexpr int squares_at = base::tile_m * row_floats, row_sums_at = squares_at + 2 * squares_floats; // squares[turn][wave][row]
    static constexpr int sums_bytes = (row_sums_at + (S::row_sums ? base::tile_m * base::tile_n / 2 : 0) + 3) / 4 * 16;
    static constexpr int memory_bytes = sums_bytes + rows_bytes;
    struct sum_places { // as piece_places (isa/mma_pieces.h), of a warp
        DEV static int at(int row, int column) { return row * row_floats + column; }
    };
    DEV static float of_warps(const float *number)
    {
        float all = *number;
#pragma unroll
        for (int w = 1; w < waves; w++) all += number[w * base::tile_m];
        return all;
    }
    DEV static vec<float, S::width> summed(const float *sums, int row, int column)
    {
        const float *const at = sums + sum_places::at(row, column);
        vec<float, S::width> all = load_aligned<S::width>(const_cast<float *>(at));
#pragma unroll
        for (int w = 1; w < waves; w++) all += load_aligned<S::width>(const_cast<float *>(at) + w * base::tile_n);
        return all;
    }
    struct tile_memory {
        float *sums, *squares, *row_sums;
        DEV tile_memory(float *memory, int turn, int rows)
            : sums(memory + (rows <= half_rows ? turn % 2 * half_rows * row_floats : 0)),
              squares(memory + squares_at + turn % 2 * squares_floats), row_sums(memory + row_sums_at)
        {
        }
    };
    DEV static void store(const args &p, const tile &t, typename S::context context, int item, const tile_memory &m)
    {
        const int row = base::item_row(item), column = base::item_column(item);
        if constexpr (S::input_sums) S::summed(p, context, 0, t.row + row, of_warps(m.squares + row));
        float sum = 0;
        to_memory out;
        if constexpr (base::halves) {
            if (base::whole_columns || t.column + column < S::packed_n)
                S::template columns<S::width>(p, context, 0, t.row + row, t.column + column, summed(m.sums, row, column), sum, out);
        } else if (base::whole_columns || t.column + column < S::packed_n) {
            S::template epilogue<S::width>(p, context, 0, t.row + row, t.column + column, summed(m.sums, row, column),
                                           summed(m.sums, row, column + 16), sum, out);
        }
        if constexpr (S::row_sums) m.row_sums[item] = sum;
    }
    // Of rows that do not exist, no sums are stored.
    DEV static void put_sums(const piece_results &r, float *sums, int row, int column, int rows)
    {
#pragma unroll
        for (int e = 0; e < piece_results::count; e++)
            if (row + piece_results::row(e) < rows)
                sums[sum_places::at(row + piece_results::row(e), column + piece_results::column(e))] = r.sum[e];
    }
    // Calls taken(), by all threads, once all of them have the tile's rows. If the lanes of one warp store all results, one thread calls
    // stored() after they have. Returns whether they do.
    template <class Taken, class Stored>
    DEV static bool finish(const args &p, const tile &t, results &r, float *memory, kept &k, Taken taken, Stored stored)
    {
        const int item = item_of(k), rows = S::rows(p) - t.row < base::tile_m ? S::rows(p) - t.row : base::tile_m;
        const tile_memory m(memory, k.turn, rows);
        const unsigned warp = static_cast<unsigned>(thread_index()) / 32;
        k.turn++;
        if (rows > half_rows || k.wide) barrier(); // other warps may still read the last tile's sums
        k.wide = rows > half_rows;
#pragma unroll
        for (int g = 0; g < across; g++)
#pragma unroll
            for (int i = 0; i < down; i++)
                put_sums(r.of[g][i], m.sums + warp * base::tile_n, i * piece_results::rows, g * piece_results::columns, rows);
        if constexpr (S::input_sums)
#pragma unroll
            for (int i = 0; i < down; i++)
                r.squares[i].put(m.squares + warp * base::tile_m + i * piece_results::rows);
        barrier();
        constexpr bool one_each = base::tile_m * base::per_row <= base::threads; // the items of a tile; else store() may still wait
        if (one_each) taken();
        if (item < rows * base::per_row) store(p, t, r.context, item, m);
        const bool by_one_warp = !S::row_sums && rows * base::per_row <= TF_WAVE;
        if (by_one_warp && item < TF_WAVE) {
            __syncwarp();
            if (item == 0) stored();
        }
        if constexpr (!one_each) {
#pragma unroll 1
            for (int more = item + base::threads; more < rows * base::per_row; more += base::threads) {
                typename S::context c = S::begin(p, 0, t.row + base::item_row(more));
                base::load_early(p, t, more, c);
                store(p, t, c, more, m);
            }
            barrier();
            taken();
        }
        if constexpr (S::row_sums) {
            barrier();
            for (int in = item; in < rows; in += base::threads) {
                float sum = 0;
                for (int i = 0; i < base::per_row; i++) sum += m.row_sums[in * base::per_row + i];
                S::finish_row(p, 0, t.row + in, t.column / base::tile_n, sum);
            }
        }
        return by_one_warp;
    }
};
