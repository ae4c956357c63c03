// Written by tfgen: layernorm_n of specs/layernorm.yaml for cdna; read it beside templates/rows/rows.h.
// Kernel k0, phase n:
//   body %n.s            f32[B,S,1]          = row_sum %x                                       !18:5
//   body %n.mu           f32[B,S,1]          = div %n.s, 256                                    !18:5
//   body %n.c            f32[B,S,256]        = sub %x, %n.mu                                    !18:5
//   body %n.v            f32[B,S,1]          = row_sumsq %n.c                                   !18:5
//   epi  %n.vm           f32[B,S,1]          = div %n.v, 256                                    !18:5
//   epi  %n.ve           f32[B,S,1]          = add %n.vm, 1e-05                                 !18:5
//   epi  %n.r            f32[B,S,1]          = rsqrt %n.ve                                      !18:5
//   epi  %n.n            f32[B,S,256]        = mul %n.c, %n.r                                   !18:5
//   epi  %n.t            f32[B,S,256]        = mul %n.n, %w                                     !18:5
//   epi  %n              bf16[B,S,256]       = add %n.t, %b                                     !18:5
struct layernorm_n_spec {
    struct args {
        const bf16 *x_;
        const bf16 *w_;
        const bf16 *b_;
        bf16 *n_;
        int B_, S_;
    };
    struct context {
        float n_mu_, n_r_;
    };
    template <int V> struct element {
        bf16_pairs<V> x_, w_, b_;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + col); // !13:10
        const vec<float, V> w_ = load_aligned<V>(p.w_ + col); // !15:3
        const vec<float, V> b_ = load_aligned<V>(p.b_ + col); // !16:3
        return {to_pairs(x_), to_pairs(w_), to_pairs(b_)};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return from_pairs(e.x_); // !18:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float n_mu_ = op_div(total, 256.0f); // !18:5
        c.n_mu_ = n_mu_; // !18:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> n_c_ = op_sub(from_pairs(e.x_), c.n_mu_); // !18:5
        return op_square(n_c_); // !18:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float n_vm_ = op_div(total, 256.0f); // !18:5
        const float n_ve_ = op_add(n_vm_, 1e-05f); // !18:5
        const float n_r_ = op_rsqrt(n_ve_); // !18:5
        c.n_r_ = n_r_; // !18:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_c_ = op_sub(from_pairs(e.x_), c.n_mu_); // !18:5
        const vec<float, V> n_n_ = op_mul(n_c_, c.n_r_); // !18:5
        const vec<float, V> n_t_ = op_mul(n_n_, from_pairs(e.w_)); // !18:5
        const vec<float, V> n_ = op_add(n_t_, from_pairs(e.b_)); // !18:5
        store_aligned<V>(p.n_ + row * 256ll + col, n_); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(layernorm_n_spec::args, x_, 0);
TF_LAYOUT(layernorm_n_spec::args, w_, 8);
TF_LAYOUT(layernorm_n_spec::args, b_, 16);
TF_LAYOUT(layernorm_n_spec::args, n_, 24);
TF_LAYOUT(layernorm_n_spec::args, B_, 32);
TF_LAYOUT(layernorm_n_spec::args, S_, 36);
static_assert(sizeof(layernorm_n_spec::args) == 40, "size of args");
