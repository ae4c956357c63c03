// Written by tfgen: folds_y4 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k4, phase y4:
//   body %y4.raw         f32[B,S,16]         = linear %x, %w4 fold=%g4 fold_offset              !28:5
//   epi  %y4.ms          f32[B,S,1]          = div %ss, 36                                      !27:5
//   epi  %y4.me          f32[B,S,1]          = add %y4.ms, 1e-05                                !27:5
//   epi  %y4.r           f32[B,S,1]          = rsqrt %y4.me                                     !27:5
//   epi  %y4             f32[B,S,16]         = mul %y4.raw, %y4.r                               !27:5
struct folds_y4_spec {
    struct args {
        const float *x_;
        const float *packed;
        const float *ss_;
        float *y4_;
        int B_, S_;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = float;
    struct context {
        float y4_r_;
    };
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + k, left); // !6:10
        return x_; // !28:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float ss_ = load_one(p.ss_ + row); // !12:5
        const float y4_ms_ = op_div(ss_, 36.0f); // !27:5
        const float y4_me_ = op_add(y4_ms_, 1e-05f); // !27:5
        const float y4_r_ = op_rsqrt(y4_me_); // !27:5
        c.y4_r_ = y4_r_; // !27:5
        return c;
    }
    template <int W, int Half, class Out> DEV static void y4_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) col = 0;
        const vec<float, W> y4_ = op_mul(product, c.y4_r_); // !27:5
        if (0 < left) // !27:5
            out.template put<Half, W>(p.y4_ + row * 16ll + col, y4_); // !27:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        y4_raw_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        y4_raw_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(folds_y4_spec::args, x_, 0);
TF_LAYOUT(folds_y4_spec::args, packed, 8);
TF_LAYOUT(folds_y4_spec::args, ss_, 16);
TF_LAYOUT(folds_y4_spec::args, y4_, 24);
TF_LAYOUT(folds_y4_spec::args, B_, 32);
TF_LAYOUT(folds_y4_spec::args, S_, 36);
static_assert(sizeof(folds_y4_spec::args) == 40, "size of args");
