// Written by tfgen: gpt2_o of specs/gpt2-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k3, phase o:
//   body %o.l            f32[B,S,128]        = linear %a, %w_proj layout=in_out                 !32:5
//   epi  %o              bf16[B,S,128]       = add %o.l, %b_proj                                !32:5
//   epi  %x1             bf16[B,S,128]       = add %x, %o                                       !33:5
struct k3_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        const bf16 *b_proj;
        bf16 *x1;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = true;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 128ll + k); // !31:5
        return a; // !32:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Slot, class Out> DEV static void columns_o_l(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !11:10
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !20:3
        const vec<float, W> o_ = op_add(product, b_proj); // !32:5
        const vec<float, W> x1 = op_add(x, o_); // !33:5
        out.template put<Slot, W>(p.x1 + row * 128ll + col, x1); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_o::args, a, 0);
TF_LAYOUT(k3_o::args, packed, 8);
TF_LAYOUT(k3_o::args, x, 16);
TF_LAYOUT(k3_o::args, b_proj, 24);
TF_LAYOUT(k3_o::args, x1, 32);
TF_LAYOUT(k3_o::args, B, 40);
TF_LAYOUT(k3_o::args, S, 44);
static_assert(sizeof(k3_o::args) == 48, "size of args");
