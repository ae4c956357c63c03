// Spec structs of products as the generator writes them, with the same prologue and epilogue for wgmma and for
// MFMA; `Machine` has what differs: granule, tile, threads, stages, arguments beyond the common ones.
#pragma once

constexpr int round_up(int n, int to) { return (n + to - 1) / to * to; }

// y = x * transposed(w)
template <class Machine, int Columns, int Length> struct product_spec : Machine {
    using type = typename Machine::type;
    static constexpr int N = Columns, K = Length, granule = Machine::granule;
    static constexpr int packed_n = round_up(N, 2 * granule), packed_k = round_up(K, pieces<type>::length);
    static constexpr bool row_sums = false, a_plain = K * sizeof(type) % 16 == 0, b_plain = true;
    static constexpr int a_stride = K;
    using a_type = type;
    using b_type = type;
    struct args : Machine::maps {
        const type *x, *w;
        type *y;
        const type *residual; // of residual_spec
        const float *scale;
        float *sums; // [rows, column tiles]
        int M;
    };
    struct context {};
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &) { return 1; }
    DEV static const type *a_row(const args &p, int, int row) { return p.x + static_cast<long long>(row) * K; }
    DEV static const type *packed(const args &p) { return p.w; }
    DEV static context begin(const args &, int, int) { return {}; }
    // Rows begin at multiples of `step` elements: that many elements are stored at once if a vector of W would be misaligned.
    template <int W> DEV static void put(const args &p, int row, int col, vec<float, W> v)
    {
        put_row<W, N>(p.y + static_cast<long long>(row) * N + col, N - col, v);
    }
    template <int W, int Stride> DEV static void put_row(type *to, int left, vec<float, W> v)
    {
        constexpr int step = Stride % W == 0 ? W : Stride % 4 == 0 && W > 4 ? 4 : Stride % 2 == 0 ? 2 : 1;
        put_pieces<W, step, 0>(to, left, v);
    }
    template <int W, int Step, int I> DEV static void put_pieces(type *to, int left, vec<float, W> v)
    {
        if (I < left)
            store_aligned<Step>(to + I, part<I, Step>(v));
        if constexpr (I + Step < W)
            put_pieces<W, Step, I + Step>(to, left, v);
    }
    template <int W, class Out>
    DEV static void epilogue(const args &p, const context &, int, int row, int n, vec<float, W> lo, vec<float, W> hi, float &, Out &)
    {
        if (n < N)
            put<W>(p, row, n, lo);
        if (n + granule < N)
            put<W>(p, row, n + granule, hi);
    }
    DEV static void finish_row(const args &, int, int, int, float) {}
};

// Gate and up in one packed weight, blocks of a granule in turn: y = silu(gate) * up.
template <class Machine, int Columns, int Length>
struct pair_spec : product_spec<Machine, 2 * round_up(Columns, Machine::granule), Length> {
    using base = product_spec<Machine, 2 * round_up(Columns, Machine::granule), Length>;
    static constexpr int N = Columns, granule = Machine::granule;
    template <int W, class Out>
    DEV static void epilogue(const typename base::args &p, const typename base::context &, int, int row, int n, vec<float, W> lo,
                             vec<float, W> hi, float &, Out &)
    {
        const int col = n / (2 * granule) * granule + n % granule;
        if (col >= N)
            return;
        vec<float, W> v;
#pragma unroll
        for (int i = 0; i < W; i++)
            v[i] = lo[i] / (1 + probe_exp(-lo[i])) * hi[i];
        base::template put_row<W, N>(p.y + static_cast<long long>(row) * N + col, N - col, v);
    }
};

// y = scale[row] * product + residual, and the sum of squares of each row's part in a column tile.
template <class Machine, int Columns, int Length> struct residual_spec : product_spec<Machine, Columns, Length> {
    using base = product_spec<Machine, Columns, Length>;
    static constexpr int N = Columns, granule = Machine::granule;
    static constexpr bool row_sums = true;
    using args = typename base::args;
    struct context {
        float scale;
    };
    DEV static context begin(const args &p, int, int row) { return {p.scale[row]}; }
    template <int W> DEV static void add(const args &p, const context &c, int row, int col, vec<float, W> v, float &sum)
    {
        if (col >= N)
            return;
        const auto *from = p.residual + static_cast<long long>(row) * N + col;
        vec<float, W> r;
        if constexpr (N % W == 0)
            r = load_aligned<W>(from);
        else
            r = load<W>(from, N - col);
#pragma unroll
        for (int i = 0; i < W; i++) {
            v[i] = v[i] * c.scale + r[i];
            sum += col + i < N ? v[i] * v[i] : 0;
        }
        base::template put<W>(p, row, col, v);
    }
    template <int W, class Out>
    DEV static void epilogue(const args &p, const context &c, int, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &)
    {
        add<W>(p, c, row, n, lo, sum);
        add<W>(p, c, row, n + granule, hi, sum);
    }
    DEV static void finish_row(const args &p, int, int row, int tile, float sum)
    {
        p.sums[row * ((N + Machine::tile_n - 1) / Machine::tile_n) + tile] = sum;
    }
};

// h = x * transposed(w0), y = h * transposed(w1) in one launch: a tile of y waits for its rows of h.
template <class First, class Second, class A0, class A1> struct two_phases {
    struct args {
        A0 p0;
        A1 p1;
        unsigned *words;
    };
    static constexpr int phases = 2, stages = First::stages, stage_bytes = First::stage_bytes, threads = First::threads;
    static constexpr int scratch_bytes = First::scratch_bytes > Second::scratch_bytes ? First::scratch_bytes : Second::scratch_bytes;
    DEV static int tiles(const args &p, int phase) { return phase ? Second::tiles(p.p1) : First::tiles(p.p0); }
    template <class Do> DEV static void with(const args &p, int phase, Do what)
    {
        if (phase == 0)
            what(First(), p.p0);
        else
            what(Second(), p.p1);
    }
    DEV static unsigned *words(const args &p) { return p.words; }
    DEV static int counter_count(const args &p) { return First::row_tiles(p.p0); }
    DEV static dependency needs(const args &p, int phase, int index)
    {
        return phase ? dependency{Second::at(p.p1, index).row, First::column_tiles} : dependency{0, 0};
    }
    DEV static int posts(const args &p, int phase, int index) { return phase ? -1 : First::at(p.p0, index).row; }
};
