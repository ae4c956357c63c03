// Written by tfgen: layernorm_gelu_linear_n of specs/layernorm-gelu-linear.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase n:
//   body %n.s            f32[B,S,1]          = row_sum %g                                       !22:5
//   body %n.mu           f32[B,S,1]          = div %n.s, 344                                    !22:5
//   body %n.c            f32[B,S,344]        = sub %g, %n.mu                                    !22:5
//   body %n.v            f32[B,S,1]          = row_sumsq %n.c                                   !22:5
//   epi  %n.vm           f32[B,S,1]          = div %n.v, 344                                    !22:5
//   epi  %n.ve           f32[B,S,1]          = add %n.vm, 1e-05                                 !22:5
//   epi  %n.r            f32[B,S,1]          = rsqrt %n.ve                                      !22:5
//   epi  %n.n            f32[B,S,344]        = mul %n.c, %n.r                                   !22:5
//   epi  %n.t            f32[B,S,344]        = mul %n.n, %norm_w                                !22:5
//   epi  %n              bf16[B,S,344]       = add %n.t, %norm_b                                !22:5
struct layernorm_gelu_linear_n_spec {
    struct args {
        const bf16 *g_;
        const bf16 *norm_w_;
        const bf16 *norm_b_;
        bf16 *n_;
        int B_, S_;
    };
    struct context {
        float n_mu_, n_r_;
    };
    template <int V> struct element {
        vec<float, V> g_, norm_w_, norm_b_;
    };
    static constexpr int N = 344, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g_ = load<V>(p.g_ + row * 344ll + col, left); // !21:5
        const vec<float, V> norm_w_ = load<V>(p.norm_w_ + col, left); // !17:3
        const vec<float, V> norm_b_ = load<V>(p.norm_b_ + col, left); // !18:3
        return {g_, norm_w_, norm_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !22:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.g_; // !22:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float n_mu_ = op_div(total, 344.0f); // !22:5
        c.n_mu_ = n_mu_; // !22:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !22:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> n_c_ = op_sub(e.g_, c.n_mu_); // !22:5
        return op_square(n_c_); // !22:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float n_vm_ = op_div(total, 344.0f); // !22:5
        const float n_ve_ = op_add(n_vm_, 1e-05f); // !22:5
        const float n_r_ = op_rsqrt(n_ve_); // !22:5
        c.n_r_ = n_r_; // !22:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_c_ = op_sub(e.g_, c.n_mu_); // !22:5
        const vec<float, V> n_n_ = op_mul(n_c_, c.n_r_); // !22:5
        const vec<float, V> n_t_ = op_mul(n_n_, e.norm_w_); // !22:5
        const vec<float, V> n_ = op_add(n_t_, e.norm_b_); // !22:5
        store<V>(p.n_ + row * 344ll + col, left, n_); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(layernorm_gelu_linear_n_spec::args, g_, 0);
TF_LAYOUT(layernorm_gelu_linear_n_spec::args, norm_w_, 8);
TF_LAYOUT(layernorm_gelu_linear_n_spec::args, norm_b_, 16);
TF_LAYOUT(layernorm_gelu_linear_n_spec::args, n_, 24);
TF_LAYOUT(layernorm_gelu_linear_n_spec::args, B_, 32);
TF_LAYOUT(layernorm_gelu_linear_n_spec::args, S_, 36);
static_assert(sizeof(layernorm_gelu_linear_n_spec::args) == 40, "size of args");
