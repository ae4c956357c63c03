// Written by tfgen: bert_m of specs/bert-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k5, phase m:
//   body %m.l            f32[B,S,128]        = linear %g, %w_out                                !40:5
//   epi  %m              bf16[B,S,128]       = add %m.l, %b_out                                 !40:5
//   epi  %s2             bf16[B,S,128]       = add %m, %x1                                      !41:5
struct bert_m_spec {
    struct args {
        const bf16 *g_;
        const bf16 *packed;
        const bf16 *b_out_;
        const bf16 *x1_;
        bf16 *s2_;
        int B_, S_;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> g_ = load_aligned<V>(p.g_ + row * 512ll + k); // !39:5
        return g_; // !40:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void m_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_out_ = load_aligned<W>(p.b_out_ + col); // !27:3
        const vec<float, W> m_ = op_add(product, b_out_); // !40:5
        const vec<float, W> x1_ = load_aligned<W>(p.x1_ + row * 128ll + col); // !37:5
        const vec<float, W> s2_ = op_add(m_, x1_); // !41:5
        out.template put<Half, W>(p.s2_ + row * 128ll + col, s2_); // !41:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        m_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        m_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(bert_m_spec::args, g_, 0);
TF_LAYOUT(bert_m_spec::args, packed, 8);
TF_LAYOUT(bert_m_spec::args, b_out_, 16);
TF_LAYOUT(bert_m_spec::args, x1_, 24);
TF_LAYOUT(bert_m_spec::args, s2_, 32);
TF_LAYOUT(bert_m_spec::args, B_, 40);
TF_LAYOUT(bert_m_spec::args, S_, 44);
static_assert(sizeof(bert_m_spec::args) == 48, "size of args");
