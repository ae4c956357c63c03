// In: one spec struct S of a matrix product (docs/architecture.md: gemm). Out: its program under the warp-specialised frame: tensor
// loads into 128-byte swizzled slots, 2 warpgroups of 64 x tile_n each, S's epilogue. Refuses tiles other than 128 rows and a multiple of 32
// columns from 64 to 256.
//
// Beyond the common contract S has: a_map(p) and b_map(p), tensor maps of A [batches*rows, K] and packed B [batches*packed_n, packed_k]
// with boxes of 128 bytes x tile_m and x tile_n rows, 128-byte swizzle; group: row
// tiles that share a column of B tiles while it is in L2; width: columns of a row that the epilogue is handed at a time, 2 or 4; reads:
// the epilogue loads more than row scalars.
#pragma once

template <class S> struct gemm_ws {
    using args = typename S::args;
    using type = typename S::a_type;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, slots = S::slots;
    static constexpr int a_bytes = tile_m * 128, slot_bytes = (tile_m + tile_n) * 128;
    static constexpr int scratch_bytes = 0;
    static constexpr bool turns = false;
    static constexpr int threads = ws_threads;
    static_assert(tile_m == 128 && tile_n % 32 == 0 && tile_n <= 256, "tile: two warpgroups of 64 rows, blocks of 32 columns");
    static_assert(tile_k * sizeof(type) == 128, "tile: a slot's row is 128 bytes along k");
    static_assert(S::granule == 16 && (S::width == 2 || S::width == 4), "tile: 32 columns are a block of the epilogue");

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
    DEV static unsigned bytes(const args &) { return slot_bytes; }

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

    DEV static void finish(const args &p, const tile &t, carry &c, shared_address)
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
        if (S::reads && (t.row + 1) * tile_m <= S::rows(p) && (t.column + 1) * tile_n <= S::packed_n)
            store_tile<true>(p, t, c, r);
        else
            store_tile<false>(p, t, c, r);
        if constexpr (S::row_sums)
            for (int h = 0; h < 2; h++) {
                float sum = r[h].sum;
                sum += lane_xor<4>(sum, 1);
                sum += lane_xor<4>(sum, 2);
                if (r[h].exists && thread % 4 == 0)
                    S::finish_row(p, t.batch, r[h].row, t.column, sum);
            }
    }

  protected:
    struct row_state {
        int row;
        bool exists;
        float sum;
        typename S::context context;
    };

    // Whole tiles are one run of instructions without branches, so that what the epilogue loads is under way together. Where it loads
    // nothing that only costs registers.
    template <bool Whole> DEV static void store_tile(const args &p, const tile &t, carry &c, row_state (&r)[2])
    {
#pragma unroll
        for (int j = 0; j < tile_n / 32; j++) {
            if (!Whole && t.column * tile_n + j * 32 >= S::packed_n)
                break;
            store_block<S::width, Whole>(p, t, c.acc + j * 16, t.column * tile_n + j * 32, r);
        }
    }

    // 32 columns: 4 blocks of 8, of which a thread has 2 columns each in two rows. So a quad's stores fill 32 bytes of a 16-bit row.
    template <int W, bool Whole> DEV static void store_block(const args &p, const tile &t, const float *acc, int n, row_state (&r)[2])
    {
        const int lane = thread_index() % 4;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float *x = acc + 2 * h; // x[4 * block + i]
            if constexpr (W == 4) {
                const vec<float, 4> lo = exchanged(x[0], x[1], x[4], x[5]), hi = exchanged(x[8], x[9], x[12], x[13]);
                if (Whole || r[h].exists)
                    S::template epilogue<4>(p, r[h].context, t.batch, r[h].row, n + lane % 2 * 8 + lane / 2 * 4, lo, hi, r[h].sum);
            } else {
#pragma unroll
                for (int b = 0; b < 2; b++) {
                    vec<float, 2> lo, hi;
                    lo[0] = x[4 * b], lo[1] = x[4 * b + 1], hi[0] = x[4 * b + 8], hi[1] = x[4 * b + 9];
                    if (Whole || r[h].exists)
                        S::template epilogue<2>(p, r[h].context, t.batch, r[h].row, n + b * 8 + lane * 2, lo, hi, r[h].sum);
                }
            }
        }
    }

    // Two columns of block x and of block y: an even lane gives y for its neighbour's x and has 4 columns of x, an odd one 4 of y.
    DEV static vec<float, 4> exchanged(float x0, float x1, float y0, float y1)
    {
        const bool odd = thread_index() % 2;
        const float other0 = lane_xor<32>(odd ? x0 : y0, 1), other1 = lane_xor<32>(odd ? x1 : y1, 1);
        vec<float, 4> v;
        v[0] = odd ? other0 : x0, v[1] = odd ? other1 : x1, v[2] = odd ? y0 : other0, v[3] = odd ? y1 : other1;
        return v;
    }
};
