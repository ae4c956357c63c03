// In: one spec struct S of a matrix product (docs/spec-structs.md: gemm). Out: its program for AMD's matrix units, MFMA (isa/mfma.h) or
// WMMA (isa/wmma.h), for any M, N, K from 1. A k tile is 128 bytes of K. The waves form a grid: 2 share out the tile's rows (1 if there are
// fewer than 64), the others its columns. Refuses (static_assert) tiles that do not split evenly.
//
// With two stages, both operands are copied straight to LDS, and the two halves of the waves ping-pong between memory and matrix units;
// this needs 16-byte copies to LDS, a_plain and 512 threads. With one stage, a k tile passes through registers.
//
// Beyond the common contract S has
// - group_m: row tiles that share a column of B tiles while it is in L2
// - chiplets, chunk: see frame/chiplets.h
// - a_row(p, batch, row): rows of A, a_stride elements apart
// - a_plain: rows of A are 16-byte aligned and multiples of 16 bytes long
// - a_written (may be missing): another phase of the same launch writes A
#pragma once
#include "templates/frame/frame_interleaved.h"
#include "templates/frame/chiplets.h"
#include "templates/gemm/pieces.h"
#include "templates/gemm/row_stride.h"

template <class S, class = void> inline constexpr bool a_is_written = false;
template <class S> inline constexpr bool a_is_written<S, nothing<decltype(S::a_written)>> = S::a_written;

template <class S> struct gemm_mfma {
    using args = typename S::args;
    using a_type = typename S::a_type;
    using b_type = typename S::b_type;
    using product = matrix<a_type>;
    using packing = ::pieces<b_type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, row_bytes = 128, tile_k = row_bytes / sizeof(a_type), threads = S::threads;
    static constexpr bool direct = S::stages == 2;
    static constexpr int waves = threads / TF_WAVE, waves_m = tile_m >= 64 ? 2 : 1, waves_n = waves / waves_m, lines = threads / 8;
    static constexpr int stages = S::stages, a_bytes = tile_m * row_bytes, stage_bytes = a_bytes + tile_n * row_bytes;
    static constexpr int wave_m = tile_m / waves_m, wave_n = tile_n / waves_n, blocks = wave_n / fragment::columns;
    // without `direct`, sums of rows lie in the stage
    static constexpr int sums_bytes = S::row_sums ? tile_m * waves_n * 4 : 0, scratch_bytes = direct ? sums_bytes : 0;
    // clusters: groups of 32 rows, which a wave multiplies at a time if `direct`
    static constexpr int parts = direct ? 4 : 0, late_parts = parts / 2, clusters = wave_m / 32;
    static_assert(tile_m % (16 * waves_m) == 0 && wave_n * waves_n == tile_n && wave_n % fragment::columns == 0,
                  "tile: each wave has whole blocks of 16 rows and its columns");
    static_assert(stages == 1 || (TF_COPIES_TO_LDS && S::a_plain && S::b_plain && tile_m % 128 == 0 && tile_n % 128 == 0 && threads == 512),
                  "tile: two stages need copies to LDS: aligned rows, m and n multiples of 128, 512 threads");
    static_assert(S::granule == 16 && S::tile_k == tile_k && threads % TF_WAVE == 0,
                  "tile: granule is 16, k is 128 bytes, threads a multiple of a wave");
    static_assert(tile_n % 32 == 0, "tile: n is a multiple of 32");
    static_assert(one_type<a_type, b_type>, "both operands of a matrix instruction have one type");
    static_assert(S::a_stride * sizeof(a_type) * tile_m < 0x7fffffffu, "tile: rows of A span fewer than 2^31 bytes");

    struct tile {
        int batch, row, column; // row, column: counted in tiles
    };
    struct accumulators {
        fragment::block acc[wave_m / 16][blocks];
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    static constexpr int column_tiles = ceil_div(S::packed_n, tile_n);
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    using walk = pass_tiles<S, tile_k>;
    DEV static int k_tiles(const args &, const tile &) { return walk::all; }
    DEV static tile at(const args &p, int index)
    {
        const int rows = row_tiles(p), per_batch = rows * column_tiles,
                  turn = chiplet_tile<S::chiplets, S::chunk>(index, per_batch * S::batches(p));
        const int batch = turn / per_batch, i = turn - batch * per_batch, g = i / (S::group_m * column_tiles),
                  in = i - g * S::group_m * column_tiles;
        const int height = rows - g * S::group_m < S::group_m ? rows - g * S::group_m : S::group_m;
        return {batch, g * S::group_m + in % height, in / height};
    }

    struct staged_source {
        const args &p;
        const tile &t;
    };
#if TF_COPIES_TO_LDS
    // ---- direct loads: one instruction of a wave loads 8 rows of 128 bytes. Each 64 rows have a buffer descriptor that ends with the
    // matrix, so rows beyond read as zero.
    struct direct_source {
        buffer a[tile_m / 64], b[tile_n / 64];
        int a_offset, b_offset;
    };
    template <bool Direct, class Unused> struct choose {
        using type = direct_source;
    };
    template <class Unused> struct choose<false, Unused> {
        using type = staged_source;
    };
    using source = typename choose<direct, void>::type;

    DEV static source source_of(const args &p, const tile &t)
    {
        if constexpr (!direct)
            return {p, t};
        else {
            source s;
            const int in = line_here(), a_rows = S::rows(p) - t.row * tile_m, b_rows = S::packed_n - t.column * tile_n;
#pragma unroll
            for (int i = 0; i < tile_m / 64; i++) {
                const int left = a_rows - i * 64;
                s.a[i] = buffer_of(S::a_row(p, t.batch, t.row * tile_m + (left > 0 ? i * 64 : 0)), left * (1ll * a_stride(p)));
            }
#pragma unroll
            for (int i = 0; i < tile_n / 64; i++) {
                const int left = b_rows - i * 64;
                const int first = t.column * tile_n + (left > 0 ? i * 64 : 0);
                s.b[i] = buffer_of(S::packed(p) + first * (1ll * S::packed_k), left * (1ll * b_stride));
            }
            // The copy instruction fixes the LDS address of each lane, so the swizzle decides which 16 bytes the lane loads.
            s.a_offset = in * a_stride(p) + (piece_here() ^ fragment::a_key(in)) * 16;
            s.b_offset = packed_offset(in, piece_here() ^ fragment::b_key(in));
            return s;
        }
    }

    template <int Part> DEV static void load(const source &s, int k_tile, lds_address to)
    {
        constexpr bool is_a = Part < late_parts;
        constexpr int length = is_a ? walk::terms::row_length * sizeof(a_type) : S::packed_k * sizeof(b_type);
        constexpr int count = (is_a ? tile_m : tile_n) / 128;
        const int in = line_here(), of = is_a ? walk::of_rows(k_tile) : walk::of_columns(k_tile), at = of * row_bytes,
                  step = is_a ? at : of * packed_step;
        int offset = is_a ? s.a_offset : s.b_offset;
        if constexpr (length % row_bytes != 0) // the last k tile has 16-byte pieces beyond the row
            offset = at + (piece_here() ^ (is_a ? fragment::a_key(in) : fragment::b_key(in))) * 16 < length ? offset : beyond;
#pragma unroll
        for (int j = 0; j < count; j++) {
            const int i = Part % 2 * count + j;
            const lds_address line = to + (is_a ? 0 : a_bytes) + (i * 64 + uniform(thread_index() / 64) * 8) * row_bytes;
            if constexpr (is_a)
                copy_to_lds<a_is_written<S>>(line, s.a[i], offset, step);
            else
                copy_to_lds<false>(line, s.b[i], offset, step);
        }
    }
#else
    using source = staged_source;
    DEV static source source_of(const args &p, const tile &t) { return {p, t}; }
#endif

    // ---- compute
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &ring, accumulators &c)
    {
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++)
#pragma unroll
            for (int j = 0; j < blocks; j++) fragment::clear(c.acc[i][j]);
        if constexpr (direct)
            compute_direct(ring, c);
        else
            compute_staged(ring, c);
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++)
#pragma unroll
            for (int j = 0; j < blocks; j++)
#pragma unroll
                for (int e = 0; e < fragment::products; e++) settle(c.acc[i][j].sum[e]);
    }

    DEV static void finish(const args &p, const tile &t, accumulators &c, lds_address scratch)
    {
        if constexpr (S::row_sums && !direct) scratch = scratch - stage_bytes;
        const int wave = wave_index();
        const int n0 = t.column * tile_n + fragment::part() * 4;
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++) {
            const int in = wave / waves_n * wave_m + i * 16 + fragment::line(), row = t.row * tile_m + in;
            float sum = 0;
            to_memory out;
            if (row < S::rows(p)) {
                const auto context = S::begin(p, t.batch, row);
#pragma unroll
                for (int j = 0; j < blocks; j++) {
                    const int n = n0 + fragment::block_at(wave % waves_n * blocks + j);
                    if (n < S::packed_n)
                        S::template epilogue<4>(p, context, t.batch, row, n, fragment::low(c.acc[i][j]), fragment::high(c.acc[i][j]), sum,
                                                out);
                }
            }
            if constexpr (S::row_sums) put_sum(scratch, in, wave % waves_n, fragment::sum_over_parts(sum));
        }
        if constexpr (S::row_sums) {
            wait_lds();
            wave_group_barrier();
            const int in = thread_index(), row = t.row * tile_m + in;
            if (in < tile_m && row < S::rows(p)) S::finish_row(p, t.batch, row, t.column, get_sums(scratch, in));
            wait_lds();
            wave_group_barrier();
        }
    }

  private:
    DEV static int a_stride(const args &p) { return static_cast<int>(a_stride_of<S>(p) * sizeof(a_type)); } // bytes
    static constexpr int b_stride = S::packed_k * sizeof(b_type), V = 16 / sizeof(a_type);
    static_assert(tile_m <= threads, "tile: at least one thread for each row");

    // Bytes in a packed weight: from k tile to k tile; from the beginning of a tile to chunk `chunk` of its column `in`.
    static constexpr int packed_step = row_bytes / packing::row_bytes * packing::bytes;
    DEV static unsigned packed_offset(unsigned in, unsigned chunk)
    {
        return in / 16 * (16 * b_stride) + in % 16 / 8 * 512 + chunk / 4 * packing::bytes + chunk % 4 * 128 + in % 8 * 16;
    }
    // Of A, thread i loads piece i % 8 of lines i / 8, i / 8 + lines, and so on: a wave reads whole rows. Of B it loads chunk b_chunk(i) of
    // lines b_line(i), b_line(i) + lines, and so on: a wave reads whole packed pieces.
    DEV static unsigned b_line(unsigned thread) { return thread / 64 * 8 + thread % 8; }
    DEV static unsigned b_chunk(unsigned thread) { return thread / 8 % 8; }
    DEV static int line_here() { return wave_index() * (TF_WAVE / 8) + thread_index() % TF_WAVE / 8; }
    DEV static int piece_here() { return thread_index() % 8; }

    using operand = typename product::operand;
    // Operands of a wave for one unit (fragment::unit bytes along K): of some of its rows, and of all its columns. Swizzle keys repeat
    // every 16 rows and every block of columns, so a lane's addresses differ by constants.
    template <int Rows> struct row_operands {
        operand of[Rows];
    };
    struct column_operands {
        operand of[blocks][fragment::products];
    };
    DEV static int first_row() { return wave_index() / waves_n * wave_m; }
    DEV static void read_columns(lds_address m, int unit, column_operands &b)
    {
#pragma unroll
        for (int j = 0; j < blocks; j++)
#pragma unroll
            for (int e = 0; e < fragment::products; e++) {
                const int in = fragment::column_of(e, fragment::line()),
                          line = fragment::block_at(wave_index() % waves_n * blocks + j) + in;
                b.of[j][e] = read_operand<b_type>(m + a_bytes + line * row_bytes, unit, fragment::b_key(in));
            }
    }
    template <int Rows> DEV static void read_rows(lds_address m, int from, int unit, row_operands<Rows> &a)
    {
#pragma unroll
        for (int i = 0; i < Rows; i++) {
            const int line = first_row() + (from + i) * 16 + fragment::line();
            a.of[i] = read_operand<a_type>(m + line * row_bytes, unit, fragment::a_key(fragment::line()));
        }
    }
    template <int Rows> DEV static void multiply(accumulators &c, int from, const row_operands<Rows> &a, const column_operands &b)
    {
#pragma unroll
        for (int i = 0; i < Rows; i++)
#pragma unroll
            for (int j = 0; j < blocks; j++)
#pragma unroll
                for (int e = 0; e < fragment::products; e++) {
                    accumulator &sum = c.acc[from + i][j].sum[e];
                    sum = product::multiply(b.of[j][e], a.of[i], sum);
                }
    }

    // Ping-pong: between two barriers, one half of the waves accesses LDS while the other multiplies, as one half is a barrier behind. LDS
    // reads and writes of a half are complete before the barrier that gives the other half its turn.
    template <class Work> DEV static void memory_turn(Work work)
    {
        work();
        wait_lds();
        wave_group_barrier();
        schedule_fence();
    }
    template <class Work> DEV static void matrix_turn(Work work)
    {
        priority<1>();
        work();
        priority<0>();
        schedule_fence();
        wave_group_barrier();
        schedule_fence();
    }

#if TF_COPIES_TO_LDS
    template <class Ring> DEV static void compute_direct(Ring &ring, accumulators &c)
    {
        const int half = wave_index() / waves_n;
        wait_memory();
        wave_group_barrier();
        if (half) wave_group_barrier();
        do {
            column_operands b[2];
            direct_clusters<0>(ring, c, b);
            ring.step();
        } while (ring.k_tile < ring.k_tiles);
        if (!half) wave_group_barrier();
    }
    template <int Q, class Ring> DEV static void direct_clusters(Ring &ring, accumulators &c, column_operands (&b)[2])
    {
        row_operands<2> a[2];
        memory_turn([&] {
            const lds_address m = ring.here();
#pragma unroll
            for (int u = 0; u < 2; u++) {
                if constexpr (Q == 0) read_columns(m, u, b[u]);
                read_rows(m, Q * 2, u, a[u]);
            }
            if constexpr (Q == 0) { // copies are issued early in a k tile; the last cluster waits for them
                ring.template prefetch<0>();
                ring.template prefetch<1>();
            }
            if constexpr (Q == (clusters > 2)) {
                ring.template prefetch<2>();
                ring.template prefetch<3>();
            }
            if constexpr (Q == clusters - 1) wait_memory(); // before the barrier after which the other half reads the next k tile
        });
        matrix_turn([&] {
            multiply(c, Q * 2, a[0], b[0]);
            multiply(c, Q * 2, a[1], b[1]);
        });
        if constexpr (Q + 1 < clusters) direct_clusters<Q + 1>(ring, c, b);
    }
#else
    template <class Ring> DEV static void compute_direct(Ring &, accumulators &) {}
#endif

    // ---- staged: the next k tile is loaded into registers while this one is multiplied
    static constexpr bool pingpong = TF_WAVE == 64 && threads == 512 && waves_m == 2 && wave_m % 32 == 0;
    static constexpr int a_pieces = ceil_div(tile_m, lines), b_pieces = ceil_div(tile_n, lines);
    static_assert(a_pieces * lines == tile_m || tile_m < lines, "tile: all threads load the same number of lines");
    static_assert(b_pieces * lines == tile_n || tile_n < lines, "tile: all threads load the same number of lines");
    struct held {
        sixteen_bytes a[a_pieces], b[b_pieces];
    };

    struct staged_place {
        const char *a, *b;  // the tile's first row of A and first column of B
        int a_last, b_last; // the last existing lines; beyond, the last one is loaded again, and its results are never stored
        bool whole;         // all lines exist
    };
    DEV static staged_place place_of(const args &p, const tile &t)
    {
        staged_place s = {nullptr, nullptr, S::rows(p) - 1 - t.row * tile_m, S::packed_n - 1 - t.column * tile_n, false};
        s.a = uniform(S::a_row(p, t.batch, t.row * tile_m));
        if constexpr (S::b_plain) s.b = uniform(S::packed(p) + t.column * tile_n * (1ll * S::packed_k));
        s.whole = S::b_plain && a_pieces * lines - 1 <= s.a_last && b_pieces * lines - 1 <= s.b_last;
        return s;
    }
    DEV static int least(int x, int y) { return x < y ? x : y; }

    template <class T> DEV static sixteen_bytes packed(vec<float, V> v)
    {
        sixteen_bytes raw = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < V; i++) raw[i * 4 / V] |= storage_bits(from_float<T>::convert(v[i])) << i * 4 % V * 32 / V;
        return raw;
    }
    // The 16 bytes of a row at `at`, with zeros after the first `left` elements.
    DEV static sixteen_bytes cut(const char *at, int left)
    {
        if (left >= V) return global_read((global_address)at);
        if constexpr (walk::terms::row_length % V == 0)
            return sixteen_bytes{0, 0, 0, 0};
        else
            return packed<a_type>(::load<V>(reinterpret_cast<const a_type *>(at), left));
    }

    DEV static void hold(const args &p, const tile &t, const staged_place &s, int k_tile, bool last, held &h)
    {
        if (s.whole && (S::K % tile_k == 0 || (walk::passes == 1 ? !last : !walk::ends_pass(k_tile))))
            hold_whole(p, s, k_tile, h);
        else
            hold_part(p, t, s, k_tile, h);
    }
    DEV static void hold_whole(const args &p, const staged_place &s, int k_tile, held &h)
    {
        unsigned thread = thread_index();
        settle(thread);
        const unsigned line = thread / 8, piece = thread % 8, a_at = line * a_stride(p) + piece * 16,
                       b_at = packed_offset(b_line(thread), b_chunk(thread));
        const char *a = s.a + 1ll * walk::of_rows(k_tile) * row_bytes, *b = s.b + 1ll * walk::of_columns(k_tile) * packed_step;
#pragma unroll
        for (int i = 0; i < b_pieces; i++) h.b[i] = global_read(scalar(b + 1ll * i * lines * b_stride) + b_at);
#pragma unroll
        for (int i = 0; i < a_pieces; i++) h.a[i] = global_read(scalar(a + 1ll * i * lines * a_stride(p)) + a_at);
    }
    DEV static void hold_part(const args &p, const tile &t, const staged_place &s, int k_tile, held &h)
    {
        int thread = thread_index();
        settle(thread); // so that addresses are computed again here, and not kept in registers through the mainloop
        const int line = thread / 8, k = walk::of_rows(k_tile) * tile_k + thread % 8 * V,
                  b_k = walk::of_columns(k_tile) * tile_k + static_cast<int>(b_chunk(thread)) * V;
#pragma unroll
        for (int i = 0; i < b_pieces; i++) {
            const int n = least(static_cast<int>(b_line(thread)) + i * lines, s.b_last);
            if constexpr (!S::b_plain)
                h.b[i] = packed<b_type>(S::template b<V>(p, t.batch, t.column * tile_n + n, b_k, S::K - b_k));
            else
                h.b[i] = b_k < S::packed_k ? global_read((global_address)(s.b + packing::at(S::packed_k, n, b_k) * sizeof(b_type)))
                                           : sixteen_bytes{0, 0, 0, 0};
        }
#pragma unroll
        for (int i = 0; i < a_pieces; i++) {
            const int row = least(line + i * lines, s.a_last);
            h.a[i] = cut(s.a + 1ll * row * a_stride(p) + 1ll * k * sizeof(a_type), walk::terms::row_length - k);
        }
    }
    DEV static void put(lds_address m, const held &h)
    {
        const unsigned in = thread_index() / 8, piece = thread_index() % 8; // swizzle keys of A repeat every 16 lines, and so every `lines`
        const unsigned b_in = b_line(thread_index()), chunk = b_chunk(thread_index());
        const lds_address a = m + in * row_bytes + (piece ^ fragment::a_key(in % 16)) * 16, b = m + a_bytes + b_in * row_bytes;
        static_assert(lines % 16 == 0, "tile: at least 128 threads");
#pragma unroll
        for (int i = 0; i < a_pieces; i++)
            if (tile_m >= lines || in < tile_m) lds_write(a + i * lines * row_bytes, h.a[i]);
#pragma unroll
        for (int i = 0; i < b_pieces; i++)
            if (tile_n >= lines || b_in < tile_n)
                lds_write(b + (i * lines * row_bytes + (chunk ^ fragment::b_key((b_in + i * lines) % 32)) * 16), h.b[i]);
    }
    template <class Ring> DEV static void compute_staged(Ring &ring, accumulators &c)
    {
        const args &p = ring.from.p;
        const tile &t = ring.from.t;
        const staged_place s = place_of(p, t);
        held h;
        hold(p, t, s, 0, ring.k_tiles == 1, h);
        if constexpr (pingpong)
            compute_pingpong(ring, s, h, c);
        else
            compute_together(ring, s, h, c);
    }

    // All waves load and multiply together: if several workgroups share a compute unit, and on RDNA. Long sums are blocked sums (sums.h),
    // if registers suffice for both levels.
    static constexpr bool folds = is_long(S::K) && wave_m * wave_n / TF_WAVE <= 32;
    static constexpr int folded_k_tiles = ceil_div(static_cast<int>(root_up(S::K, 2)), tile_k);
    template <class Ring> DEV static void compute_together(Ring &ring, const staged_place &s, held &h, accumulators &c)
    {
        accumulators total = c;
        int left = folded_k_tiles;
#pragma unroll 1
        for (; ring.k_tile < ring.k_tiles; ring.k_tile++) {
            barrier(); // all have read the previous k tile, or the sums of the previous tile
            put(ring.memory, h);
            barrier();
            if (ring.k_tile + 1 < ring.k_tiles) hold(ring.from.p, ring.from.t, s, ring.k_tile + 1, ring.k_tile + 2 == ring.k_tiles, h);
            staged_from<0>(ring.memory, c);
            if (folds && --left == 0) {
                add(total, c);
                left = folded_k_tiles;
            }
        }
        if constexpr (folds) {
            add(total, c);
            c = total;
        }
        barrier();
    }
    // Adds c to total and clears c.
    DEV static void add(accumulators &total, accumulators &c)
    {
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++)
#pragma unroll
            for (int j = 0; j < blocks; j++) {
#pragma unroll
                for (int e = 0; e < fragment::products; e++) total.acc[i][j].sum[e] += c.acc[i][j].sum[e];
                fragment::clear(c.acc[i][j]);
            }
    }
    static constexpr int operand_bytes = (wave_m / 16 + blocks * fragment::products) * row_bytes / fragment::unit * sizeof(operand);
    static constexpr bool crowded = wave_m * wave_n / TF_WAVE * 4 + operand_bytes + sizeof(held) > 200 * 4;
    template <int Unit> DEV static void staged_from(lds_address m, accumulators &c)
    {
        row_operands<wave_m / 16> a;
        column_operands b;
        read_columns(m, Unit, b);
        read_rows(m, 0, Unit, a);
        multiply(c, 0, a, b);
        if constexpr (crowded) schedule_fence(); // reading further ahead would cost too many registers
        if constexpr ((Unit + 1) * fragment::unit < row_bytes) staged_from<Unit + 1>(m, c);
    }

    // Ping-pong: one half of the waves is a turn behind the other. A half reads the last of a k tile in its third memory turn and writes
    // the next k tile in its fourth. By then the other half, too, has read all of the k tile, and both halves have written before either
    // reads again. Registers hold the operands of half a k tile.
    template <class Ring> DEV static void compute_pingpong(Ring &ring, const staged_place &s, held &h, accumulators &c)
    {
        constexpr int some = wave_m / 32;
        const int half = wave_index() / waves_n;
        const lds_address m = ring.memory;
        barrier(); // all have read the sums of the previous tile
        put(m, h);
        barrier();
        if (half) wave_group_barrier();
#pragma unroll 1
        for (; ring.k_tile < ring.k_tiles; ring.k_tile++) {
            const bool more = ring.k_tile + 1 < ring.k_tiles;
            row_operands<some> a, a_next;
            column_operands b, b_next;
            memory_turn([&] {
                if (more) hold(ring.from.p, ring.from.t, s, ring.k_tile + 1, ring.k_tile + 2 == ring.k_tiles, h);
                read_columns(m, 0, b);
                read_rows(m, 0, 0, a);
            });
            matrix_turn([&] { multiply(c, 0, a, b); });
            memory_turn([&] {
                read_rows(m, some, 0, a);
                read_columns(m, 1, b_next);
            });
            matrix_turn([&] { multiply(c, some, a, b); });
            memory_turn([&] {
                read_rows(m, 0, 1, a);
                read_rows(m, some, 1, a_next);
            });
            matrix_turn([&] { multiply(c, 0, a, b_next); });
            memory_turn([&] {
                if (more) put(m, h);
            });
            matrix_turn([&] { multiply(c, some, a_next, b_next); });
        }
        if (!half) wave_group_barrier();
    }

    DEV static void put_sum(lds_address scratch, int row, int wave, float sum)
    {
        if (fragment::part() == 0) reinterpret_cast<__attribute__((address_space(3))) float *>(scratch)[row * waves_n + wave] = sum;
    }
    DEV static float get_sums(lds_address scratch, int row)
    {
        auto s = reinterpret_cast<__attribute__((address_space(3))) const float *>(scratch) + row * waves_n;
        float sum = s[0];
#pragma unroll
        for (int i = 1; i < waves_n; i++) sum += s[i];
        return sum;
    }
};
