// Written by tfgen: gpt2_decode_fc of specs/gpt2-decode.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k6, phase fc:
//   body %fc.l           f32[B,1,512]        = linear %h2, %w_fc layout=in_out                  !42:5
//   epi  %fc             bf16[B,1,512]       = add %fc.l, %b_fc                                 !42:5
//   epi  %g              bf16[B,1,512]       = gelu_tanh %fc                                    !43:5
struct gpt2_decode_fc_spec {
    struct args {
        const bf16 *h2_;
        const bf16 *packed;
        const bf16 *b_fc_;
        bf16 *g_;
        int B_;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 4, tile_n = 256, tile_k = 64, thread_m = 4, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h2_ = load_aligned<V>(p.h2_ + row * 128ll + k); // !41:5
        return h2_; // !42:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void fc_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_fc_ = load_aligned<W>(p.b_fc_ + col); // !26:3
        const vec<float, W> fc_ = op_add(product, b_fc_); // !42:5
        const vec<float, W> g_ = op_gelu_tanh(fc_); // !43:5
        out.template put<Half, W>(p.g_ + row * 512ll + col, g_); // !43:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        fc_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        fc_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(gpt2_decode_fc_spec::args, h2_, 0);
TF_LAYOUT(gpt2_decode_fc_spec::args, packed, 8);
TF_LAYOUT(gpt2_decode_fc_spec::args, b_fc_, 16);
TF_LAYOUT(gpt2_decode_fc_spec::args, g_, 24);
TF_LAYOUT(gpt2_decode_fc_spec::args, B_, 32);
static_assert(sizeof(gpt2_decode_fc_spec::args) == 40, "size of args");
