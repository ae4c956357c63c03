// Written by tfgen: moves_y1 of tests/specs/moves.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k3, phase y1:
//   body %y1.l           f32[B,S,21]         = linear %x, %wq                                   !13:5
//   epi  %y1             bf16[B,S,21]        = add %y1.l, %b1                                   !13:5
//   epi  %y2             bf16[B,S,3,7] in %y1+0/7 = reshape %y1                                 !14:5
struct moves_y1_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        const bf16 *b1_;
        bf16 *y1_;
        int B_, S_;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 12ll + k, left); // !6:10
        return x_; // !13:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void y1_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 21 - col;
        if (left <= 0) return;
        const vec<float, W> b1_ = load<W>(p.b1_ + col, left); // !7:35
        const vec<float, W> y1_ = op_add(product, b1_); // !13:5
        out.template put_some<Half, W>(p.y1_ + row * 21ll + col, left, y1_); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        y1_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        y1_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(moves_y1_spec::args, x_, 0);
TF_LAYOUT(moves_y1_spec::args, packed, 8);
TF_LAYOUT(moves_y1_spec::args, b1_, 16);
TF_LAYOUT(moves_y1_spec::args, y1_, 24);
TF_LAYOUT(moves_y1_spec::args, B_, 32);
TF_LAYOUT(moves_y1_spec::args, S_, 36);
static_assert(sizeof(moves_y1_spec::args) == 40, "size of args");
