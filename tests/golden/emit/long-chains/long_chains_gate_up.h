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
struct k0_gate_up {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *one;
        const bf16 *r;
        bf16 *mish;
        const bf16 *bias;
        bf16 *scaled;
        int M;
    };
    static constexpr int K = 40, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = true;
    using b_type = bf16;
    struct context {
        float one, r;
    };
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 40ll + k); // !8:10
        return x; // !11:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float one = load_one(p.one); // !9:43
        c.one = one; // !9:43
        const float r = load_one(p.r + row); // !8:21
        c.r = r; // !8:21
        return c;
    }
    template <int W, class Out> DEV static void pairs_l(const args &p, const context &c, int row, int col, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int left = 56 - col;
        if (left <= 0) return;
        const vec<float, W> e_ = op_exp(lo); // !12:5
        const vec<float, W> p_ = op_add(e_, c.one); // !13:5
        const vec<float, W> s = op_log(p_); // !14:5
        const vec<float, W> t = op_tanh(s); // !15:5
        const vec<float, W> mish = op_cast<bf16>(op_mul(lo, t)); // !16:5
        out.template put_some<0, W>(p.mish + row * 56ll + col, left, mish); // !16:5
        const vec<float, W> g = op_gelu_tanh(mish); // !18:5
        const vec<float, W> gated = op_mul(g, hi); // !19:5
        const vec<float, W> bias = load<W>(p.bias + col, left); // !9:32
        const vec<float, W> b = op_add(gated, bias); // !20:5
        const vec<float, W> c_ = op_cos(b); // !21:5
        const vec<float, W> scaled = op_div(c_, c.r); // !22:5
        out.template put_some<0, W>(p.scaled + row * 56ll + col, left, scaled); // !22:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        pairs_l<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k0_gate_up::args, x, 0);
TF_LAYOUT(k0_gate_up::args, packed, 8);
TF_LAYOUT(k0_gate_up::args, one, 16);
TF_LAYOUT(k0_gate_up::args, r, 24);
TF_LAYOUT(k0_gate_up::args, mish, 32);
TF_LAYOUT(k0_gate_up::args, bias, 40);
TF_LAYOUT(k0_gate_up::args, scaled, 48);
TF_LAYOUT(k0_gate_up::args, M, 56);
static_assert(sizeof(k0_gate_up::args) == 64, "size of args");
