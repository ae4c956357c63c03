// Written by tfgen: bert_x2 of specs/bert-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k6, phase x2:
//   body %x2.s           f32[B,S,1]          = row_sum %s2                                      !42:5
//   body %x2.mu          f32[B,S,1]          = div %x2.s, 128                                   !42:5
//   body %x2.c           f32[B,S,128]        = sub %s2, %x2.mu                                  !42:5
//   body %x2.v           f32[B,S,1]          = row_sumsq %x2.c                                  !42:5
//   epi  %x2.vm          f32[B,S,1]          = div %x2.v, 128                                   !42:5
//   epi  %x2.ve          f32[B,S,1]          = add %x2.vm, 1e-12                                !42:5
//   epi  %x2.r           f32[B,S,1]          = rsqrt %x2.ve                                     !42:5
//   epi  %x2.n           f32[B,S,128]        = mul %x2.c, %x2.r                                 !42:5
//   epi  %x2.t           f32[B,S,128]        = mul %x2.n, %last_w                               !42:5
//   epi  %x2             bf16[B,S,128]       = add %x2.t, %last_b                               !42:5
struct bert_x2_spec {
    struct args {
        const bf16 *s2_;
        const bf16 *last_w_;
        const bf16 *last_b_;
        bf16 *x2_;
        int B_, S_;
    };
    struct context {
        float x2_mu_, x2_r_;
    };
    template <int V> struct element {
        vec<float, V> s2_, last_w_, last_b_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s2_ = load_aligned<V>(p.s2_ + row * 128ll + col); // !41:5
        const vec<float, V> last_w_ = load_aligned<V>(p.last_w_ + col); // !28:3
        const vec<float, V> last_b_ = load_aligned<V>(p.last_b_ + col); // !29:3
        return {s2_, last_w_, last_b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.s2_; // !42:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float x2_mu_ = op_div(total, 128.0f); // !42:5
        c.x2_mu_ = x2_mu_; // !42:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x2_c_ = op_sub(e.s2_, c.x2_mu_); // !42:5
        return op_square(x2_c_); // !42:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        const float x2_vm_ = op_div(total, 128.0f); // !42:5
        const float x2_ve_ = op_add(x2_vm_, 1e-12f); // !42:5
        const float x2_r_ = op_rsqrt(x2_ve_); // !42:5
        c.x2_r_ = x2_r_; // !42:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2_c_ = op_sub(e.s2_, c.x2_mu_); // !42:5
        const vec<float, V> x2_n_ = op_mul(x2_c_, c.x2_r_); // !42:5
        const vec<float, V> x2_t_ = op_mul(x2_n_, e.last_w_); // !42:5
        const vec<float, V> x2_ = op_add(x2_t_, e.last_b_); // !42:5
        store_aligned<V>(p.x2_ + row * 128ll + col, x2_); // !42:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(bert_x2_spec::args, s2_, 0);
TF_LAYOUT(bert_x2_spec::args, last_w_, 8);
TF_LAYOUT(bert_x2_spec::args, last_b_, 16);
TF_LAYOUT(bert_x2_spec::args, x2_, 24);
TF_LAYOUT(bert_x2_spec::args, B_, 32);
TF_LAYOUT(bert_x2_spec::args, S_, 36);
static_assert(sizeof(bert_x2_spec::args) == 40, "size of args");
