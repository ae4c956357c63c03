// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program on vector instructions, for any M, N, K from 1.
// If S::split_k is above 1, that many workgroups share a tile's K (gemm/k_parts.h). A row's result depends on that row's data and the tile
// alone. Refuses (static_assert) tiles that do not split evenly among threads and teams.
//
// By default the program works on register tiles: shared memory holds a k-major tile of each operand in f32, and a thread has thread_m rows
// and whole epilogue blocks of columns. If a workgroup has several times the threads that a tile needs, they form teams, which share out
// each k tile and add up their sums at the end. If, besides, each thread has all rows of the tile (thread_m = m), the skinny program is
// used, in which waves split K: gemm_skinny below or, if B is [K, N], gemm_skinny_across.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/gemm/gemm_skinny_across.h"
#include "templates/gemm/k_parts.h"
#include "templates/gemm/pieces.h"

// V elements of column n of B from k on, along K.
template <class S, int V> DEV vec<float, V> load_b(const typename S::args &p, int batch, int n, int k)
{
    if constexpr (S::b_plain)
        return pieces<typename S::b_type>::template load<V>(S::packed(p), S::packed_k, n, k);
    else
        return S::template b<V>(p, batch, n, k, S::K - k);
}

template <class S> struct gemm_tiles {
    using args = typename S::args;
    using in_list = mixed_in_list;
    using packing = pieces<typename S::b_type>;
    static constexpr int team = S::tile_m / S::thread_m * (S::tile_n / S::thread_n), teams = S::threads / team;
    // width, vectors and vector() are what k_parts.h needs
    struct accumulators : simt_fragment<S::tile_n, S::thread_m, S::thread_n, S::granule, S::width, team> {
        using fragment = simt_fragment<S::tile_n, S::thread_m, S::thread_n, S::granule, S::width, team>;
        static constexpr int width = S::width, vectors = 2 * S::thread_m * fragment::blocks;
        DEV vec<float, width> &vector(int i)
        {
            const int row = i / 2 / fragment::blocks, block = i / 2 % fragment::blocks;
            return i % 2 ? this->high[row][block] : this->low[row][block];
        }
    };
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, threads = S::threads, stages = S::stages;
    static constexpr int lanes = accumulators::lanes, column_tiles = ceil_div(S::packed_n, tile_n);
    static constexpr int V = tile_k % 8 == 0 ? 8 : 1; // adjacent elements of a row that a thread loads at a time
    // Rows of a stage are padded by four floats, so that stores of adjacent k fall into different banks.
    static constexpr int pad = TF_WAVE == 1 ? 0 : 4;
    static_assert(teams * team == threads && tile_k % teams == 0, "tile: threads = teams * team, and teams divide k");

    struct tile {
        int batch, row, column; // of the first element; column is a packed column
        int part, index;        // the split-K slice; the tile's number
    };
    struct alignas(16) stage {
        float a[tile_k][tile_m + pad], b[tile_k][tile_n + pad];
    };
    struct scratch {
        float sums[S::row_sums ? tile_m * lanes : 1];
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    DEV static int whole_tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    DEV static int tiles(const args &p) { return whole_tiles(p) * S::split_k; }
    DEV static tile at(const args &p, int item)
    {
        const int part = S::split_k == 1 ? 0 : item / whole_tiles(p), index = S::split_k == 1 ? item : item % whole_tiles(p);
        const int each = row_tiles(p) * column_tiles, in = index % each;
        return {index / each, in / column_tiles * tile_m, in % column_tiles * tile_n, part, index};
    }
    using parts = k_parts<S, accumulators, team>;
    static constexpr int all_k_tiles = ceil_div(S::K, tile_k), most_k_tiles = ceil_div(all_k_tiles, S::split_k);
    static_assert(S::split_k >= 1 && S::split_k <= all_k_tiles, "tile: each slice of split_k has at least one k tile");
    DEV static int first_k(const tile &t) { return S::split_k == 1 ? 0 : parts::first(t.part, all_k_tiles) * tile_k; }
    DEV static int k_tiles(const args &, const tile &t)
    {
        return S::split_k == 1 ? all_k_tiles : parts::first(t.part + 1, all_k_tiles) - parts::first(t.part, all_k_tiles);
    }

    // Which V elements along k of which lines (rows of A, columns of B) each thread loads. Adjacent threads have elements adjacent along k,
    // as rows lie in memory (Side = 1), or eight adjacent lines, as packed columns lie (Side = 8, gemm/pieces.h).
    template <int Lines, int Side> struct dealt {
        static constexpr int units = tile_k / V, count = Lines * units, each = ceil_div(count, threads);
        static_assert(Lines % Side == 0, "tile: Side divides the columns");
        vec<float, V> x[each];

        DEV static int item(int i) { return thread_index() + i * threads; }
        DEV static int line(int i) { return item(i) / (units * Side) * Side + item(i) % Side; }
        DEV static int k(int i) { return item(i) / Side % units * V; }
        DEV static bool exists(int i) { return count % threads == 0 || thread_index() + i * threads < count; }
    };
    // V adjacent elements of a row of A, [K, M], or of B, [K, N]: adjacent threads have adjacent pieces of the row.
    template <int Lines> struct dealt_across {
        static constexpr int units = ceil_div(Lines, V), count = tile_k * units, each = ceil_div(count, threads);
        vec<float, V> x[each];

        DEV static int item(int i) { return thread_index() + i * threads; }
        DEV static int line(int i) { return item(i) % units * V; } // the first one
        DEV static int k(int i) { return item(i) / units; }
        DEV static bool exists(int i) { return count % threads == 0 || thread_index() + i * threads < count; }
    };
    template <bool Across, int Lines, int Side> struct dealt_of : dealt<Lines, Side> {
    };
    template <int Lines, int Side> struct dealt_of<true, Lines, Side> : dealt_across<Lines> {
    };
    static_assert(!S::b_across || S::granule % V == 0, "granule is a multiple of V for B as [K, N]");
    using a_pieces = dealt_of<S::a_across, tile_m, 1>;
    using b_pieces = dealt_of<S::b_across, tile_n, TF_WAVE == 1 ? 1 : 8>;

    DEV static vec<float, V> a_piece(const args &p, const tile &t, int k0, int i)
    {
        const int row = t.row + a_pieces::line(i), k = k0 + a_pieces::k(i);
        if (row >= S::rows(p) || k >= S::K) return splat<V>(0.0f);
        if constexpr (S::a_across) return S::template a_row<V>(p, t.batch, k, row);
        else return S::template a<V>(p, t.batch, row, k, S::K - k);
    }
    DEV static vec<float, V> b_piece(const args &p, const tile &t, int k0, int i)
    {
        const int n = t.column + b_pieces::line(i), k = k0 + b_pieces::k(i);
#if TF_WAVE == 1 // a CPU's cache line holds 16 bytes of each of 4 columns: every fourth column prefetches a line of the next k tile
        if constexpr (S::b_plain)
            if (n % 4 == 0 && n < S::packed_n && k + tile_k < S::packed_k)
                __builtin_prefetch(S::packed(p) + packing::at(S::packed_k, n, k + tile_k));
#endif
        if (n >= S::packed_n || k >= S::K) return splat<V>(0.0f);
        if constexpr (S::b_across) return S::template b_row<V>(p, t.batch, k, n);
        else return load_b<S, V>(p, t.batch, n, k);
    }
    DEV static void put_a(stage &s, int i, const vec<float, V> &x)
    {
        const int k = a_pieces::k(i), row = a_pieces::line(i);
        if constexpr (S::a_across && tile_m % V == 0) {
            store_aligned<V>(&s.a[k][row], x);
        } else {
#pragma unroll
            for (int e = 0; e < V; e++) {
                if constexpr (S::a_across) { // a tile of fewer rows than a piece has
                    if (row + e < tile_m) s.a[k][row + e] = x[e];
                } else {
                    s.a[k + e][row] = x[e];
                }
            }
        }
    }
    DEV static void put_b(stage &s, int i, const vec<float, V> &x)
    {
        const int k = b_pieces::k(i), at = accumulators::place(b_pieces::line(i));
        if constexpr (S::b_across) {
            store_aligned<V>(&s.b[k][at], x);
        } else {
#pragma unroll
            for (int e = 0; e < V; e++) s.b[k + e][at] = x[e];
        }
    }

    DEV static void load(const args &p, const tile &t, int k_tile, stage &s)
    {
#pragma unroll 1
        for (int i = 0; i < a_pieces::each; i++)
            if (a_pieces::exists(i)) put_a(s, i, a_piece(p, t, first_k(t) + k_tile * tile_k, i));
#pragma unroll 1
        for (int i = 0; i < b_pieces::each; i++)
            if (b_pieces::exists(i)) put_b(s, i, b_piece(p, t, first_k(t) + k_tile * tile_k, i));
    }
#if TF_WAVE > 1
    struct staged {
        a_pieces a;
        b_pieces b;
    };
    DEV static void fetch(const args &p, const tile &t, int k_tile, staged &to)
    {
#pragma unroll
        for (int i = 0; i < a_pieces::each; i++)
            if (a_pieces::exists(i)) to.a.x[i] = a_piece(p, t, first_k(t) + k_tile * tile_k, i);
#pragma unroll
        for (int i = 0; i < b_pieces::each; i++)
            if (b_pieces::exists(i)) to.b.x[i] = b_piece(p, t, first_k(t) + k_tile * tile_k, i);
    }
    DEV static void land(const staged &from, stage &s)
    {
#pragma unroll
        for (int i = 0; i < a_pieces::each; i++)
            if (a_pieces::exists(i)) put_a(s, i, from.a.x[i]);
#pragma unroll
        for (int i = 0; i < b_pieces::each; i++)
            if (b_pieces::exists(i)) put_b(s, i, from.b.x[i]);
    }
#endif

    // Long sums are blocked sums (sums.h), of as many levels as registers allow; on a CPU the upper levels lie in memory. With a third
    // level AMD's compilers spill.
#if defined(TF_TARGET_AMD)
    static constexpr int most_levels = 2;
#else
    static constexpr int most_levels = TF_WAVE == 1 ? 4 : S::thread_m * S::thread_n <= 32 ? 3 : 2;
#endif
    static constexpr int length = (S::split_k == 1 ? S::K : most_k_tiles * tile_k) / teams; // the most terms of a thread's sum
    static constexpr int levels = sum_levels(length, 512, most_levels), step = static_cast<int>(root_up(length, levels));
    static constexpr int least_k_tiles = ceil_div(step, tile_k / teams); // k tiles that a sum of the lowest level covers
    static constexpr int next_step =
        levels == 1 ? 1 : static_cast<int>(root_up(ceil_div(most_k_tiles, least_k_tiles), levels - (levels > 1)));

    template <class Ring> DEV static void multiply_k_tile(Ring &ring, accumulators &c)
    {
        stage &s = ring.wait();
        ring.prefetch();
#pragma unroll 4
        for (int i = 0; i < tile_k / teams; i++) {
            const int k = teams == 1 ? i : thread_index() / team * (tile_k / teams) + i;
            c.multiply(s.a[k], s.b[k]);
        }
        ring.release();
    }
    // Adds the sums of the other teams to those of the first, one team after the other, through the memory of the stages.
    template <class Ring> DEV static void join_teams(Ring &ring, accumulators &c)
    {
        static_assert(sizeof(stage) * stages >= sizeof(float) * tile_m * tile_n, "tile: the stages have room for a team's sums");
        float *const sums = reinterpret_cast<float *>(&ring.at(0)) + thread_index() % team * S::width;
#pragma unroll 1
        for (int from = 1; from < teams; from++) {
            barrier();
            if (thread_index() / team == from)
#pragma unroll
                for (int i = 0; i < accumulators::vectors; i++) store_aligned<S::width>(sums + i * team * S::width, c.vector(i));
            barrier();
            if (thread_index() < team)
#pragma unroll
                for (int i = 0; i < accumulators::vectors; i++) c.vector(i) += load_aligned<S::width>(sums + i * team * S::width);
        }
    }
    // Sums the k tiles up to `end` into c: on level 1 one after the other, on higher levels as a sum of sums of the level below. size: k
    // tiles that a sum of this level covers.
    template <int Level, class Ring> DEV static void sum_k_tiles(Ring &ring, accumulators &c, int size, int end)
    {
        c.clear();
        while (ring.k_tile < end) {
            if constexpr (Level == 1)
                multiply_k_tile(ring, c);
            else {
                const int next = ring.k_tile + size / next_step;
                accumulators part;
                sum_k_tiles<Level - 1>(ring, part, size / next_step, next < end ? next : end);
                c.add(part);
            }
        }
    }
    static constexpr int k_tiles_of(int level) { return level == 1 ? least_k_tiles : next_step * k_tiles_of(level - 1); }
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &ring, accumulators &c)
    {
        sum_k_tiles<levels>(ring, c, k_tiles_of(levels), ring.k_tiles);
        if constexpr (teams > 1) join_teams(ring, c);
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, scratch &s)
    {
        if constexpr (S::split_k > 1)
            if (!parts::meet(p, t.index, t.part, c)) return;
        const int rows = S::rows(p);
#pragma unroll
        for (int i = 0; i < S::thread_m; i++) {
            const int row = t.row + accumulators::row(i);
            float sum = 0;
            to_memory out;
            if (row < rows && thread_index() < team) {
                const typename S::context context = S::begin(p, t.batch, row);
#pragma unroll
                for (int j = 0; j < accumulators::blocks; j++) {
                    const int n = t.column + accumulators::column(j);
                    if (n < S::packed_n) S::template epilogue<S::width>(p, context, t.batch, row, n, c.low[i][j], c.high[i][j], sum, out);
                }
            }
            if constexpr (S::row_sums)
                if (thread_index() < team) s.sums[accumulators::row(i) * lanes + accumulators::lane()] = sum;
        }
        if constexpr (S::row_sums) {
            barrier();
            for (int in = thread_index(); in < tile_m && t.row + in < rows; in += threads) {
                float all = 0;
                for (int l = 0; l < lanes; l++) all += s.sums[in * lanes + l];
                S::finish_row(p, t.batch, t.row + in, t.column / tile_n, all);
            }
        }
    }
};

// The skinny program (SIMT GEMV) for a B with K contiguous: each row tile reads B once, at the speed of memory. A wave has all rows of the
// tile and one epilogue block of columns. `side` adjacent lanes share out its columns (a lane has every side-th one) and have the same
// chunk of K; other lanes, and other waves, have other chunks. At the end the sums of lanes, then of waves, are added up in a fixed order.
// With thread_n = 4, eight adjacent lanes read packed pieces in whole cache lines. With thread_n = 8, eight lanes of a wave read 128
// adjacent bytes of a row of B, if B is stored in rows.
template <class S> struct skinny_lanes {
    static constexpr int width = 2 * S::granule, columns = S::thread_n, side = width / columns, chunks = TF_WAVE / side;
    static constexpr int sharing = S::threads / TF_WAVE / (S::tile_n / width), V = 16 / sizeof(typename S::b_type); // V: 16 bytes of K
    static constexpr int stride = sharing * chunks * V;
    static_assert(S::thread_m == S::tile_m, "tile: thread_m = m");
    static_assert(side * columns == width && chunks > 0, "tile: thread_n divides the columns");
    static_assert(sharing * (S::tile_n / width) * TF_WAVE == S::threads, "tile: threads is a multiple of a wave");
};
template <class S> struct gemm_skinny : skinny_results<S, skinny_lanes<S>::stride, skinny_lanes<S>::sharing> {
    using results = skinny_results<S, skinny_lanes<S>::stride, skinny_lanes<S>::sharing>;
    using typename results::args;
    using typename results::scratch;
    using typename results::tile;
    using results::first_k;
    using results::iterations;
    using results::place;
    using results::tile_m;
    using results::width;
    static constexpr int columns = S::thread_n, side = width / columns, chunks = TF_WAVE / side; // chunks of K that a wave reads at a time
    static constexpr int sharing = skinny_lanes<S>::sharing, V = skinny_lanes<S>::V, stride = skinny_lanes<S>::stride;
    static constexpr int each = tile_m * columns;
    using packing = pieces<typename S::b_type>;

    // If a lane has more than most_terms terms of a sum, the sum is blocked: a lane adds 128 terms, the lanes' sums are added up, and their
    // sum joins those of earlier blocks. If registers suffice, a lane adds up f32 operands in four independent chains, one for each element
    // of a load.
    static constexpr int chains = V == 4 && each * V <= 32 ? V : 1, most_terms = S::split_k > 1 ? 128 : chains > 1 ? 512 : 1024;
    // After fold() a lane has `left` sums. Groups of `alike` lanes have the same sum, which one lane of a group writes.
    static constexpr int alike = each < chunks ? chunks / each : 1;
    static constexpr int left = each > chunks ? each / chunks : 1, iterations_folded = 128 / V;
    static constexpr bool folds = iterations * V > most_terms;
    static constexpr int blocks_folded = folds ? ceil_div(iterations, iterations_folded) : 1;
    // Iterations whose loads are in flight together, as registers allow: up to 4; on AMD, where a wave has twice as many lanes, up to 2. A
    // single one is faster in f32 with 4 or 8 rows and 256 threads, because units then hold more workgroups (H200, 8x14336x4096: 61 us;
    // with two 71 us).
#if defined(TF_TARGET_AMD)
    static constexpr int most_ahead = 2;
#else
    static constexpr int most_ahead = V == 4 && tile_m >= 4 && S::threads <= 256 ? 1 : 4;
#endif
    static constexpr int registers = S::threads <= 256 ? 132 : 65536 / S::threads;
    static constexpr int other_registers = 32 + each * chains + 2 * tile_m + (V > 4 ? 8 : 0);
    static constexpr bool fits(int iterations) { return other_registers + iterations * (V + 4 * columns) <= registers; }
    static constexpr int ahead = !S::b_plain                                         ? 1
                                 : most_ahead >= 4 && iterations > 2 && fits(4) ? 4
                                 : most_ahead >= 2 && iterations > 1 && fits(2) ? 2
                                                                                : 1;
    struct chain_sums {
        float of[each][chains];
    };
    static constexpr int levels = sum_levels(blocks_folded, left == 1 ? 8 : 64);
    struct accumulators {
        float sum[each];
        running<take_sum, left, levels, static_cast<int>(root_up(blocks_folded, levels))> folded;
    };

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &, accumulators &c)
    {
        const int lane = thread_index() % TF_WAVE, column = t.column + wave_of_thread() / sharing * width + lane % side,
                  first = first_k(t, t.part) + (wave_of_thread() % sharing * chunks + lane / side) * V, end = first_k(t, t.part + 1);
        clear(c);
        if (column >= S::packed_n) return;
        if constexpr (!folds)
            multiply(p, t, c, column, first, end);
        else
#pragma unroll 1
            for (int block = 0; block < blocks_folded; block++) { // as many for each lane, as all call fold(); the last may be empty
                const int from = first + block * iterations_folded * stride, to = from + iterations_folded * stride;
                multiply(p, t, c, column, from, to < end ? to : end);
                fold<each, TF_WAVE / 2>(c, 0);
                vec<float, left> sums;
#pragma unroll
                for (int i = 0; i < left; i++) sums[i] = c.sum[i];
                c.folded.join(sums);
                clear(c);
            }
    }
    DEV static void clear(accumulators &c)
    {
#pragma unroll
        for (int i = 0; i < each; i++) c.sum[i] = 0.0f;
    }
    DEV static void multiply(const args &p, const tile &t, accumulators &c, int column, int from, int to)
    {
        chain_sums sum = {};
        int k = from;
        if constexpr (ahead == 1) {
            for (; k < to; k += stride) multiply_ahead<true>(p, t, sum, column, k, to);
        } else {
#pragma unroll 1
            for (; to - k > (ahead - 1) * stride; k += ahead * stride) multiply_ahead<true>(p, t, sum, column, k, to);
            if (k < to) multiply_ahead<false>(p, t, sum, column, k, to);
        }
#pragma unroll
        for (int i = 0; i < each; i++) {
            c.sum[i] = sum.of[i][0];
            if constexpr (chains == 4) c.sum[i] = (sum.of[i][0] + sum.of[i][1]) + (sum.of[i][2] + sum.of[i][3]);
        }
    }
    // Adds the products of `ahead` iterations to sum. All: all of them begin before `to`; if not, those from `to` on add zeros. In place of
    // rows that do not exist the last row is read.
    template <bool All> DEV static void multiply_ahead(const args &p, const tile &t, chain_sums &sum, int column, int k, int to)
    {
        const int last_row = S::rows(p) - 1;
        typename b_loads::type b[ahead][columns] = {};
#pragma unroll
        for (int u = 0; u < ahead; u++)
            if (All || k + u * stride < to)
#pragma unroll
                for (int j = 0; j < columns; j++) b[u][j] = b_loads::load(p, t, column, k, j, u);
#pragma unroll
        for (int i = 0; i < tile_m; i++) {
            const int row = i == 0 || t.row + i < last_row ? t.row + i : last_row;
            vec<float, V> a[ahead];
#pragma unroll
            for (int u = 0; u < ahead; u++) {
                const int at = k + u * stride;
                a[u] = All || at < to ? S::template a<V>(p, t.batch, row, at, S::K - at) : splat<V>(0.0f);
            }
#pragma unroll
            for (int u = 0; u < ahead; u++)
#pragma unroll
                for (int j = 0; j < columns; j++)
#pragma unroll
                    for (int e = 0; e < V; e++) {
                        float &chain = sum.of[i * columns + j][e % chains];
                        chain = fused(a[u][e], b[u][j][e], chain);
                    }
        }
    }
    // What a lane loads of a column.
    using line = neighbours<typename S::b_type, V>;
    struct loaded {
        line raw;
        DEV float operator[](int e) const { return to_float(raw.e[e]); }
    };
    template <bool Raw, class Any = void> struct loads_of_b {
        using type = loaded;
        // In packed pieces, all that a lane reads lies at constant distances from what it reads first.
        DEV static type load(const args &p, const tile &, int column, int k, int j, int u)
        {
            if constexpr (S::b_plain)
                return {load_once(reinterpret_cast<const line *>(S::packed(p) + packing::at(S::packed_k, column, k) +
                                                                 packing::at(S::packed_k, j * side, u * stride)))};
        }
    };
    template <class Any> struct loads_of_b<false, Any> {
        using type = vec<float, V>;
        DEV static type load(const args &p, const tile &t, int column, int k, int j, int u)
        {
            return load_b<S, V>(p, t.batch, column + j * side, k + u * stride);
        }
    };
    using b_loads = loads_of_b<S::b_plain && stride % packing::length == 0>;

    // Adds up the sums of the lanes of a wave that have the same columns. In each step a lane keeps half of its sums and gives the other
    // half away, so a step exchanges half as many as the one before. The sums that a lane ends up with are the first ones of c.sum. Returns
    // the index that the first of them had at the start.
    template <int Count, int Mask> DEV static int fold(accumulators &c, int first)
    {
        if constexpr (Mask < side)
            return first;
        else if constexpr (Count == 1) {
            c.sum[0] += lane_xor<TF_WAVE>(c.sum[0], Mask);
            return fold<1, Mask / 2>(c, first);
        } else {
            const bool upper = thread_index() & Mask;
#pragma unroll
            for (int i = 0; i < Count / 2; i++) {
                const float low = c.sum[i], high = c.sum[i + Count / 2];
                c.sum[i] = (upper ? high : low) + lane_xor<TF_WAVE>(upper ? low : high, Mask);
            }
            return fold<Count / 2, Mask / 2>(c, first + (upper ? Count / 2 : 0));
        }
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, scratch &s)
    {
        static_assert((each & (each - 1)) == 0, "tile: tile_m is a power of two");
        const int first = fold<each, TF_WAVE / 2>(c, 0), lane = thread_index() % TF_WAVE;
        const vec<float, left> sums = c.folded.total();
#pragma unroll
        for (int i = 0; i < left; i++) {
            const int at = place((first + i) / columns, (first + i) % columns * side + lane % side);
            if (lane / side % alike == 0) s.part[wave_of_thread() / sharing][wave_of_thread() % sharing][at] = folds ? sums[i] : c.sum[i];
        }
        results::finish_tile(p, t, s);
    }
};
template <class S, bool Few, bool Across> struct gemm_program : gemm_tiles<S> {
};
template <class S> struct gemm_program<S, true, false> : gemm_skinny<S> {
};
template <class S> struct gemm_program<S, true, true> : gemm_skinny_across<S> {
};
template <class S>
struct gemm : gemm_program<S, S::thread_m == S::tile_m && (S::threads > S::tile_n / S::thread_n), S::b_across> {
};
