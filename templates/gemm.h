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

    // Pieces of V elements along k of one line (a row of A, a column of B), dealt to the threads.
    template <int Lines> struct pieces {
        static constexpr int count = Lines * (tile_k / V), each = ceil_div(count, threads);
        vec<float, V> x[each];

        DEV static int line(int i) { return (thread_index() + i * threads) / (tile_k / V); }
        DEV static int k(int i) { return (thread_index() + i * threads) % (tile_k / V) * V; }
        DEV static bool exists(int i) { return count % threads == 0 || thread_index() + i * threads < count; }
    };
    using a_pieces = pieces<tile_m>;
    using b_pieces = pieces<tile_n>;

    DEV static vec<float, V> a_piece(const args &p, const tile &t, int k0, int i)
    {
        const int row = t.row + a_pieces::line(i), k = k0 + a_pieces::k(i);
        return row < S::rows(p) && k < S::K ? S::template a<V>(p, t.batch, row, k, S::K - k) : splat<V>(0.0f);
    }
    DEV static vec<float, V> b_piece(const args &p, const tile &t, int k0, int i)
    {
        const int n = t.column + b_pieces::line(i), k = k0 + b_pieces::k(i);
        return n < S::packed_n && k < S::K ? S::template b<V>(p, t.batch, n, k, S::K - k) : splat<V>(0.0f);
    }
    DEV static void put_a(slot &s, int i, const vec<float, V> &x)
    {
#pragma unroll
        for (int e = 0; e < V; e++) s.a[a_pieces::k(i) + e][a_pieces::line(i)] = x[e];
    }
    DEV static void put_b(slot &s, int i, const vec<float, V> &x)
    {
#pragma unroll
        for (int e = 0; e < V; e++) s.b[b_pieces::k(i) + e][carry::place(b_pieces::line(i))] = x[e];
    }

    DEV static void load(const args &p, const tile &t, int stage, slot &s)
    {
#pragma unroll 1
        for (int i = 0; i < a_pieces::each; i++)
            if (a_pieces::exists(i)) put_a(s, i, a_piece(p, t, stage * tile_k, i));
#pragma unroll 1
        for (int i = 0; i < b_pieces::each; i++)
            if (b_pieces::exists(i)) put_b(s, i, b_piece(p, t, stage * tile_k, i));
    }
#if TF_WAVE > 1
    struct staged {
        a_pieces a;
        b_pieces b;
    };
    DEV static void fetch(const args &p, const tile &t, int stage, staged &to)
    {
#pragma unroll
        for (int i = 0; i < a_pieces::each; i++)
            if (a_pieces::exists(i)) to.a.x[i] = a_piece(p, t, stage * tile_k, i);
#pragma unroll
        for (int i = 0; i < b_pieces::each; i++)
            if (b_pieces::exists(i)) to.b.x[i] = b_piece(p, t, stage * tile_k, i);
    }
    DEV static void land(const staged &from, slot &s)
    {
#pragma unroll
        for (int i = 0; i < a_pieces::each; i++)
            if (a_pieces::exists(i)) put_a(s, i, from.a.x[i]);
#pragma unroll
        for (int i = 0; i < b_pieces::each; i++)
            if (b_pieces::exists(i)) put_b(s, i, from.b.x[i]);
    }
#endif

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
                        S::template epilogue<S::granule>(p, context, t.batch, row, n, c.low[i][j], c.high[i][j], sum);
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
