// Written by tfgen: stored_product_z of tests/specs/stored-product.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k2, phase z:
//   body %z              bf16[2,5,24]        = linear %r, %w3                                   !12:5
struct stored_product_z_spec {
    struct args {
        const bf16 *r_;
        const bf16 *packed;
        bf16 *z_;
    };
    static constexpr int K = 32, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> r_ = load_aligned<V>(p.r_ + row * 32ll + k); // !11:5
        return r_; // !12:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void z_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 24 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.z_ + row * 24ll + col, left, product); // !12:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        z_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        z_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(stored_product_z_spec::args, r_, 0);
TF_LAYOUT(stored_product_z_spec::args, packed, 8);
TF_LAYOUT(stored_product_z_spec::args, z_, 16);
static_assert(sizeof(stored_product_z_spec::args) == 24, "size of args");
