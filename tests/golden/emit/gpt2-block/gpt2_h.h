// Written by tfgen: gpt2_h of specs/gpt2-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase h:
//   body %h.s            f32[B,S,1]          = row_sum %x                                       !28:5
//   body %h.mu           f32[B,S,1]          = div %h.s, 128                                    !28:5
//   body %h.c            f32[B,S,128]        = sub %x, %h.mu                                    !28:5
//   body %h.v            f32[B,S,1]          = row_sumsq %h.c                                   !28:5
//   epi  %h.vm           f32[B,S,1]          = div %h.v, 128                                    !28:5
//   epi  %h.ve           f32[B,S,1]          = add %h.vm, 1e-05                                 !28:5
//   epi  %h.r            f32[B,S,1]          = rsqrt %h.ve                                      !28:5
//   epi  %h.n            f32[B,S,128]        = mul %h.c, %h.r                                   !28:5
//   epi  %h.t            f32[B,S,128]        = mul %h.n, %ln_1_w                                !28:5
//   epi  %h              bf16[B,S,128]       = add %h.t, %ln_1_b                                !28:5
struct gpt2_h_spec {
    struct args {
        const bf16 *x_;
        const bf16 *ln_1_w_;
        const bf16 *ln_1_b_;
        bf16 *h_;
        int B_, S_;
    };
    struct context {
        float h_mu_, h_r_;
    };
    template <int V> struct element {
        vec<float, V> x_, ln_1_w_, ln_1_b_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 128ll + col); // !11:10
        const vec<float, V> ln_1_w_ = load_aligned<V>(p.ln_1_w_ + col); // !13:3
        const vec<float, V> ln_1_b_ = load_aligned<V>(p.ln_1_b_ + col); // !14:3
        return {x_, ln_1_w_, ln_1_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !28:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu_ = op_div(total, 128.0f); // !28:5
        c.h_mu_ = h_mu_; // !28:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c_ = op_sub(e.x_, c.h_mu_); // !28:5
        return op_square(h_c_); // !28:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm_ = op_div(total, 128.0f); // !28:5
        const float h_ve_ = op_add(h_vm_, 1e-05f); // !28:5
        const float h_r_ = op_rsqrt(h_ve_); // !28:5
        c.h_r_ = h_r_; // !28:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c_ = op_sub(e.x_, c.h_mu_); // !28:5
        const vec<float, V> h_n_ = op_mul(h_c_, c.h_r_); // !28:5
        const vec<float, V> h_t_ = op_mul(h_n_, e.ln_1_w_); // !28:5
        const vec<float, V> h_ = op_add(h_t_, e.ln_1_b_); // !28:5
        store_aligned<V>(p.h_ + row * 128ll + col, h_); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(gpt2_h_spec::args, x_, 0);
TF_LAYOUT(gpt2_h_spec::args, ln_1_w_, 8);
TF_LAYOUT(gpt2_h_spec::args, ln_1_b_, 16);
TF_LAYOUT(gpt2_h_spec::args, h_, 24);
TF_LAYOUT(gpt2_h_spec::args, B_, 32);
TF_LAYOUT(gpt2_h_spec::args, S_, 36);
static_assert(sizeof(gpt2_h_spec::args) == 40, "size of args");
