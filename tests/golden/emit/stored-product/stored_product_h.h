// Written by tfgen: stored_product_h of tests/specs/stored-product.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase h:
//   body %h              bf16[2,5,24]        = linear %k, %w                                    !8:5
//   epi  %a              bf16[2,5,24]        = relu %h                                          !9:5
struct stored_product_h_spec {
    struct args {
        const bf16 *k_;
        const bf16 *packed;
        bf16 *h_;
        bf16 *a_;
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
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 32ll + k); // !5:10
        return k_; // !8:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void h_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 24 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.h_ + row * 24ll + col, left, op_cast<bf16>(product)); // !8:5
        const vec<float, W> a_ = op_relu(op_cast<bf16>(product)); // !9:5
        out.template put_some<Half, W>(p.a_ + row * 24ll + col, left, a_); // !9:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        h_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        h_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(stored_product_h_spec::args, k_, 0);
TF_LAYOUT(stored_product_h_spec::args, packed, 8);
TF_LAYOUT(stored_product_h_spec::args, h_, 16);
TF_LAYOUT(stored_product_h_spec::args, a_, 24);
static_assert(sizeof(stored_product_h_spec::args) == 32, "size of args");
