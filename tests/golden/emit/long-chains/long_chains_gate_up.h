// Written by tfgen: long_chains_gate_up of tests/specs/long-chains.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase gate_up:
//   body %l              bf16[M,56]          = linear %x, %w                                    !11:5
//   body %u              bf16[M,56]          = linear %x, %v                                    !17:5
//   epi  %e              bf16[M,56]          = exp %l                                           !12:5
//   epi  %p              bf16[M,56]          = add %e, %one                                     !13:5
//   epi  %s              bf16[M,56]          = log %p                                           !14:5
//   epi  %t              bf16[M,56]          = tanh %s                                          !15:5
//   epi  %mish           bf16[M,56]          = mul %l, %t                                       !16:5
//   epi  %g              bf16[M,56]          = gelu_tanh %mish                                  !18:5
//   epi  %gated          bf16[M,56]          = mul %g, %u                                       !19:5
//   epi  %b              bf16[M,56]          = add %gated, %bias                                !20:5
//   epi  %c              bf16[M,56]          = cos %b                                           !21:5
//   epi  %scaled         bf16[M,56]          = div %c, %r                                       !22:5
struct long_chains_gate_up_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        const bf16 *one_;
        const bf16 *r_;
        bf16 *mish_;
        const bf16 *bias_;
        bf16 *scaled_;
        int M_;
    };
    static constexpr int K = 40, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {
        float one_, r_;
    };
    DEV static int rows(const args &p) { return p.M_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 40ll + k); // !8:10
        return x_; // !11:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float one_ = load_one(p.one_); // !9:43
        c.one_ = one_; // !9:43
        const float r_ = load_one(p.r_ + row); // !8:21
        c.r_ = r_; // !8:21
        return c;
    }
    template <int W, class Out> DEV static void l_epilogue(const args &p, const context &c, int row, int col, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int left = 56 - col;
        if (left <= 0) return;
        const vec<float, W> e_ = op_exp(lo); // !12:5
        const vec<float, W> p_ = op_add(e_, c.one_); // !13:5
        const vec<float, W> s_ = op_log(p_); // !14:5
        const vec<float, W> t_ = op_tanh(s_); // !15:5
        const vec<float, W> mish_ = op_cast<bf16>(op_mul(lo, t_)); // !16:5
        out.template put_some<0, W>(p.mish_ + row * 56ll + col, left, mish_); // !16:5
        const vec<float, W> g_ = op_gelu_tanh(mish_); // !18:5
        const vec<float, W> gated_ = op_mul(g_, hi); // !19:5
        const vec<float, W> bias_ = load<W>(p.bias_ + col, left); // !9:32
        const vec<float, W> b_ = op_add(gated_, bias_); // !20:5
        const vec<float, W> c_ = op_cos(b_); // !21:5
        const vec<float, W> scaled_ = op_div(c_, c.r_); // !22:5
        out.template put_some<0, W>(p.scaled_ + row * 56ll + col, left, scaled_); // !22:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        l_epilogue<W>(p, c, row, n / 32 * 16 + n % 32, lo, hi, sum, out);
    }
};
TF_LAYOUT(long_chains_gate_up_spec::args, x_, 0);
TF_LAYOUT(long_chains_gate_up_spec::args, packed, 8);
TF_LAYOUT(long_chains_gate_up_spec::args, one_, 16);
TF_LAYOUT(long_chains_gate_up_spec::args, r_, 24);
TF_LAYOUT(long_chains_gate_up_spec::args, mish_, 32);
TF_LAYOUT(long_chains_gate_up_spec::args, bias_, 40);
TF_LAYOUT(long_chains_gate_up_spec::args, scaled_, 48);
TF_LAYOUT(long_chains_gate_up_spec::args, M_, 56);
static_assert(sizeof(long_chains_gate_up_spec::args) == 64, "size of args");
