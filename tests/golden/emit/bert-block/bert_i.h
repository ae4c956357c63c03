// Written by tfgen: bert_i of specs/bert-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k4, phase i:
//   body %i.l            f32[B,S,512]        = linear %x1, %w_in                                !38:5
//   epi  %i              bf16[B,S,512]       = add %i.l, %b_in                                  !38:5
//   epi  %g              bf16[B,S,512]       = gelu_erf %i                                      !39:5
struct bert_i_spec {
    struct args {
        const bf16 *x1_;
        const bf16 *packed;
        const bf16 *b_in_;
        bf16 *g_;
        int B_, S_;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x1_ = load_aligned<V>(p.x1_ + row * 128ll + k); // !37:5
        return x1_; // !38:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void i_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_in_ = load_aligned<W>(p.b_in_ + col); // !25:3
        const vec<float, W> i_ = op_add(product, b_in_); // !38:5
        const vec<float, W> g_ = op_gelu_erf(i_); // !39:5
        out.template put<Half, W>(p.g_ + row * 512ll + col, g_); // !39:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        i_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        i_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(bert_i_spec::args, x1_, 0);
TF_LAYOUT(bert_i_spec::args, packed, 8);
TF_LAYOUT(bert_i_spec::args, b_in_, 16);
TF_LAYOUT(bert_i_spec::args, g_, 24);
TF_LAYOUT(bert_i_spec::args, B_, 32);
TF_LAYOUT(bert_i_spec::args, S_, 36);
static_assert(sizeof(bert_i_spec::args) == 40, "size of args");
