// Written by tfgen: products_a of tests/specs/products.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k3, phase a:
//   body %a              f16[B,3,S,9]        = matmul %x, %yy                                   !8:5
//   epi  %c              f16[B,3,S,9]        = add %a, %bias                                    !11:5
//   epi  %d              f16[B,3,S,9]        = mul %c, %s                                       !13:5
struct products_a_spec {
    struct args {
        const f16 *x_;
        const f16 *yy_;
        const f16 *bias_;
        const f16 *s_;
        f16 *d_;
        int S_, B_;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = false, a_across = false, b_across = true;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S_; }
    DEV static int batches(const args &p) { return 3 * p.B_; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S_;
        const vec<float, V> x_ = load<V>(p.x_ + row * 12ll + k, left); // !6:10
        return x_; // !8:5
    }
    template <int V> DEV static vec<float, V> b_row(const args &p, int batch, int k, int n)
    {
        return load<V>(p.yy_ + (batch * 12 + k) * 9ll + n, 9 - n); // !8:5
    }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void a_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        const vec<float, W> bias_ = load<W>(p.bias_ + row * 9ll + col, left); // !6:62
        const vec<float, W> c_ = op_add(product, bias_); // !11:5
        const vec<float, W> s_ = load<W>(p.s_ + row * 9ll + col, left); // !12:5
        const vec<float, W> d_ = op_mul(c_, s_); // !13:5
        out.template put_some<Half, W>(p.d_ + row * 9ll + col, left, d_); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S_;
        a_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        a_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(products_a_spec::args, x_, 0);
TF_LAYOUT(products_a_spec::args, yy_, 8);
TF_LAYOUT(products_a_spec::args, bias_, 16);
TF_LAYOUT(products_a_spec::args, s_, 24);
TF_LAYOUT(products_a_spec::args, d_, 32);
TF_LAYOUT(products_a_spec::args, S_, 40);
TF_LAYOUT(products_a_spec::args, B_, 44);
static_assert(sizeof(products_a_spec::args) == 48, "size of args");
