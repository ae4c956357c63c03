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
struct k4_gate_up {
    struct args {
        const bf16 *x1;
        const bf16 *packed;
        const float *h2_ss;
        bf16 *prod;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 1376, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = true;
    using b_type = bf16;
    struct context {
        float gate_r;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + k); // !34:5
        return x1; // !37:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        float h2_ss = 0; // !36:5
        for (int i = 0; i < 2; i++) h2_ss += p.h2_ss[row * 2ll + i]; // !36:5
        const float gate_ms = op_div(h2_ss, 256.0f); // !36:5
        const float gate_me = op_add(gate_ms, 1e-05f); // !36:5
        const float gate_r = op_rsqrt(gate_me); // !36:5
        c.gate_r = gate_r; // !36:5
        return c;
    }
    template <int W, class Out> DEV static void pairs_gate_raw(const args &p, const context &c, int row, int col, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const vec<float, W> gate = op_mul(lo, c.gate_r); // !36:5
        const vec<float, W> act = op_silu(gate); // !39:5
        const vec<float, W> up = op_mul(hi, c.gate_r); // !36:5
        const vec<float, W> prod = op_mul(act, up); // !40:5
        out.template put<0, W>(p.prod + row * 688ll + col, prod); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        pairs_gate_raw<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k4_gate_up::args, x1, 0);
TF_LAYOUT(k4_gate_up::args, packed, 8);
TF_LAYOUT(k4_gate_up::args, h2_ss, 16);
TF_LAYOUT(k4_gate_up::args, prod, 24);
TF_LAYOUT(k4_gate_up::args, B, 32);
TF_LAYOUT(k4_gate_up::args, S, 36);
static_assert(sizeof(k4_gate_up::args) == 40, "size of args");
