// In: one spec struct S of a matrix product (docs/architecture.md: gemm). Out: its program for matrix units: 8 waves, 2 x 4, each with
// 128 x 64 of a tile of 256 x 256 x 64, operands swapped so that a lane's four results are columns of one row. Refuses other tiles.
//
// Beyond the common contract S has: group: row tiles that share a column of B tiles while it is in L2; a_written: A may be written by
// this launch.
#pragma once

template <class S> struct gemm_mfma {
    using args = typename S::args;
    using type = typename S::a_type;
    using product = matrix<type>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, slots = S::slots, threads = 512;
    static constexpr int row_bytes = 128, a_bytes = tile_m * row_bytes, slot_bytes = a_bytes + tile_n * row_bytes;
    static constexpr int wave_m = tile_m / 2, wave_n = tile_n / 4, scratch_bytes = S::row_sums ? tile_m * 4 * 4 : 0;
    static constexpr int parts = 4, late_parts = 2;
    static constexpr bool copies = false;
    static_assert(tile_m == 256 && tile_n == 256 && tile_k * sizeof(type) == row_bytes, "tile: 256 x 256 x 128 bytes");
    static_assert(S::granule == 4 && S::a_plain && S::b_plain, "tile: rows of both operands are copied as they lie");

    struct tile {
        int batch, row, column; // in tiles
    };
    struct carry {
        accumulator acc[wave_m / 16][wave_n / 16];
    };

    DEV static int row_tiles(const args &p) { return (S::rows(p) + tile_m - 1) / tile_m; }
    static constexpr int column_tiles = (S::packed_n + tile_n - 1) / tile_n;
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    DEV static int stages(const args &, const tile &) { return (S::K + tile_k - 1) / tile_k; }
    DEV static tile at(const args &p, int index)
    {
        const int rows = row_tiles(p), per_batch = rows * column_tiles, batch = index / per_batch;
        const int i = index - batch * per_batch, g = i / (S::group * column_tiles), in = i - g * S::group * column_tiles;
        const int height = rows - g * S::group < S::group ? rows - g * S::group : S::group;
        return {batch, g * S::group + in % height, in / height};
    }

    // ---- loads: an instruction of a wave brings 8 rows of 128 bytes; rows of 64 have a buffer each, so rows that do not exist are zero
    struct source {
        buffer piece[8]; // 4 of A, 4 of B
        int a_offset, b_offset, k_left;
    };

    DEV static source source_of(const args &p, const tile &t)
    {
        const int lane = thread_index() % 64, wave = uniform(thread_index() / 64), in = wave * 8 + lane / 8;
        source s;
        const int a_rows = S::rows(p) - t.row * tile_m, b_rows = S::packed_n - t.column * tile_n;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int a_in = a_rows - i * 64, b_in = b_rows - i * 64;
            s.piece[i] = buffer_of(S::a_row(p, t.batch, t.row * tile_m + (a_in > 0 ? i * 64 : 0)), a_in * (a_stride * 1ll));
            s.piece[4 + i] = buffer_of(S::b_row(p, t.batch, t.column * tile_n + (b_in > 0 ? i * 64 : 0)), b_in * (b_stride * 1ll));
        }
        // Direct copies fix the place in LDS, so the swizzle is in which 16 bytes a lane asks for.
        s.a_offset = in * a_stride + (lane % 8 ^ a_key(in)) * 16;
        s.b_offset = in * b_stride + (lane % 8 ^ b_key(in)) * 16;
        return s;
    }

    template <int Part> DEV static void load(const source &s, int stage, lds_address to)
    {
        const int lane = thread_index() % 64, wave = uniform(thread_index() / 64), in = wave * 8 + lane / 8;
        constexpr bool is_a = Part < late_parts;
        constexpr int length = (is_a ? S::K : S::packed_k) * sizeof(type), first = Part * 2 % 4;
        int offset = is_a ? s.a_offset : s.b_offset;
        if constexpr (length % row_bytes != 0) { // the last stage has 16-byte pieces beyond the row
            const int piece = lane % 8 ^ (is_a ? a_key(in) : b_key(in));
            offset = stage * row_bytes + piece * 16 < length ? offset : beyond;
        }
#pragma unroll
        for (int i = first; i < first + 2; i++)
            copy_to_lds<is_a && S::a_written>(to + (is_a ? 0 : a_bytes) + (i * 64 + wave * 8) * row_bytes, s.piece[is_a ? i : 4 + i], offset,
                                              stage * row_bytes);
    }

    // ---- compute: a stage is 4 clusters of 16 products; the two halves of the waves take turns with memory and matrix units
    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, carry &c)
    {
        const int wave = uniform(thread_index() / 64), half = wave / 4;
#pragma unroll
        for (int i = 0; i < wave_m / 16; i++)
#pragma unroll
            for (int j = 0; j < wave_n / 16; j++)
                c.acc[i][j] = {0, 0, 0, 0};
        wait_memory();
        wave_group_barrier();
        if (half)
            wave_group_barrier(); // from here on half a step behind
        do {
            typename product::operand b[2][wave_n / 16], a[2][2];
            cluster<0>(ring, c, a, b);
            cluster<1>(ring, c, a, b);
            cluster<2>(ring, c, a, b);
            cluster<3>(ring, c, a, b);
            ring.step();
        } while (ring.stage < ring.stages);
        if (!half)
            wave_group_barrier();
    }

    template <int Q, class Ring, class A, class B> DEV static void cluster(Ring &ring, carry &c, A &a, B &b)
    {
        const int wave = uniform(thread_index() / 64), row = wave / 4 * wave_m, column = wave % 4 * wave_n;
        const lds_address m = ring.here();
        if constexpr (Q == 0)
            read_b(m + a_bytes, column, b);
        read_a(m, row + Q * 32, a);
        if constexpr (Q == 0) { // half the stage's clusters lie between a copy and the wait for it
            ring.template pump<0>();
            ring.template pump<1>();
        } else if constexpr (Q == 1) {
            ring.template pump<2>();
            ring.template pump<3>();
        } else if constexpr (Q == 3) {
            wait_memory(); // before the barrier that precedes the other half's next stage, too
        }
        wait_lds(); // reads are over before a barrier lets anyone copy into their slot
        wave_group_barrier();
        schedule_fence();
        priority<1>();
#pragma unroll
        for (int kk = 0; kk < 2; kk++)
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < wave_n / 16; j++)
                    c.acc[Q * 2 + i][j] = product::multiply(b[kk][j], a[kk][i], c.acc[Q * 2 + i][j]);
        priority<0>();
        schedule_fence();
        wave_group_barrier();
        schedule_fence();
    }

    // ---- finish: a lane has rows line() of each 16, and in every 32 columns 8 in a row: columns 8 * quad() + {0..3} and {4..7}
    DEV static void finish(const args &p, const tile &t, carry &c, lds_address scratch)
    {
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
                    for (int e = 0; e < 4; e++)
                        lo[e] = c.acc[i][2 * j][e], hi[e] = c.acc[i][2 * j + 1][e];
                    if (n < S::packed_n)
                        S::template epilogue<4>(p, context, t.batch, row, n, lo, hi, sum);
                }
            }
            if constexpr (S::row_sums)
                put_sum(scratch, in, wave % 4, sum_over_quads(sum));
        }
        if constexpr (S::row_sums) {
            wait_lds();
            wave_group_barrier();
            const int in = thread_index(), row = t.row * tile_m + in;
            if (in < tile_m && row < S::rows(p))
                S::finish_row(p, t.batch, row, t.column, get_sums(scratch, in));
            wait_lds();
            wave_group_barrier();
        }
    }

  private:
    static constexpr int a_stride = S::K * sizeof(type), b_stride = S::packed_k * sizeof(type);
    static_assert(a_stride % 16 == 0 && b_stride % 16 == 0, "tile: copies move 16 bytes");

    // Which of a row's eight 16-byte pieces lies first: rows that one read touches together fall into different banks.
    DEV static int a_key(int row) { return row % 8; }
    DEV static int b_key(int row) { return row % 4 | row / 8 % 2 * 4; }

    // Line i of product j is column (j / 2) * 32 + 8 * (i / 4) + 4 * (j % 2) + i % 4: so a lane's results of two products are 8 columns.
    DEV static int b_line(int j, int i) { return j / 2 * 32 + i / 4 * 8 + j % 2 * 4 + i % 4; }

    template <class B> DEV static void read_b(lds_address m, int column, B &b)
    {
#pragma unroll
        for (int j = 0; j < wave_n / 16; j++) {
            const int line = column + b_line(j, fragment::line());
#pragma unroll
            for (int kk = 0; kk < 2; kk++)
                b[kk][j] = read(m, line, kk * 4 + fragment::quad() ^ b_key(line));
        }
    }
    template <class A> DEV static void read_a(lds_address m, int row, A &a)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int line = row + i * 16 + fragment::line();
#pragma unroll
            for (int kk = 0; kk < 2; kk++)
                a[kk][i] = read(m, line, kk * 4 + fragment::quad() ^ a_key(line));
        }
    }
    DEV static typename product::operand read(lds_address m, int line, int piece)
    {
        using operand = typename product::operand;
        return *reinterpret_cast<__attribute__((address_space(3))) const operand *>(m + line * row_bytes + piece * 16);
    }

    DEV static void put_sum(lds_address scratch, int row, int part, float sum)
    {
        if (fragment::quad() == 0)
            reinterpret_cast<__attribute__((address_space(3))) float *>(scratch)[row * 4 + part] = sum;
    }
    DEV static float get_sums(lds_address scratch, int row)
    {
        auto s = reinterpret_cast<__attribute__((address_space(3))) const float *>(scratch) + row * 4;
        return ((s[0] + s[1]) + s[2]) + s[3];
    }
};
