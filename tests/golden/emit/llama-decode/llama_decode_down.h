// Written by tfgen: llama_decode_down of specs/llama-decode.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k5, phase down:
//   body %down           bf16[B,1,256]       = linear %prod, %w_down                            !50:5
//   epi  %x2             bf16[B,1,256]       = add %x1, %down                                   !51:5
struct llama_decode_down_spec {
    struct args {
        const bf16 *prod_;
        const bf16 *packed;
        const bf16 *x1_;
        bf16 *x2_;
        int B_;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 4, tile_n = 256, tile_k = 64, thread_m = 4, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> prod_ = load_aligned<V>(p.prod_ + row * 688ll + k); // !49:5
        return prod_; // !50:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void down_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x1_ = load_aligned<W>(p.x1_ + row * 256ll + col); // !43:5
        const vec<float, W> x2_ = op_add(x1_, product); // !51:5
        out.template put<Half, W>(p.x2_ + row * 256ll + col, x2_); // !51:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        down_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        down_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(llama_decode_down_spec::args, prod_, 0);
TF_LAYOUT(llama_decode_down_spec::args, packed, 8);
TF_LAYOUT(llama_decode_down_spec::args, x1_, 16);
TF_LAYOUT(llama_decode_down_spec::args, x2_, 24);
TF_LAYOUT(llama_decode_down_spec::args, B_, 32);
static_assert(sizeof(llama_decode_down_spec::args) == 40, "size of args");
