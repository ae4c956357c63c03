// Written by tfgen: bert_x1 of specs/bert-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase x1:
//   body %x1.s           f32[B,S,1]          = row_sum %s1                                      !37:5
//   body %x1.mu          f32[B,S,1]          = div %x1.s, 128                                   !37:5
//   body %x1.c           f32[B,S,128]        = sub %s1, %x1.mu                                  !37:5
//   body %x1.v           f32[B,S,1]          = row_sumsq %x1.c                                  !37:5
//   epi  %x1.vm          f32[B,S,1]          = div %x1.v, 128                                   !37:5
//   epi  %x1.ve          f32[B,S,1]          = add %x1.vm, 1e-12                                !37:5
//   epi  %x1.r           f32[B,S,1]          = rsqrt %x1.ve                                     !37:5
//   epi  %x1.n           f32[B,S,128]        = mul %x1.c, %x1.r                                 !37:5
//   epi  %x1.t           f32[B,S,128]        = mul %x1.n, %norm_w                               !37:5
//   epi  %x1             bf16[B,S,128]       = add %x1.t, %norm_b                               !37:5
struct bert_x1_spec {
    struct args {
        const bf16 *s1_;
        const bf16 *norm_w_;
        const bf16 *norm_b_;
        bf16 *x1_;
        int B_, S_;
    };
    struct context {
        float x1_mu_, x1_r_;
    };
    template <int V> struct element {
        vec<float, V> s1_, norm_w_, norm_b_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s1_ = load_aligned<V>(p.s1_ + row * 128ll + col); // !36:5
        const vec<float, V> norm_w_ = load_aligned<V>(p.norm_w_ + col); // !22:3
        const vec<float, V> norm_b_ = load_aligned<V>(p.norm_b_ + col); // !23:3
        return {s1_, norm_w_, norm_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.s1_; // !37:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float x1_mu_ = op_div(total, 128.0f); // !37:5
        c.x1_mu_ = x1_mu_; // !37:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x1_c_ = op_sub(e.s1_, c.x1_mu_); // !37:5
        return op_square(x1_c_); // !37:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float x1_vm_ = op_div(total, 128.0f); // !37:5
        const float x1_ve_ = op_add(x1_vm_, 1e-12f); // !37:5
        const float x1_r_ = op_rsqrt(x1_ve_); // !37:5
        c.x1_r_ = x1_r_; // !37:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1_c_ = op_sub(e.s1_, c.x1_mu_); // !37:5
        const vec<float, V> x1_n_ = op_mul(x1_c_, c.x1_r_); // !37:5
        const vec<float, V> x1_t_ = op_mul(x1_n_, e.norm_w_); // !37:5
        const vec<float, V> x1_ = op_add(x1_t_, e.norm_b_); // !37:5
        store_aligned<V>(p.x1_ + row * 128ll + col, x1_); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(bert_x1_spec::args, s1_, 0);
TF_LAYOUT(bert_x1_spec::args, norm_w_, 8);
TF_LAYOUT(bert_x1_spec::args, norm_b_, 16);
TF_LAYOUT(bert_x1_spec::args, x1_, 24);
TF_LAYOUT(bert_x1_spec::args, B_, 32);
TF_LAYOUT(bert_x1_spec::args, S_, 36);
static_assert(sizeof(bert_x1_spec::args) == 40, "size of args");
