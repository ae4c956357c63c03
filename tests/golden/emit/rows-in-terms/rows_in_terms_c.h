// Written by tfgen: rows_in_terms_c of tests/specs/rows-in-terms.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k2, phase c:
//   body %c              f16[M,148]          = linear %z, %u                                    !11:5
struct rows_in_terms_c_spec {
    struct args {
        const float *z_;
        const bf16 *packed;
        f16 *c_;
        int M_;
    };
    static constexpr int K = 96, packed_n = 160, packed_k = 96, granule = 16;
    static constexpr int tile_m = 128, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 64, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.M_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> z_ = load_aligned<V>(p.z_ + row * 96ll + k); // !6:21
        return z_; // !11:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void c_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 148 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.c_ + row * 148ll + col, left, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        c_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        c_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(rows_in_terms_c_spec::args, z_, 0);
TF_LAYOUT(rows_in_terms_c_spec::args, packed, 8);
TF_LAYOUT(rows_in_terms_c_spec::args, c_, 16);
TF_LAYOUT(rows_in_terms_c_spec::args, M_, 24);
static_assert(sizeof(rows_in_terms_c_spec::args) == 32, "size of args");
