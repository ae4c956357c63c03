// Written by tfgen: gpt2_decode_m of specs/gpt2-decode.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k7, phase m:
//   body %m.l            f32[B,1,128]        = linear %g, %w_out layout=in_out                  !44:5
//   epi  %m              bf16[B,1,128]       = add %m.l, %b_out                                 !44:5
//   epi  %x2             bf16[B,1,128]       = add %x1, %m                                      !45:5
struct gpt2_decode_m_spec {
    struct args {
        const bf16 *g_;
        const bf16 *packed;
        const bf16 *x1_;
        const bf16 *b_out_;
        bf16 *x2_;
        int B_;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 4, tile_n = 256, tile_k = 64, thread_m = 4, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> g_ = load_aligned<V>(p.g_ + row * 512ll + k); // !43:5
        return g_; // !44:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void m_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x1_ = load_aligned<W>(p.x1_ + row * 128ll + col); // !40:5
        const vec<float, W> b_out_ = load_aligned<W>(p.b_out_ + col); // !28:3
        const vec<float, W> m_ = op_add(product, b_out_); // !44:5
        const vec<float, W> x2_ = op_add(x1_, m_); // !45:5
        out.template put<Half, W>(p.x2_ + row * 128ll + col, x2_); // !45:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        m_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        m_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(gpt2_decode_m_spec::args, g_, 0);
TF_LAYOUT(gpt2_decode_m_spec::args, packed, 8);
TF_LAYOUT(gpt2_decode_m_spec::args, x1_, 16);
TF_LAYOUT(gpt2_decode_m_spec::args, b_out_, 24);
TF_LAYOUT(gpt2_decode_m_spec::args, x2_, 32);
TF_LAYOUT(gpt2_decode_m_spec::args, B_, 40);
static_assert(sizeof(gpt2_decode_m_spec::args) == 48, "size of args");
