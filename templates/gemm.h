// In: one spec struct S of a matrix product (docs/architecture.md: gemm). Out: its program on register tiles: shared memory holds a
// k-major tile of each operand in f32; a thread has thread_m rows and whole epilogue blocks of columns. Any M, N, K from 1.
// Refuses (static_assert) tiles that threads do not cover. A row's result depends on its own data and the tile alone.
#pragma once

template <class S> struct gemm {
    using args = typename S::args;
    using carry = simt_fragment<S::tile_n, S::thread_m, S::thread_n, S::granule>;
    static constexpr int tile_m = S::tile_m, tile_n = S::tile_n, tile_k = S::tile_k, threads = S::threads, slots = S::slots;
    static constexpr int lanes = carry::lanes, column_tiles = ceil_div(S::packed_n, tile_n);
    static constexpr int V = tile_k % 8 == 0 ? 8 : 1; // elements of a row that a thread stages at a time
    // Rows of four more floats: the scattered stores of neighbouring k then fall into different banks.
    static constexpr int pad = TF_WAVE == 1 ? 0 : 4;
    static_assert(tile_m / S::thread_m * lanes == threads, "tile: threads cover the tile");

    struct tile {
        int batch, row, column; // of the first element; column is a packed column
    };
    struct alignas(16) slot {
        float a[tile_k][tile_m + pad], b[tile_k][tile_n + pad];
    };
    struct scratch {
        float sums[S::row_sums ? tile_m * lanes : 1];
    };

    DEV static int row_tiles(const args &p) { return ceil_div(S::rows(p), tile_m); }
    DEV static int tiles(const args &p) { return row_tiles(p) * column_tiles * S::batches(p); }
    DEV static tile at(const args &p, int index)
    {
        const int each = row_tiles(p) * column_tiles, in = index % each;
        return {index / each, in / column_tiles * tile_m, in % column_tiles * tile_n};
    }
    DEV static int stages(const args &, const tile &) { return ceil_div(S::K, tile_k); }

    template <int Lines, int Stride, class Read> DEV static void stage_tile(float (*to)[Stride], Read read)
    {
        for (int i = thread_index(); i < Lines * (tile_k / V); i += threads) {
            const int line = i / (tile_k / V), k = i % (tile_k / V) * V;
            const vec<float, V> x = read(line, k);
#pragma unroll
            for (int e = 0; e < V; e++) to[k + e][line] = x[e];
        }
    }

    DEV static void load(const args &p, const tile &t, int stage, slot &s)
    {
        const int k0 = stage * tile_k, last = S::rows(p) - t.row;
        stage_tile<tile_m>(s.a, [&](int line, int k) {
            return line < last && k0 + k < S::K ? S::template a<V>(p, t.batch, t.row + line, k0 + k, S::K - k0 - k) : splat<V>(0.0f);
        });
        stage_tile<tile_n>(s.b, [&](int line, int k) {
            return t.column + line < S::packed_n && k0 + k < S::K ? S::template b<V>(p, t.batch, t.column + line, k0 + k, S::K - k0 - k)
                                                                  : splat<V>(0.0f);
        });
    }

    template <class Ring> DEV static void compute(const args &, const tile &, Ring &ring, carry &c)
    {
        c.clear();
        while (ring.stage < ring.stages) {
            slot &s = ring.wait();
            ring.pump();
#pragma unroll 4
            for (int k = 0; k < tile_k; k++) c.multiply(s.a[k], s.b[k]);
            ring.release();
        }
    }

    DEV static void finish(const args &p, const tile &t, carry &c, scratch &s)
    {
        const int rows = S::rows(p);
#pragma unroll
        for (int i = 0; i < S::thread_m; i++) {
            const int row = t.row + carry::row(i);
            float sum = 0;
            if (row < rows) {
                const typename S::context context = S::begin(p, t.batch, row);
#pragma unroll
                for (int j = 0; j < carry::blocks; j++) {
                    const int n = t.column + carry::column(j);
                    if (n < S::packed_n)
                        S::template epilogue<S::granule>(p, context, t.batch, row, n, part<0, S::granule>(c.acc[i][j]),
                                                         part<S::granule, S::granule>(c.acc[i][j]), sum);
                }
            }
            if constexpr (S::row_sums) s.sums[carry::row(i) * lanes + carry::lane()] = sum;
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
