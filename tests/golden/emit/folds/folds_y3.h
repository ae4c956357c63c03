// Written by tfgen: folds_y3 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k3, phase y3:
//   body %y3.raw         f32[B,S,16]         = linear %x, %w3 fold=%g3                          !24:5
//   epi  %y3.r3          f32[B,S,1]          = sigmoid %m                                       !21:5
//   epi  %y3             f32[B,S,16]         = mul %y3.raw, %y3.r3                              !23:5
struct folds_y3_spec {
    struct args {
        const float *x_;
        const float *packed;
        const float *m_;
        float *y3_;
        int B_, S_;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = float;
    struct context {
        float y3_r3_;
    };
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + k, left); // !6:10
        return x_; // !24:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float m_ = load_one(p.m_ + row); // !20:5
        const float y3_r3_ = op_sigmoid(m_); // !21:5
        c.y3_r3_ = y3_r3_; // !21:5
        return c;
    }
    template <int W, int Half, class Out> DEV static void y3_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) col = 0;
        const vec<float, W> y3_ = op_mul(product, c.y3_r3_); // !23:5
        if (0 < left) // !23:5
            out.template put<Half, W>(p.y3_ + row * 16ll + col, y3_); // !23:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        y3_raw_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        y3_raw_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(folds_y3_spec::args, x_, 0);
TF_LAYOUT(folds_y3_spec::args, packed, 8);
TF_LAYOUT(folds_y3_spec::args, m_, 16);
TF_LAYOUT(folds_y3_spec::args, y3_, 24);
TF_LAYOUT(folds_y3_spec::args, B_, 32);
TF_LAYOUT(folds_y3_spec::args, S_, 36);
static_assert(sizeof(folds_y3_spec::args) == 40, "size of args");
