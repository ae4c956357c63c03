// Written by tfgen: folds_y1 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase y1:
//   body %y1.raw         f32[B,S,16]         = linear %h1.c, %w1 fold=%g1                       !10:5
//   epi  %y1.vm          f32[B,S,1]          = div %h1.v, 36                                    !9:5
//   epi  %y1.ve          f32[B,S,1]          = add %y1.vm, 1e-05                                !9:5
//   epi  %y1.r           f32[B,S,1]          = rsqrt %y1.ve                                     !9:5
//   epi  %y1             f32[B,S,16]         = mul %y1.raw, %y1.r                               !9:5
struct folds_y1_spec {
    struct args {
        const float *h1_c_;
        const float *packed;
        const float *h1_v_;
        float *y1_;
        int B_, S_;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = float;
    struct context {
        float y1_r_;
    };
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h1_c_ = load<V>(p.h1_c_ + row * 36ll + k, left); // !9:5
        return h1_c_; // !10:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float h1_v_ = load_one(p.h1_v_ + row); // !9:5
        const float y1_vm_ = op_div(h1_v_, 36.0f); // !9:5
        const float y1_ve_ = op_add(y1_vm_, 1e-05f); // !9:5
        const float y1_r_ = op_rsqrt(y1_ve_); // !9:5
        c.y1_r_ = y1_r_; // !9:5
        return c;
    }
    template <int W, int Half, class Out> DEV static void y1_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) col = 0;
        const vec<float, W> y1_ = op_mul(product, c.y1_r_); // !9:5
        if (0 < left) // !9:5
            out.template put<Half, W>(p.y1_ + row * 16ll + col, y1_); // !9:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        y1_raw_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        y1_raw_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(folds_y1_spec::args, h1_c_, 0);
TF_LAYOUT(folds_y1_spec::args, packed, 8);
TF_LAYOUT(folds_y1_spec::args, h1_v_, 16);
TF_LAYOUT(folds_y1_spec::args, y1_, 24);
TF_LAYOUT(folds_y1_spec::args, B_, 32);
TF_LAYOUT(folds_y1_spec::args, S_, 36);
static_assert(sizeof(folds_y1_spec::args) == 40, "size of args");
