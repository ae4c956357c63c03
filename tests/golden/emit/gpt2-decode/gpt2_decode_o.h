// Written by tfgen: gpt2_decode_o of specs/gpt2-decode.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k4, phase o:
//   body %o.l            f32[B,1,128]        = linear %a, %w_proj layout=in_out                 !39:5
//   epi  %o              bf16[B,1,128]       = add %o.l, %b_proj                                !39:5
//   epi  %x1             bf16[B,1,128]       = add %x, %o                                       !40:5
struct gpt2_decode_o_spec {
    struct args {
        const bf16 *a_;
        const bf16 *packed;
        const bf16 *x_;
        const bf16 *b_proj_;
        bf16 *x1_;
        int B_;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 4, tile_n = 256, tile_k = 64, thread_m = 4, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> a_ = load_aligned<V>(p.a_ + row * 128ll + k); // !38:5
        return a_; // !39:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void o_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x_ = load_aligned<W>(p.x_ + row * 128ll + col); // !12:3
        const vec<float, W> b_proj_ = load_aligned<W>(p.b_proj_ + col); // !22:3
        const vec<float, W> o_ = op_add(product, b_proj_); // !39:5
        const vec<float, W> x1_ = op_add(x_, o_); // !40:5
        out.template put<Half, W>(p.x1_ + row * 128ll + col, x1_); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        o_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        o_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(gpt2_decode_o_spec::args, a_, 0);
TF_LAYOUT(gpt2_decode_o_spec::args, packed, 8);
TF_LAYOUT(gpt2_decode_o_spec::args, x_, 16);
TF_LAYOUT(gpt2_decode_o_spec::args, b_proj_, 24);
TF_LAYOUT(gpt2_decode_o_spec::args, x1_, 32);
TF_LAYOUT(gpt2_decode_o_spec::args, B_, 40);
static_assert(sizeof(gpt2_decode_o_spec::args) == 48, "size of args");
