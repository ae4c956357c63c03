// Written by tfgen: bert_o of specs/bert-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k2, phase o:
//   body %o.l            f32[B,S,128]        = linear %a, %wo                                   !35:5
//   epi  %o              bf16[B,S,128]       = add %o.l, %bo                                    !35:5
//   epi  %s1             bf16[B,S,128]       = add %o, %x                                       !36:5
struct k2_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *bo;
        const bf16 *x;
        bf16 *s1;
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
        const vec<float, V> a = load_aligned<V>(p.a + row * 128ll + k); // !34:5
        return a; // !35:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Slot, class Out> DEV static void columns_o_l(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bo = load_aligned<W>(p.bo + col); // !21:3
        const vec<float, W> o_ = op_add(product, bo); // !35:5
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !12:10
        const vec<float, W> s1 = op_add(o_, x); // !36:5
        out.template put<Slot, W>(p.s1 + row * 128ll + col, s1); // !36:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_o::args, a, 0);
TF_LAYOUT(k2_o::args, packed, 8);
TF_LAYOUT(k2_o::args, bo, 16);
TF_LAYOUT(k2_o::args, x, 24);
TF_LAYOUT(k2_o::args, s1, 32);
TF_LAYOUT(k2_o::args, B, 40);
TF_LAYOUT(k2_o::args, S, 44);
static_assert(sizeof(k2_o::args) == 48, "size of args");
