// Written by tfgen: gpt2_fc of specs/gpt2-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k5, phase fc:
//   body %fc.l           f32[B,S,512]        = linear %h2, %w_fc layout=in_out                  !35:5
//   epi  %fc             bf16[B,S,512]       = add %fc.l, %b_fc                                 !35:5
//   epi  %g              bf16[B,S,512]       = gelu_tanh %fc                                    !36:5
struct k5_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
        bf16 *g;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = true;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h2 = load_aligned<V>(p.h2 + row * 128ll + k); // !34:5
        return h2; // !35:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Slot, class Out> DEV static void columns_fc_l(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !24:3
        const vec<float, W> fc = op_add(product, b_fc); // !35:5
        const vec<float, W> g = op_gelu_tanh(fc); // !36:5
        out.template put<Slot, W>(p.g + row * 512ll + col, g); // !36:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        columns_fc_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_fc_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_fc::args, h2, 0);
TF_LAYOUT(k5_fc::args, packed, 8);
TF_LAYOUT(k5_fc::args, b_fc, 16);
TF_LAYOUT(k5_fc::args, g, 24);
TF_LAYOUT(k5_fc::args, B, 32);
TF_LAYOUT(k5_fc::args, S, 36);
static_assert(sizeof(k5_fc::args) == 40, "size of args");
