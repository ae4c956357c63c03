// Written by tfgen: linear_l of specs/linear.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase l:
//   body %l.l            f32[B,S,344]        = linear %x, %w                                    !18:5
//   epi  %l              bf16[B,S,344]       = add %l.l, %b                                     !18:5
struct k0_l {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *b;
        bf16 *l;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 352, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = true;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + k); // !13:10
        return x; // !18:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Slot, class Out> DEV static void columns_l_l(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        const vec<float, W> b = load<W>(p.b + col, left); // !16:3
        const vec<float, W> l = op_add(product, b); // !18:5
        out.template put_some<Slot, W>(p.l + row * 344ll + col, left, l); // !18:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        columns_l_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_l_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_l::args, x, 0);
TF_LAYOUT(k0_l::args, packed, 8);
TF_LAYOUT(k0_l::args, b, 16);
TF_LAYOUT(k0_l::args, l, 24);
TF_LAYOUT(k0_l::args, B, 32);
TF_LAYOUT(k0_l::args, S, 36);
static_assert(sizeof(k0_l::args) == 40, "size of args");
