// Written by tfgen: k0_lo of tests/specs/names.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase lo:
//   body %lo             bf16[int,S,16]      = linear %out, %args                               !15:5
//   epi  %unpack         bf16[int,S,16]      = add %out, %lo                                    !16:5
struct k0_lo_spec {
    struct args {
        const bf16 *out_;
        const bf16 *packed;
        bf16 *unpack_;
        int int_, S_;
    };
    static constexpr int K = 16, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.int_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> out_ = load_aligned<V>(p.out_ + row * 16ll + k); // !6:105
        return out_; // !15:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void lo_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) col = 0;
        const vec<float, W> out_ = load_aligned<W>(p.out_ + row * 16ll + col); // !6:105
        const vec<float, W> unpack_ = op_add(out_, product); // !16:5
        if (0 < left) // !16:5
            out.template put<Half, W>(p.unpack_ + row * 16ll + col, unpack_); // !16:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        lo_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        lo_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(k0_lo_spec::args, out_, 0);
TF_LAYOUT(k0_lo_spec::args, packed, 8);
TF_LAYOUT(k0_lo_spec::args, unpack_, 16);
TF_LAYOUT(k0_lo_spec::args, int_, 24);
TF_LAYOUT(k0_lo_spec::args, S_, 28);
static_assert(sizeof(k0_lo_spec::args) == 32, "size of args");
