// Written by tfgen: rows_in_terms_b of tests/specs/rows-in-terms.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase b:
//   body %b              f16[M,96]           = linear %x, %v                                    !10:5
struct rows_in_terms_b_spec {
    struct args {
        const f16 *x_;
        const float *packed;
        f16 *b_;
        int M_;
    };
    static constexpr int K = 148, packed_n = 96, packed_k = 160, granule = 16;
    static constexpr int tile_m = 128, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 64, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.M_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 148ll + k, left); // !6:10
        return x_; // !10:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void b_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Half, W>(p.b_ + row * 96ll + col, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        b_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        b_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(rows_in_terms_b_spec::args, x_, 0);
TF_LAYOUT(rows_in_terms_b_spec::args, packed, 8);
TF_LAYOUT(rows_in_terms_b_spec::args, b_, 16);
TF_LAYOUT(rows_in_terms_b_spec::args, M_, 24);
static_assert(sizeof(rows_in_terms_b_spec::args) == 32, "size of args");
