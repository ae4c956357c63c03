// Written by tfgen: llama_gate_up of specs/llama-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k4, phase gate_up:
//   body %gate.raw       f32[B,S,688]        = linear %x1, %w_gate fold=%mlp_norm               !37:5
//   body %up.raw         f32[B,S,688]        = linear %x1, %w_up fold=%mlp_norm                 !38:5
//   epi  %gate.ms        f32[B,S,1]          = div %h2.ss, 256                                  !36:5
//   epi  %gate.me        f32[B,S,1]          = add %gate.ms, 1e-05                              !36:5
//   epi  %gate.r         f32[B,S,1]          = rsqrt %gate.me                                   !36:5
//   epi  %gate           bf16[B,S,688]       = mul %gate.raw, %gate.r                           !36:5
//   epi  %up             bf16[B,S,688]       = mul %up.raw, %gate.r                             !36:5
//   epi  %act            bf16[B,S,688]       = silu %gate                                       !39:5
//   epi  %prod           bf16[B,S,688]       = mul %act, %up                                    !40:5
struct llama_gate_up_spec {
    struct args {
        const bf16 *x1_;
        const bf16 *packed;
        const float *h2_ss_;
        bf16 *prod_;
        int B_, S_;
    };
    static constexpr int K = 256, packed_n = 1376, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {
        float gate_r_;
    };
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x1_ = load_aligned<V>(p.x1_ + row * 256ll + k); // !34:5
        return x1_; // !37:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        float h2_ss_ = 0; // !36:5
        for (int i = 0; i < 2; i++) h2_ss_ += p.h2_ss_[row * 2ll + i]; // !36:5
        const float gate_ms_ = op_div(h2_ss_, 256.0f); // !36:5
        const float gate_me_ = op_add(gate_ms_, 1e-05f); // !36:5
        const float gate_r_ = op_rsqrt(gate_me_); // !36:5
        c.gate_r_ = gate_r_; // !36:5
        return c;
    }
    template <int W, class Out> DEV static void gate_raw_epilogue(const args &p, const context &c, int row, int col, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const vec<float, W> gate_ = op_mul(lo, c.gate_r_); // !36:5
        const vec<float, W> act_ = op_silu(gate_); // !39:5
        const vec<float, W> up_ = op_mul(hi, c.gate_r_); // !36:5
        const vec<float, W> prod_ = op_mul(act_, up_); // !40:5
        out.template put<0, W>(p.prod_ + row * 688ll + col, prod_); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        gate_raw_epilogue<W>(p, c, row, n / 32 * 16 + n % 32, lo, hi, sum, out);
    }
};
TF_LAYOUT(llama_gate_up_spec::args, x1_, 0);
TF_LAYOUT(llama_gate_up_spec::args, packed, 8);
TF_LAYOUT(llama_gate_up_spec::args, h2_ss_, 16);
TF_LAYOUT(llama_gate_up_spec::args, prod_, 24);
TF_LAYOUT(llama_gate_up_spec::args, B_, 32);
TF_LAYOUT(llama_gate_up_spec::args, S_, 36);
static_assert(sizeof(llama_gate_up_spec::args) == 40, "size of args");
