// Written by tfgen: gelu_layernorm_linear_g of specs/gelu-layernorm-linear.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase g:
//   body %n.s            f32[B,S,1]          = row_sum %l                                       !21:5
//   body %n.mu           f32[B,S,1]          = div %n.s, 344                                    !21:5
//   body %n.c            f32[B,S,344]        = sub %l, %n.mu                                    !21:5
//   body %n.v            f32[B,S,1]          = row_sumsq %n.c                                   !21:5
//   epi  %n.vm           f32[B,S,1]          = div %n.v, 344                                    !21:5
//   epi  %n.ve           f32[B,S,1]          = add %n.vm, 1e-05                                 !21:5
//   epi  %n.r            f32[B,S,1]          = rsqrt %n.ve                                      !21:5
//   epi  %n.n            f32[B,S,344]        = mul %n.c, %n.r                                   !21:5
//   epi  %n.t            f32[B,S,344]        = mul %n.n, %norm_w                                !21:5
//   epi  %n              bf16[B,S,344]       = add %n.t, %norm_b                                !21:5
//   epi  %g              bf16[B,S,344]       = gelu_erf %n                                      !22:5
struct gelu_layernorm_linear_g_spec {
    struct args {
        const bf16 *l_;
        const bf16 *norm_w_;
        const bf16 *norm_b_;
        bf16 *g_;
        int B_, S_;
    };
    struct context {
        float n_mu_, n_r_;
    };
    template <int V> struct element {
        vec<float, V> l_, norm_w_, norm_b_;
    };
    static constexpr int N = 344, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> l_ = load<V>(p.l_ + row * 344ll + col, left); // !20:5
        const vec<float, V> norm_w_ = load<V>(p.norm_w_ + col, left); // !17:3
        const vec<float, V> norm_b_ = load<V>(p.norm_b_ + col, left); // !18:3
        return {l_, norm_w_, norm_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !21:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.l_; // !21:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float n_mu_ = op_div(total, 344.0f); // !21:5
        c.n_mu_ = n_mu_; // !21:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !21:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> n_c_ = op_sub(e.l_, c.n_mu_); // !21:5
        return op_square(n_c_); // !21:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float n_vm_ = op_div(total, 344.0f); // !21:5
        const float n_ve_ = op_add(n_vm_, 1e-05f); // !21:5
        const float n_r_ = op_rsqrt(n_ve_); // !21:5
        c.n_r_ = n_r_; // !21:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_c_ = op_sub(e.l_, c.n_mu_); // !21:5
        const vec<float, V> n_n_ = op_mul(n_c_, c.n_r_); // !21:5
        const vec<float, V> n_t_ = op_mul(n_n_, e.norm_w_); // !21:5
        const vec<float, V> n_ = op_add(n_t_, e.norm_b_); // !21:5
        const vec<float, V> g_ = op_gelu_erf(n_); // !22:5
        store<V>(p.g_ + row * 344ll + col, left, g_); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(gelu_layernorm_linear_g_spec::args, l_, 0);
TF_LAYOUT(gelu_layernorm_linear_g_spec::args, norm_w_, 8);
TF_LAYOUT(gelu_layernorm_linear_g_spec::args, norm_b_, 16);
TF_LAYOUT(gelu_layernorm_linear_g_spec::args, g_, 24);
TF_LAYOUT(gelu_layernorm_linear_g_spec::args, B_, 32);
TF_LAYOUT(gelu_layernorm_linear_g_spec::args, S_, 36);
static_assert(sizeof(gelu_layernorm_linear_g_spec::args) == 40, "size of args");
