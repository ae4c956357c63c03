// Written by tfgen: gpt2_qkv of specs/gpt2-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase qkv:
//   body %qkv.l          f32[B,S,384]        = linear %h, %w_qkv                                !29:5
//   epi  %qkv            bf16[B,S,384]       = add %qkv.l, %b_qkv                               !29:5
//   epi  %q              bf16[B,S,128] in %qkv+0/384 = slice %qkv                               !30:5
//   epi  %k              bf16[B,S,128] in %qkv+128/384 = slice %qkv offset=128                  !30:5
//   epi  %v              bf16[B,S,128] in %qkv+256/384 = slice %qkv offset=256                  !30:5
struct gpt2_qkv_spec {
    struct args {
        const bf16 *h_;
        const bf16 *packed;
        const bf16 *b_qkv_;
        bf16 *qkv_;
        int B_, S_;
    };
    static constexpr int K = 128, packed_n = 384, packed_k = 128, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h_ = load_aligned<V>(p.h_ + row * 128ll + k); // !28:5
        return h_; // !29:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void qkv_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_qkv_ = load_aligned<W>(p.b_qkv_ + col); // !17:3
        const vec<float, W> qkv_ = op_add(product, b_qkv_); // !29:5
        out.template put<Half, W>(p.qkv_ + row * 384ll + col, qkv_); // !29:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        qkv_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        qkv_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(gpt2_qkv_spec::args, h_, 0);
TF_LAYOUT(gpt2_qkv_spec::args, packed, 8);
TF_LAYOUT(gpt2_qkv_spec::args, b_qkv_, 16);
TF_LAYOUT(gpt2_qkv_spec::args, qkv_, 24);
TF_LAYOUT(gpt2_qkv_spec::args, B_, 32);
TF_LAYOUT(gpt2_qkv_spec::args, S_, 36);
static_assert(sizeof(gpt2_qkv_spec::args) == 40, "size of args");
