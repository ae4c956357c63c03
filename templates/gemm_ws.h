// In: one spec struct S of a matrix product (docs/architecture.md: gemm). Out: its program under the warp-specialised frame: tensor
// loads into 128-byte swizzled slots, 2 warpgroups of 64 x tile_n each, S's epilogue. Refuses tiles other than 128 x {64, 128, 256}.
//
// Beyond the common contract S has: a_map(p) and b_map(p), tensor maps of A [batches*rows, K] and packed B [batches*packed_n, packed_k]
// with boxes of 128 bytes x tile_m and x tile_n rows, 128-byte swizzle; a_plain false: A's rows are no multiple of 16 bytes or A has
// a prologue, so the producer's threads load it by S::a; group: row tiles that share a column of B tiles while it is in L2;
// staged: results pass through shared memory, so the epilogue sees 8 columns of a row, not 2.
#pragma once

template <class S> struct gemm_ws {
    using args = typename S::args;
    using type = typename S::a_type;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, slots = S::slots;
    static constexpr int a_bytes = tile_m * 128, slot_bytes = (tile_m + tile_n) * 128;
    static constexpr int warp_scratch = 16 * 64 * 4, scratch_bytes = S::staged ? 8 * warp_scratch : 0;
    static constexpr bool copies = !S::a_plain;
    static constexpr int threads = ws_threads;
    static_assert(tile_m == 128 && tile_n % 64 == 0 && tile_n <= 256, "tile: two warpgroups of 64 rows");
    static_assert(tile_k * sizeof(type) == 128, "tile: a slot's row is 128 bytes along k");
    static_assert(S::granule == 8, "tile: a thread holds columns n and n + 8");

    using product = wgmma<type, tile_n>;
    struct tile {
        int batch, row, column; // in tiles
    };
    struct carry {
        float acc[product::registers];
    };

    DEV static int row_tiles(const args &p) { return (S::rows(p) + tile_m - 1) / tile_m; }
    static constexpr int column_tiles = (S::packed_n + tile_n - 1) / tile_n;
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    DEV static int stages(const args &, const tile &) { return (S::K + tile_k - 1) / tile_k; }
    DEV static unsigned bytes(const args &) { return S::a_plain ? slot_bytes : slot_bytes - a_bytes; }

    // Groups of S::group row tiles, down each column of the group: what the grid works on at one time is nearly square.
    DEV static tile at(const args &p, int index)
    {
        const int rows = row_tiles(p), per_batch = rows * column_tiles, batch = index / per_batch;
        const int i = index - batch * per_batch, g = i / (S::group * column_tiles), in = i - g * S::group * column_tiles;
        const int height = rows - g * S::group < S::group ? rows - g * S::group : S::group;
        return {batch, g * S::group + in % height, in / height};
    }

    DEV static void load(early, const args &p, const tile &t, int stage, slot m)
    {
        tensor_load(m.memory + a_bytes, S::b_map(p), m.full, stage * tile_k, t.batch * S::packed_n + t.column * tile_n);
    }
    DEV static void load(late, const args &p, const tile &t, int stage, slot m)
    {
        if constexpr (!S::a_plain)
            copy_rows(p, t, stage, m);
        else if (thread_index() == 0)
            tensor_load(m.memory, S::a_map(p), m.full, stage * tile_k, t.batch * S::rows(p) + t.row * tile_m);
    }

    template <class Ring> DEV static void compute(const args &p, const tile &t, Ring &ring, carry &c)
    {
        const int group = thread_index() / 128 - 1, n = stages(p, t);
        int s = 0, previous = 0;
        if constexpr (Ring::shared) { // else accumulators of every phase are live through all of them
#pragma unroll
            for (int i = 0; i < product::registers; i++)
                c.acc[i] = 0;
        }
        do {
            const slot m = ring.wait();
            const auto a = operand(m.memory + group * 64 * 128), b = operand(m.memory + a_bytes);
            pin(c.acc);
            product_fence();
            product::multiply(c.acc, a, b, s);
#pragma unroll
            for (int k = 1; k < 4; k++)
                product::multiply(c.acc, a + 2 * k, b + 2 * k, 1);
            product_commit();
            pin(c.acc);
            product_wait<1>(); // the previous stage's products are done with their slot
            ring.release_if(previous, s > 0);
            previous = ring.position;
            ring.step();
        } while (++s < n);
        product_wait<0>();
        pin(c.acc);
        ring.release_if(previous, true);
    }

    DEV static void finish(const args &p, const tile &t, carry &c, shared_address scratch)
    {
        const int thread = thread_index() % 128, group = thread_index() / 128 - 1;
        row_state r[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            r[h].row = t.row * tile_m + group * 64 + fragment::row(thread, 2 * h);
            r[h].exists = r[h].row < S::rows(p);
            r[h].sum = 0;
            if (r[h].exists)
                r[h].context = S::begin(p, t.batch, r[h].row);
        }
        if constexpr (S::staged)
            store_staged(p, t, c, r, scratch + (thread_index() / 32 - 4) * warp_scratch);
        else
            store_direct(p, t, c, r);
        if constexpr (S::row_sums)
            for (int h = 0; h < 2; h++) {
                float sum = r[h].sum;
                sum += lane_xor<4>(sum, 1);
                sum += lane_xor<4>(sum, 2);
                if (r[h].exists && thread % 4 == 0)
                    S::finish_row(p, t.batch, r[h].row, t.column, sum);
            }
    }

  private:
    struct row_state {
        int row;
        bool exists;
        float sum;
        typename S::context context;
    };

    // Rows that tensor loads cannot reach, by all threads of the producer: 8 threads a row of 128 bytes, put where the swizzle puts
    // them. Straight from memory where a row's alignment allows copies of at least 4 bytes, else through registers (prologues, too).
    DEV static void copy_rows(const args &p, const tile &t, int stage, slot m)
    {
        constexpr int V = 16 / sizeof(type), rows_at_once = ws_producers / 8;
        const int piece = thread_index() % 8, k = stage * tile_k + piece * V, left = S::K - k;
#pragma unroll(S::a_copy ? tile_m / rows_at_once : 2)
        for (int i = 0; i < tile_m / rows_at_once; i++) {
            const int in = thread_index() / 8 + i * rows_at_once, row = t.row * tile_m + in;
            const shared_address to = m.memory + in * 128 + ((piece ^ in % 8) << 4);
            const int exist = row < S::rows(p) && left > 0 ? (left < V ? left : V) : 0;
            if constexpr (S::a_copy >= 4) {
                const char *from = reinterpret_cast<const char *>(S::a_row(p, t.batch, exist ? row : 0) + (exist ? k : 0));
#pragma unroll
                for (int b = 0; b < 16; b += S::a_copy) {
                    const int valid = exist * static_cast<int>(sizeof(type)) - b;
                    copy_async<S::a_copy>(to + b, from + (valid > 0 ? b : 0), valid < 0 ? 0 : valid < S::a_copy ? valid : S::a_copy);
                }
            } else {
                vec<float, V> v = {};
                if (exist)
                    v = S::template a<V>(p, t.batch, row, k, left);
                shared_write(to, packed(type(), v[0], v[1]), packed(type(), v[2], v[3]), packed(type(), v[4], v[5]),
                             packed(type(), v[6], v[7]));
            }
        }
    }

    // Fragments as they lie: two columns of n and two of n + 8.
    DEV static void store_direct(const args &p, const tile &t, carry &c, row_state (&r)[2])
    {
        const int thread = thread_index() % 128;
#pragma unroll
        for (int j = 0; j < tile_n / 16; j++) {
            const int n = t.column * tile_n + j * 16 + fragment::column(thread, 0);
            if (n >= S::packed_n)
                continue;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                vec<float, 2> lo, hi;
                lo[0] = c.acc[j * 8 + 2 * h], lo[1] = c.acc[j * 8 + 2 * h + 1];
                hi[0] = c.acc[j * 8 + 2 * h + 4], hi[1] = c.acc[j * 8 + 2 * h + 5];
                if (r[h].exists)
                    S::template epilogue<2>(p, r[h].context, t.batch, r[h].row, n, lo, hi, r[h].sum);
            }
        }
    }

    // 16 rows x 64 columns of a warp at a time through shared memory; a thread keeps its two rows, so contexts and sums stay put.
    DEV static void store_staged(const args &p, const tile &t, carry &c, row_state (&r)[2], shared_address scratch)
    {
        const int lane = thread_index() % 32, quad = lane % 4;
#pragma unroll
        for (int chunk = 0; chunk < tile_n / 64; chunk++) {
            __syncwarp();
#pragma unroll
            for (int i = 0; i < 32; i += 2)
                shared_write(scratch + staged_at(lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + quad * 2), c.acc[chunk * 32 + i],
                             c.acc[chunk * 32 + i + 1]);
            __syncwarp();
            const int n = t.column * tile_n + chunk * 64 + quad * 16;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = lane / 4 + h * 8;
                vec<float, 8> lo, hi;
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    shared_read(scratch + staged_at(row, quad * 16 + i * 4), lo[4 * i], lo[4 * i + 1], lo[4 * i + 2], lo[4 * i + 3]);
                    shared_read(scratch + staged_at(row, quad * 16 + 8 + i * 4), hi[4 * i], hi[4 * i + 1], hi[4 * i + 2],
                                hi[4 * i + 3]);
                }
                if (r[h].exists && n < S::packed_n)
                    S::template epilogue<8>(p, r[h].context, t.batch, r[h].row, n, lo, hi, r[h].sum);
            }
        }
    }

    // Byte offset of (row, column) in 16 x 64 floats; pairs are written and fours read without bank conflicts.
    DEV static int staged_at(int row, int column) { return row * 256 + (column ^ row % 4 * 8 ^ column / 32 * 4) * 4; }
};
