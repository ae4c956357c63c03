// Written by tfgen: stored_product_u of tests/specs/stored-product.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase u:
//   body %u              bf16[2,5,32]        = linear %a, %w2                                   !10:5
//   epi  %r              bf16[2,5,32]        = add %u, %k                                       !11:5
struct stored_product_u_spec {
    struct args {
        const bf16 *a_;
        const bf16 *packed;
        bf16 *u_;
        const bf16 *k_;
        bf16 *r_;
    };
    static constexpr int K = 24, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> a_ = load_aligned<V>(p.a_ + row * 24ll + k); // !9:5
        return a_; // !10:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void u_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Half, W>(p.u_ + row * 32ll + col, op_cast<bf16>(product)); // !10:5
        const vec<float, W> k_ = load_aligned<W>(p.k_ + row * 32ll + col); // !5:10
        const vec<float, W> r_ = op_add(op_cast<bf16>(product), k_); // !11:5
        out.template put<Half, W>(p.r_ + row * 32ll + col, r_); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        u_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        u_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(stored_product_u_spec::args, a_, 0);
TF_LAYOUT(stored_product_u_spec::args, packed, 8);
TF_LAYOUT(stored_product_u_spec::args, u_, 16);
TF_LAYOUT(stored_product_u_spec::args, k_, 24);
TF_LAYOUT(stored_product_u_spec::args, r_, 32);
static_assert(sizeof(stored_product_u_spec::args) == 40, "size of args");
