// Written by tfgen: f32_matmul_a of tests/specs/f32-matmul.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase a:
//   body %a              f32[B,100,72]       = matmul %x, %y                                    !8:5
struct f32_matmul_a_spec {
    struct args {
        const float *x_;
        const float *y_;
        float *a_;
        int B_;
    };
    static constexpr int K = 200, packed_n = 96, packed_k = 208, granule = 16;
    static constexpr int tile_m = 128, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 64, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = false, a_across = false, b_across = true;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return 100; }
    DEV static int batches(const args &p) { return p.B_; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * 100;
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 200ll + k); // !6:10
        return x_; // !8:5
    }
    template <int V> DEV static vec<float, V> b_row(const args &p, int batch, int k, int n)
    {
        if (n >= 72) return splat<V>(0.0f);
        return load_aligned<V>(p.y_ + (batch * 200 + k) * 72ll + n); // !8:5
    }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void a_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 72 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.a_ + row * 72ll + col, left, product); // !8:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * 100;
        a_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        a_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(f32_matmul_a_spec::args, x_, 0);
TF_LAYOUT(f32_matmul_a_spec::args, y_, 8);
TF_LAYOUT(f32_matmul_a_spec::args, a_, 16);
TF_LAYOUT(f32_matmul_a_spec::args, B_, 24);
static_assert(sizeof(f32_matmul_a_spec::args) == 32, "size of args");
