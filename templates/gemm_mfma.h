// In: one spec struct S of a matrix product (docs/architecture.md: gemm). Out: its program for matrix units: 8 waves, 2 x 4, each with
// tile_m / 2 x 64 of a tile of {64, 128, 256} x 256 x 128 bytes; operands are swapped, so that a lane's results are columns of one row.
// Refuses (static_assert) other tiles. Any M, N, K from 1.
//
// Beyond the common contract S has: group: row tiles that share a column of B tiles while it is in L2; a_written: A may be written by
// this launch. Where copies to LDS are 16 bytes wide (gfx950) and both operands lie in rows of 16 bytes, they are copied directly, two
// slots in turn; else a stage passes through registers into the one slot.
#pragma once

template <class S> struct gemm_mfma {
    using args = typename S::args;
    using type = typename S::a_type;
    using product = matrix<type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, row_bytes = 128, tile_k = row_bytes / sizeof(type), threads = 512;
    static constexpr bool direct = TF_GFX >= 0x950 && S::a_plain && tile_m >= 128;
    static constexpr int slots = direct ? 2 : 1, a_bytes = tile_m * row_bytes, slot_bytes = a_bytes + tile_n * row_bytes;
    static constexpr int wave_m = tile_m / 2, wave_n = tile_n / 4, clusters = wave_m / 32;
    static constexpr int sums_bytes = S::row_sums ? tile_m * 4 * 4 : 0, scratch_bytes = direct ? sums_bytes : 0; // else in the slot
    static constexpr int parts = direct ? 4 : 0, late_parts = parts / 2;
    static constexpr bool copies = false;
    static_assert((tile_m == 64 || tile_m == 128 || tile_m == 256) && tile_n == 256, "tile: 8 waves of 64 columns");
    static_assert(S::granule == 4 && S::b_plain && S::tile_k == tile_k && S::threads == threads, "tile: granule 4, packed B, rows of 128 bytes");

    struct tile {
        int batch, row, column; // in tiles
    };
    struct carry {
        accumulator acc[wave_m / 16][wave_n / 16];
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    static constexpr int column_tiles = ceil_div(S::packed_n, tile_n);
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    DEV static int stages(const args &, const tile &) { return ceil_div(S::K, tile_k); }
    DEV static tile at(const args &p, int index)
    {
        const int rows = row_tiles(p), per_batch = rows * column_tiles, batch = index / per_batch;
        const int i = index - batch * per_batch, g = i / (S::group * column_tiles), in = i - g * S::group * column_tiles;
        const int height = rows - g * S::group < S::group ? rows - g * S::group : S::group;
        return {batch, g * S::group + in % height, in / height};
    }

    struct staged_source {
        const args &p;
        const tile &t;
    };
#if TF_GFX >= 0x950
    // ---- direct loads: an instruction of a wave brings 8 rows of 128 bytes; 64 rows have a buffer, so rows that do not exist are zero
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
        if constexpr (!direct) return {p, t};
        else {
            source s;
            const int in = line_here(), a_rows = S::rows(p) - t.row * tile_m, b_rows = S::packed_n - t.column * tile_n;
#pragma unroll
            for (int i = 0; i < tile_m / 64; i++) {
                const int left = a_rows - i * 64;
                s.a[i] = buffer_of(S::a_row(p, t.batch, t.row * tile_m + (left > 0 ? i * 64 : 0)), left * (a_stride * 1ll));
            }
#pragma unroll
            for (int i = 0; i < tile_n / 64; i++) {
                const int left = b_rows - i * 64;
                s.b[i] = buffer_of(S::b_row(p, t.batch, t.column * tile_n + (left > 0 ? i * 64 : 0)), left * (b_stride * 1ll));
            }
            // These copies fix the place in LDS, so the swizzle is in which 16 bytes a lane asks for.
            s.a_offset = in * a_stride + (piece_here() ^ a_key(in)) * 16;
            s.b_offset = in * b_stride + (piece_here() ^ b_key(in)) * 16;
            return s;
        }
    }

    template <int Part> DEV static void load(const source &s, int stage, lds_address to)
    {
        constexpr bool is_a = Part < late_parts;
        constexpr int length = (is_a ? S::K : S::packed_k) * sizeof(type), count = (is_a ? tile_m : tile_n) / 128;
        const int in = line_here(), step = stage * row_bytes;
        int offset = is_a ? s.a_offset : s.b_offset;
        if constexpr (length % row_bytes != 0) // the last stage has 16-byte pieces beyond the row
            offset = step + (piece_here() ^ (is_a ? a_key(in) : b_key(in))) * 16 < length ? offset : beyond;
#pragma unroll
        for (int j = 0; j < count; j++) {
            const int i = Part % 2 * count + j;
            const lds_address line = to + (is_a ? 0 : a_bytes) + (i * 64 + uniform(thread_index() / 64) * 8) * row_bytes;
            if constexpr (is_a) copy_to_lds<S::a_written>(line, s.a[i], offset, step);
            else copy_to_lds<false>(line, s.b[i], offset, step);
        }
    }
#else
    using source = staged_source;
    DEV static source source_of(const args &p, const tile &t) { return {p, t}; }
#endif

    // ---- compute
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &ring, carry &c)
    {
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++)
#pragma unroll
            for (int j = 0; j < wave_n / 16; j++) c.acc[i][j] = {0, 0, 0, 0};
        if constexpr (direct) compute_direct(ring, c);
        else compute_staged(ring, c);
    }

    DEV static void finish(const args &p, const tile &t, carry &c, lds_address scratch)
    {
        if constexpr (S::row_sums && !direct) scratch = scratch - slot_bytes;
        const int wave = uniform(thread_index() / 64);
        const int n0 = t.column * tile_n + wave % 4 * wave_n + fragment::quad() * 8;
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++) {
            const int in = wave / 4 * wave_m + i * 16 + fragment::line(), row = t.row * tile_m + in;
            float sum = 0;
            if (row < S::rows(p)) {
                const auto context = S::begin(p, t.batch, row);
#pragma unroll
                for (int j = 0; j < wave_n / 32; j++) {
                    const int n = n0 + j * 32;
                    vec<float, 4> lo, hi;
#pragma unroll
                    for (int e = 0; e < 4; e++) lo[e] = c.acc[i][2 * j][e], hi[e] = c.acc[i][2 * j + 1][e];
                    if (n < S::packed_n) S::template epilogue<4>(p, context, t.batch, row, n, lo, hi, sum);
                }
            }
            if constexpr (S::row_sums) put_sum(scratch, in, wave % 4, sum_over_quads(sum));
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
    static constexpr int a_stride = S::K * sizeof(type), b_stride = S::packed_k * sizeof(type), V = 16 / sizeof(type);
    static_assert(b_stride % 16 == 0, "tile: packed rows are whole pieces of 16 bytes");

    // Thread i loads piece i % 8 of lines i / 8, i / 8 + 64, ...: a wave reads 8 whole rows.
    DEV static int line_here() { return uniform(thread_index() / 64) * 8 + thread_index() % 64 / 8; }
    DEV static int piece_here() { return thread_index() % 8; }

    // Which of a row's eight 16-byte pieces lies first: rows that one read touches together fall into different banks.
    DEV static int a_key(int row) { return row % 8; }
    DEV static int b_key(int row) { return row % 4 | row / 8 % 2 * 4; }

    // Line i of product j is column (j / 2) * 32 + 8 * (i / 4) + 4 * (j % 2) + i % 4: so a lane's results of two products are 8 columns.
    DEV static int b_line(int j, int i) { return j / 2 * 32 + i / 4 * 8 + j % 2 * 4 + i % 4; }

    using operand = typename product::operand;
    struct operands {
        operand a[2][2], b[2][wave_n / 16];
    };

    DEV static void read_b(lds_address m, int column, operands &o)
    {
#pragma unroll
        for (int j = 0; j < wave_n / 16; j++) {
            const int line = column + b_line(j, fragment::line());
#pragma unroll
            for (int kk = 0; kk < 2; kk++)
                o.b[kk][j] = lds_read<operand>(m + line * row_bytes + (kk * 4 + fragment::quad() ^ b_key(line)) * 16);
        }
    }
    DEV static void read_a(lds_address m, int row, operands &o)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int line = row + i * 16 + fragment::line();
#pragma unroll
            for (int kk = 0; kk < 2; kk++)
                o.a[kk][i] = lds_read<operand>(m + line * row_bytes + (kk * 4 + fragment::quad() ^ a_key(line)) * 16);
        }
    }
    template <int Q> DEV static void read(lds_address m, operands &o)
    {
        const int wave = uniform(thread_index() / 64);
        if constexpr (Q == 0) read_b(m + a_bytes, wave % 4 * wave_n, o);
        read_a(m, wave / 4 * wave_m + Q * 32, o);
    }
    template <int Q> DEV static void multiply(carry &c, const operands &o)
    {
#pragma unroll
        for (int kk = 0; kk < 2; kk++)
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < wave_n / 16; j++)
                    c.acc[Q * 2 + i][j] = product::multiply(o.b[kk][j], o.a[kk][i], c.acc[Q * 2 + i][j]);
    }

    // Direct: the two halves of the waves take turns with memory and matrix units, one of them half a step behind.
    template <class Ring> DEV static void compute_direct(Ring &ring, carry &c)
    {
        const int half = uniform(thread_index() / 64) / 4;
        wait_memory();
        wave_group_barrier();
        if (half) wave_group_barrier();
        do {
            operands o;
            direct_clusters<0>(ring, c, o);
            ring.step();
        } while (ring.stage < ring.stages);
        if (!half) wave_group_barrier();
    }
    template <int Q, class Ring> DEV static void direct_clusters(Ring &ring, carry &c, operands &o)
    {
        read<Q>(ring.here(), o);
        if constexpr (Q == 0) { // half the stage's clusters lie between a copy and the wait for it
            ring.template pump<0>();
            ring.template pump<1>();
        }
        if constexpr (Q == (clusters > 2)) {
            ring.template pump<2>();
            ring.template pump<3>();
        }
        if constexpr (Q == clusters - 1) wait_memory(); // before the barrier that precedes the other half's next stage, too
        wait_lds();                                      // reads are over before a barrier lets anyone copy into their slot
        wave_group_barrier();
        schedule_fence();
        priority<1>();
        multiply<Q>(c, o);
        priority<0>();
        schedule_fence();
        wave_group_barrier();
        schedule_fence();
        if constexpr (Q + 1 < clusters) direct_clusters<Q + 1>(ring, c, o);
    }

    // Staged: the next stage comes into registers while this one is multiplied.
    struct held {
        sixteen_bytes a[tile_m / 64], b[tile_n / 64];
    };
    DEV static sixteen_bytes held_a(const args &p, const tile &t, int in, int k)
    {
        const int row = t.row * tile_m + in;
        if (row >= S::rows(p) || k >= S::K) return sixteen_bytes{0, 0, 0, 0};
        if constexpr (S::a_plain) return *reinterpret_cast<const sixteen_bytes *>(S::a_row(p, t.batch, row) + k);
        else {
            const vec<float, V> v = S::template a<V>(p, t.batch, row, k, S::K - k);
            sixteen_bytes raw = {0, 0, 0, 0};
#pragma unroll
            for (int i = 0; i < V; i++) raw[i * 4 / V] |= storage_bits(from_float<type>::convert(v[i])) << i * 4 % V * 32 / V;
            return raw;
        }
    }
    DEV static void hold(const staged_source &s, int stage, held &h)
    {
        const int k = stage * tile_k + piece_here() * V, in = line_here();
#pragma unroll
        for (int i = 0; i < tile_n / 64; i++) {
            const int n = s.t.column * tile_n + in + i * 64;
            const bool exists = n < S::packed_n && k < S::packed_k;
            h.b[i] = exists ? *reinterpret_cast<const sixteen_bytes *>(S::b_row(s.p, s.t.batch, n) + k) : sixteen_bytes{0, 0, 0, 0};
        }
#pragma unroll
        for (int i = 0; i < tile_m / 64; i++) h.a[i] = held_a(s.p, s.t, in + i * 64, k);
    }
    DEV static void put(lds_address m, const held &h)
    {
        const int in = line_here();
#pragma unroll
        for (int i = 0; i < tile_m / 64; i++) lds_write(m + (in + i * 64) * row_bytes + (piece_here() ^ a_key(in)) * 16, h.a[i]);
#pragma unroll
        for (int i = 0; i < tile_n / 64; i++) lds_write(m + a_bytes + (in + i * 64) * row_bytes + (piece_here() ^ b_key(in)) * 16, h.b[i]);
    }
    template <class Ring> DEV static void compute_staged(Ring &ring, carry &c)
    {
        held h;
        hold(ring.from, 0, h);
        for (; ring.stage < ring.stages; ring.stage++) {
            barrier(); // the last stage has been read, or the last tile's sums
            put(ring.memory, h);
            barrier();
            if (ring.stage + 1 < ring.stages) hold(ring.from, ring.stage + 1, h);
            operands o;
            staged_from<0>(ring.memory, c, o);
        }
        barrier();
    }
    template <int Q> DEV static void staged_from(lds_address m, carry &c, operands &o)
    {
        read<Q>(m, o);
        multiply<Q>(c, o);
        schedule_fence(); // reading further ahead would cost registers that there are not
        if constexpr (Q + 1 < clusters) staged_from<Q + 1>(m, c, o);
    }

    DEV static void put_sum(lds_address scratch, int row, int part, float sum)
    {
        if (fragment::quad() == 0) reinterpret_cast<__attribute__((address_space(3))) float *>(scratch)[row * 4 + part] = sum;
    }
    DEV static float get_sums(lds_address scratch, int row)
    {
        auto s = reinterpret_cast<__attribute__((address_space(3))) const float *>(scratch) + row * 4;
        return ((s[0] + s[1]) + s[2]) + s[3];
    }
};
