// Written by tfgen: llama_down of specs/llama-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k5, phase down:
//   body %down           bf16[B,S,256]       = linear %prod, %w_down                            !41:5
//   epi  %x2             bf16[B,S,256]       = add %x1, %down                                   !42:5
struct llama_down_spec {
    struct args {
        const bf16 *prod_;
        const bf16 *packed;
        const bf16 *x1_;
        bf16 *x2_;
        int B_, S_;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> prod_ = load_aligned<V>(p.prod_ + row * 688ll + k); // !40:5
        return prod_; // !41:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void down_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x1_ = load_aligned<W>(p.x1_ + row * 256ll + col); // !34:5
        const vec<float, W> x2_ = op_add(x1_, product); // !42:5
        out.template put<Half, W>(p.x2_ + row * 256ll + col, x2_); // !42:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        down_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        down_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(llama_down_spec::args, prod_, 0);
TF_LAYOUT(llama_down_spec::args, packed, 8);
TF_LAYOUT(llama_down_spec::args, x1_, 16);
TF_LAYOUT(llama_down_spec::args, x2_, 24);
TF_LAYOUT(llama_down_spec::args, B_, 32);
TF_LAYOUT(llama_down_spec::args, S_, 36);
static_assert(sizeof(llama_down_spec::args) == 40, "size of args");
