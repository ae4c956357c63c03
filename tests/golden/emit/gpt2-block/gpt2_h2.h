// Written by tfgen: gpt2_h2 of specs/gpt2-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase h2:
//   body %h2.s           f32[B,S,1]          = row_sum %x1                                      !34:5
//   body %h2.mu          f32[B,S,1]          = div %h2.s, 128                                   !34:5
//   body %h2.c           f32[B,S,128]        = sub %x1, %h2.mu                                  !34:5
//   body %h2.v           f32[B,S,1]          = row_sumsq %h2.c                                  !34:5
//   epi  %h2.vm          f32[B,S,1]          = div %h2.v, 128                                   !34:5
//   epi  %h2.ve          f32[B,S,1]          = add %h2.vm, 1e-05                                !34:5
//   epi  %h2.r           f32[B,S,1]          = rsqrt %h2.ve                                     !34:5
//   epi  %h2.n           f32[B,S,128]        = mul %h2.c, %h2.r                                 !34:5
//   epi  %h2.t           f32[B,S,128]        = mul %h2.n, %ln_2_w                               !34:5
//   epi  %h2             bf16[B,S,128]       = add %h2.t, %ln_2_b                               !34:5
struct gpt2_h2_spec {
    struct args {
        const bf16 *x1_;
        const bf16 *ln_2_w_;
        const bf16 *ln_2_b_;
        bf16 *h2_;
        int B_, S_;
    };
    struct context {
        float h2_mu_, h2_r_;
    };
    template <int V> struct element {
        vec<float, V> x1_, ln_2_w_, ln_2_b_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1_ = load_aligned<V>(p.x1_ + row * 128ll + col); // !33:5
        const vec<float, V> ln_2_w_ = load_aligned<V>(p.ln_2_w_ + col); // !21:3
        const vec<float, V> ln_2_b_ = load_aligned<V>(p.ln_2_b_ + col); // !22:3
        return {x1_, ln_2_w_, ln_2_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x1_; // !34:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu_ = op_div(total, 128.0f); // !34:5
        c.h2_mu_ = h2_mu_; // !34:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c_ = op_sub(e.x1_, c.h2_mu_); // !34:5
        return op_square(h2_c_); // !34:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm_ = op_div(total, 128.0f); // !34:5
        const float h2_ve_ = op_add(h2_vm_, 1e-05f); // !34:5
        const float h2_r_ = op_rsqrt(h2_ve_); // !34:5
        c.h2_r_ = h2_r_; // !34:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c_ = op_sub(e.x1_, c.h2_mu_); // !34:5
        const vec<float, V> h2_n_ = op_mul(h2_c_, c.h2_r_); // !34:5
        const vec<float, V> h2_t_ = op_mul(h2_n_, e.ln_2_w_); // !34:5
        const vec<float, V> h2_ = op_add(h2_t_, e.ln_2_b_); // !34:5
        store_aligned<V>(p.h2_ + row * 128ll + col, h2_); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(gpt2_h2_spec::args, x1_, 0);
TF_LAYOUT(gpt2_h2_spec::args, ln_2_w_, 8);
TF_LAYOUT(gpt2_h2_spec::args, ln_2_b_, 16);
TF_LAYOUT(gpt2_h2_spec::args, h2_, 24);
TF_LAYOUT(gpt2_h2_spec::args, B_, 32);
TF_LAYOUT(gpt2_h2_spec::args, S_, 36);
static_assert(sizeof(gpt2_h2_spec::args) == 40, "size of args");
