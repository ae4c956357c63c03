// Written by tfgen: products_b of tests/specs/products.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase b:
//   body %b              f16[B,3,S,9]        = matmul %e, %z transpose                          !10:5
struct products_b_spec {
    struct args {
        const f16 *e_;
        const f16 *z_;
        f16 *b_;
        int S_, B_;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = false, a_across = false, b_across = false;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S_; }
    DEV static int batches(const args &p) { return 3 * p.B_; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S_;
        const vec<float, V> e_ = load<V>(p.e_ + row * 12ll + k, left); // !9:5
        return e_; // !10:5
    }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        return load<V>(p.z_ + (batch * 9 + n) * 12ll + k, n < 9 ? left : 0); // !10:5
    }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void b_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.b_ + row * 9ll + col, left, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S_;
        b_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        b_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(products_b_spec::args, e_, 0);
TF_LAYOUT(products_b_spec::args, z_, 8);
TF_LAYOUT(products_b_spec::args, b_, 16);
TF_LAYOUT(products_b_spec::args, S_, 24);
TF_LAYOUT(products_b_spec::args, B_, 28);
static_assert(sizeof(products_b_spec::args) == 32, "size of args");
