// Written by tfgen: every_op_b3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase b3:
//   pro  %a1             f32[B,S,37]         = neg %x                                           !8:5
//   pro  %a2             f32[B,S,37]         = exp %a1                                          !9:5
//   pro  %a6             f32[B,S,37]         = rsqrt %a2                                        !13:5
//   pro  %a7             f32[B,S,37]         = sin %a6                                          !14:5
//   pro  %a9             f32[B,S,37]         = tanh %a7                                         !16:5
//   pro  %b4             f32[B,S,37]         = gelu_tanh %a9                                    !20:5
//   pro  %b5             f32[B,S,37]         = relu %b4                                         !21:5
//   pro  %c1             f32[B,S,37]         = add %b5, %z                                      !22:5
//   pro  %c2             f32[B,S,37]         = sub %c1, %u                                      !23:5
//   pro  %c3             f32[B,S,37]         = mul %c2, %r                                      !24:5
//   pro  %c4             f32[B,S,37]         = div %c3, 3.5                                     !25:5
//   pro  %c5             f32[B,S,37]         = max %c4, %c                                      !26:5
//   pro  %c6             f32[B,S,37]         = min %c5, %t                                      !27:5
//   pro  %c7             bf16[B,S,37]        = cast %c6 to=bf16                                 !28:5
//   body %d1             f32[B,S,1]          = row_sum %c7                                      !29:5
//   epi  %a3             f32[B,S,37]         = log %a2                                          !10:5
//   epi  %a4             f32[B,S,37]         = sqrt %a2                                         !11:5
//   epi  %a5             f32[B,S,37]         = square %a4                                       !12:5
//   epi  %a8             f32[B,S,37]         = cos %a3                                          !15:5
//   epi  %b1             f32[B,S,37]         = sigmoid %a8                                      !17:5
//   epi  %b2             f32[B,S,37]         = silu %b1                                         !18:5
//   epi  %b3             f32[B,S,37]         = gelu_erf %b2                                     !19:5
struct every_op_b3_spec {
    struct args {
        const float *r_;
        const float *t_;
        const float *x_;
        const float *z_;
        const float *u_;
        const float *c_;
        bf16 *c7_;
        float *a5_;
        float *b3_;
        float *d1_;
        int B_, S_;
    };
    struct context {
        float r_, t_, d1_;
    };
    template <int V> struct element {
        vec<float, V> c2_, c_, a5_, b3_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r_ = load_one(p.r_ + row); // !6:49
        c.r_ = r_; // !6:49
        const float t_ = load_one(p.t_ + row / p.S_); // !6:71
        c.t_ = t_; // !6:71
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 37ll + col, left); // !6:10
        const vec<float, V> a1_ = op_neg(x_); // !8:5
        const vec<float, V> a2_ = op_exp(a1_); // !9:5
        const vec<float, V> a6_ = op_rsqrt(a2_); // !13:5
        const vec<float, V> a7_ = op_sin(a6_); // !14:5
        const vec<float, V> a9_ = op_tanh(a7_); // !16:5
        const vec<float, V> b4_ = op_gelu_tanh(a9_); // !20:5
        const vec<float, V> b5_ = op_relu(b4_); // !21:5
        const vec<float, V> z_ = load<V>(p.z_ + (row % p.S_) * 37ll + col, left); // !6:24
        const vec<float, V> c1_ = op_add(b5_, z_); // !22:5
        const vec<float, V> u_ = load<V>(p.u_ + row / p.S_ * 37ll + col, left); // !6:35
        const vec<float, V> c2_ = op_sub(c1_, u_); // !23:5
        const vec<float, V> c_ = load<V>(p.c_ + col, left); // !6:63
        const vec<float, V> a4_ = op_sqrt(a2_); // !11:5
        const vec<float, V> a5_ = op_square(a4_); // !12:5
        const vec<float, V> a3_ = op_log(a2_); // !10:5
        const vec<float, V> a8_ = op_cos(a3_); // !15:5
        const vec<float, V> b1_ = op_sigmoid(a8_); // !17:5
        const vec<float, V> b2_ = op_silu(b1_); // !18:5
        const vec<float, V> b3_ = op_gelu_erf(b2_); // !19:5
        return {c2_, c_, a5_, b3_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        const vec<float, V> c5_ = op_max(c4_, e.c_); // !26:5
        const vec<float, V> c6_ = op_min(c5_, c.t_); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        return c7_; // !29:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.d1_ = total; } // !29:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        const vec<float, V> c5_ = op_max(c4_, e.c_); // !26:5
        const vec<float, V> c6_ = op_min(c5_, c.t_); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        store<V>(p.c7_ + row * 37ll + col, left, c7_); // !28:5
        store<V>(p.a5_ + row * 37ll + col, left, e.a5_); // !12:5
        store<V>(p.b3_ + row * 37ll + col, left, e.b3_); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d1_ + row, c.d1_); } // !29:5
};
TF_LAYOUT(every_op_b3_spec::args, r_, 0);
TF_LAYOUT(every_op_b3_spec::args, t_, 8);
TF_LAYOUT(every_op_b3_spec::args, x_, 16);
TF_LAYOUT(every_op_b3_spec::args, z_, 24);
TF_LAYOUT(every_op_b3_spec::args, u_, 32);
TF_LAYOUT(every_op_b3_spec::args, c_, 40);
TF_LAYOUT(every_op_b3_spec::args, c7_, 48);
TF_LAYOUT(every_op_b3_spec::args, a5_, 56);
TF_LAYOUT(every_op_b3_spec::args, b3_, 64);
TF_LAYOUT(every_op_b3_spec::args, d1_, 72);
TF_LAYOUT(every_op_b3_spec::args, B_, 80);
TF_LAYOUT(every_op_b3_spec::args, S_, 84);
static_assert(sizeof(every_op_b3_spec::args) == 88, "size of args");
