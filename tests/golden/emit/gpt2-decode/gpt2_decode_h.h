// Written by tfgen: gpt2_decode_h of specs/gpt2-decode.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase h:
//   body %h.s            f32[B,1,1]          = row_sum %x                                       !33:5
//   body %h.mu           f32[B,1,1]          = div %h.s, 128                                    !33:5
//   body %h.c            f32[B,1,128]        = sub %x, %h.mu                                    !33:5
//   body %h.v            f32[B,1,1]          = row_sumsq %h.c                                   !33:5
//   epi  %h.vm           f32[B,1,1]          = div %h.v, 128                                    !33:5
//   epi  %h.ve           f32[B,1,1]          = add %h.vm, 1e-05                                 !33:5
//   epi  %h.r            f32[B,1,1]          = rsqrt %h.ve                                      !33:5
//   epi  %h.n            f32[B,1,128]        = mul %h.c, %h.r                                   !33:5
//   epi  %h.t            f32[B,1,128]        = mul %h.n, %ln_1_w                                !33:5
//   epi  %h              bf16[B,1,128]       = add %h.t, %ln_1_b                                !33:5
struct gpt2_decode_h_spec {
    struct args {
        const bf16 *x_;
        const bf16 *ln_1_w_;
        const bf16 *ln_1_b_;
        bf16 *h_;
        int B_;
    };
    struct context {
        float h_mu_, h_r_;
    };
    template <int V> struct element {
        vec<float, V> x_, ln_1_w_, ln_1_b_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 128ll + col); // !12:3
        const vec<float, V> ln_1_w_ = load_aligned<V>(p.ln_1_w_ + col); // !15:3
        const vec<float, V> ln_1_b_ = load_aligned<V>(p.ln_1_b_ + col); // !16:3
        return {x_, ln_1_w_, ln_1_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !33:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu_ = op_div(total, 128.0f); // !33:5
        c.h_mu_ = h_mu_; // !33:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c_ = op_sub(e.x_, c.h_mu_); // !33:5
        return op_square(h_c_); // !33:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm_ = op_div(total, 128.0f); // !33:5
        const float h_ve_ = op_add(h_vm_, 1e-05f); // !33:5
        const float h_r_ = op_rsqrt(h_ve_); // !33:5
        c.h_r_ = h_r_; // !33:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c_ = op_sub(e.x_, c.h_mu_); // !33:5
        const vec<float, V> h_n_ = op_mul(h_c_, c.h_r_); // !33:5
        const vec<float, V> h_t_ = op_mul(h_n_, e.ln_1_w_); // !33:5
        const vec<float, V> h_ = op_add(h_t_, e.ln_1_b_); // !33:5
        store_aligned<V>(p.h_ + row * 128ll + col, h_); // !33:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(gpt2_decode_h_spec::args, x_, 0);
TF_LAYOUT(gpt2_decode_h_spec::args, ln_1_w_, 8);
TF_LAYOUT(gpt2_decode_h_spec::args, ln_1_b_, 16);
TF_LAYOUT(gpt2_decode_h_spec::args, h_, 24);
TF_LAYOUT(gpt2_decode_h_spec::args, B_, 32);
static_assert(sizeof(gpt2_decode_h_spec::args) == 40, "size of args");
