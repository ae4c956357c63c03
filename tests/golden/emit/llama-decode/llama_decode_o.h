// Written by tfgen: llama_decode_o of specs/llama-decode.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k3, phase o:
//   body %o              bf16[B,1,256]       = linear %a, %wo                                   !42:5
//   epi  %x1             bf16[B,1,256]       = add %x, %o                                       !43:5
//   epi  %h2.ss          f32[B,1,1]          = row_sumsq %x1                                    !45:5
struct llama_decode_o_spec {
    struct args {
        const bf16 *a_;
        const bf16 *packed;
        const bf16 *x_;
        bf16 *x1_;
        float *h2_ss_;
        int B_;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 4, tile_n = 256, tile_k = 64, thread_m = 4, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = true, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> a_ = load_aligned<V>(p.a_ + row * 256ll + k); // !41:5
        return a_; // !42:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void o_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x_ = load_aligned<W>(p.x_ + row * 256ll + col); // !15:3
        const vec<float, W> x1_ = op_cast<bf16>(op_add(x_, product)); // !43:5
        out.template put<Half, W>(p.x1_ + row * 256ll + col, x1_); // !43:5
        sum += total<W>(op_square(x1_)); // !45:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        o_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        o_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
    DEV static void finish_row(const args &p, int batch, int row, int column_tile, float sum)
    {
        p.h2_ss_[row + column_tile] = sum; // !45:5
    }
};
TF_LAYOUT(llama_decode_o_spec::args, a_, 0);
TF_LAYOUT(llama_decode_o_spec::args, packed, 8);
TF_LAYOUT(llama_decode_o_spec::args, x_, 16);
TF_LAYOUT(llama_decode_o_spec::args, x1_, 24);
TF_LAYOUT(llama_decode_o_spec::args, h2_ss_, 32);
TF_LAYOUT(llama_decode_o_spec::args, B_, 40);
static_assert(sizeof(llama_decode_o_spec::args) == 48, "size of args");
