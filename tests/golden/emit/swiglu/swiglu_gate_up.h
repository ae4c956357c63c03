// Written by tfgen: swiglu_gate_up of specs/swiglu.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase gate_up:
//   body %gate           bf16[B,S,344]       = linear %x, %w_gate                               !19:5
//   body %up             bf16[B,S,344]       = linear %x, %w_up                                 !20:5
//   epi  %act            bf16[B,S,344]       = silu %gate                                       !21:5
//   epi  %prod           bf16[B,S,344]       = mul %act, %up                                    !22:5
struct swiglu_gate_up_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        bf16 *prod_;
        int B_, S_;
    };
    static constexpr int K = 256, packed_n = 704, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + k); // !14:10
        return x_; // !19:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, class Out> DEV static void gate_epilogue(const args &p, const context &c, int row, int col, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        const vec<float, W> act_ = op_silu(lo); // !21:5
        const vec<float, W> prod_ = op_mul(act_, hi); // !22:5
        out.template put_some<0, W>(p.prod_ + row * 344ll + col, left, prod_); // !22:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        gate_epilogue<W>(p, c, row, n / 32 * 16 + n % 32, lo, hi, sum, out);
    }
};
TF_LAYOUT(swiglu_gate_up_spec::args, x_, 0);
TF_LAYOUT(swiglu_gate_up_spec::args, packed, 8);
TF_LAYOUT(swiglu_gate_up_spec::args, prod_, 16);
TF_LAYOUT(swiglu_gate_up_spec::args, B_, 24);
TF_LAYOUT(swiglu_gate_up_spec::args, S_, 28);
static_assert(sizeof(swiglu_gate_up_spec::args) == 32, "size of args");
