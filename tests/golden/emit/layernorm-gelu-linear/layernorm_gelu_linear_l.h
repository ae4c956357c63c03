// Written by tfgen: layernorm_gelu_linear_l of specs/layernorm-gelu-linear.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase l:
//   body %l.l            f32[B,S,344]        = linear %x, %w                                    !20:5
//   epi  %l              bf16[B,S,344]       = add %l.l, %b                                     !20:5
//   epi  %g              bf16[B,S,344]       = gelu_erf %l                                      !21:5
struct layernorm_gelu_linear_l_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        const bf16 *b_;
        bf16 *g_;
        int B_, S_;
    };
    static constexpr int K = 256, packed_n = 352, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + k); // !13:10
        return x_; // !20:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void l_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        const vec<float, W> b_ = load<W>(p.b_ + col, left); // !16:3
        const vec<float, W> l_ = op_add(product, b_); // !20:5
        const vec<float, W> g_ = op_gelu_erf(l_); // !21:5
        out.template put_some<Half, W>(p.g_ + row * 344ll + col, left, g_); // !21:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        l_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        l_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(layernorm_gelu_linear_l_spec::args, x_, 0);
TF_LAYOUT(layernorm_gelu_linear_l_spec::args, packed, 8);
TF_LAYOUT(layernorm_gelu_linear_l_spec::args, b_, 16);
TF_LAYOUT(layernorm_gelu_linear_l_spec::args, g_, 24);
TF_LAYOUT(layernorm_gelu_linear_l_spec::args, B_, 32);
TF_LAYOUT(layernorm_gelu_linear_l_spec::args, S_, 36);
static_assert(sizeof(layernorm_gelu_linear_l_spec::args) == 40, "size of args");
