// Written by tfgen: every_op_f of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase f:
//   pro  %a1             f32[B,S,37]         = neg %x                                           !8:5
//   pro  %a2             f32[B,S,37]         = exp %a1                                          !9:5
//   pro  %a4             f32[B,S,37]         = sqrt %a2                                         !11:5
//   pro  %a5             f32[B,S,37]         = square %a4                                       !12:5
//   pro  %a3             f32[B,S,37]         = log %a2                                          !10:5
//   pro  %a6             f32[B,S,37]         = rsqrt %a2                                        !13:5
//   pro  %a7             f32[B,S,37]         = sin %a6                                          !14:5
//   pro  %a8             f32[B,S,37]         = cos %a3                                          !15:5
//   pro  %a9             f32[B,S,37]         = tanh %a7                                         !16:5
//   pro  %b1             f32[B,S,37]         = sigmoid %a8                                      !17:5
//   pro  %b2             f32[B,S,37]         = silu %b1                                         !18:5
//   pro  %b3             f32[B,S,37]         = gelu_erf %b2                                     !19:5
//   pro  %b4             f32[B,S,37]         = gelu_tanh %a9                                    !20:5
//   pro  %b5             f32[B,S,37]         = relu %b4                                         !21:5
//   pro  %c1             f32[B,S,37]         = add %b5, %z                                      !22:5
//   pro  %c2             f32[B,S,37]         = sub %c1, %u                                      !23:5
//   pro  %c3             f32[B,S,37]         = mul %c2, %r                                      !24:5
//   pro  %c4             f32[B,S,37]         = div %c3, 3.5                                     !25:5
//   pro  %c5             f32[B,S,37]         = max %c4, %c                                      !26:5
//   pro  %c6             f32[B,S,37]         = min %c5, %t                                      !27:5
//   pro  %c7             bf16[B,S,37]        = cast %c6 to=bf16                                 !28:5
//   body %d5             f32[B,S,1]          = row_sumsq %a5                                    !33:5
//   body %d2.s           f32[B,S,1]          = row_sum %b3                                      !30:5
//   body %d2             f32[B,S,1]          = div %d2.s, 37                                    !30:5
//   body %d4             f32[B,S,1]          = row_min %a5                                      !32:5
//   body %d3             f32[B,S,1]          = row_max %a5                                      !31:5
//   body %e2             f32[B,S,1]          = add %d3, %d4                                     !35:5
//   body %d1             f32[B,S,1]          = row_sum %c7                                      !29:5
//   body %e1             f32[B,S,1]          = add %d1, %d2                                     !34:5
//   body %e3             f32[B,S,1]          = add %e1, %e2                                     !36:5
//   body %e4             f32[B,S,1]          = add %e3, %d5                                     !37:5
//   body %e5             f32[B,S,37]         = add %c7, %e4                                     !38:5
//   body %f.m            f32[B,S,1]          = row_max %e5                                      !39:5
//   body %f.f            f32[B,S,1]          = finite %f.m                                      !39:5
//   body %f.d            f32[B,S,37]         = sub %e5, %f.f                                    !39:5
//   body %f.e            f32[B,S,37]         = exp %f.d                                         !39:5
//   body %f.s            f32[B,S,1]          = row_sum %f.e                                     !39:5
//   epi  %f              f32[B,S,37]         = div_or_zero %f.e, %f.s                           !39:5
struct every_op_f_spec {
    struct args {
        const float *r_;
        const float *t_;
        const float *x_;
        const float *z_;
        const float *u_;
        const float *c_;
        float *f_;
        float *e4_;
        int B_, S_;
    };
    struct context {
        float r_, t_, e4_, f_f_, f_s_, d2_s_, d3_, d4_, d5_;
    };
    template <int V> struct element {
        vec<float, V> a5_, b3_, c2_, c_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 7;
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
        const vec<float, V> a4_ = op_sqrt(a2_); // !11:5
        const vec<float, V> a5_ = op_square(a4_); // !12:5
        const vec<float, V> a3_ = op_log(a2_); // !10:5
        const vec<float, V> a8_ = op_cos(a3_); // !15:5
        const vec<float, V> b1_ = op_sigmoid(a8_); // !17:5
        const vec<float, V> b2_ = op_silu(b1_); // !18:5
        const vec<float, V> b3_ = op_gelu_erf(b2_); // !19:5
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
        return {a5_, b3_, c2_, c_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5_); // !33:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.d5_ = total; } // !33:5
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3_; // !30:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total) { c.d2_s_ = total; } // !30:5
    static constexpr reduction kind(pass<2>) { return reduction::min; } // !32:5
    template <int V> DEV static vec<float, V> term(pass<2>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5_; // !32:5
    }
    DEV static void reduced(pass<2>, const args &p, context &c, int row, float total) { c.d4_ = total; } // !32:5
    static constexpr reduction kind(pass<3>) { return reduction::max; } // !31:5
    template <int V> DEV static vec<float, V> term(pass<3>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5_; // !31:5
    }
    DEV static void reduced(pass<3>, const args &p, context &c, int row, float total) { c.d3_ = total; } // !31:5
    static constexpr reduction kind(pass<4>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(pass<4>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        const vec<float, V> c5_ = op_max(c4_, e.c_); // !26:5
        const vec<float, V> c6_ = op_min(c5_, c.t_); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        return c7_; // !29:5
    }
    DEV static void reduced(pass<4>, const args &p, context &c, int row, float total)
    {
        const float d2_ = op_div(c.d2_s_, 37.0f); // !30:5
        const float e1_ = op_add(total, d2_); // !34:5
        const float e2_ = op_add(c.d3_, c.d4_); // !35:5
        const float e3_ = op_add(e1_, e2_); // !36:5
        const float e4_ = op_add(e3_, c.d5_); // !37:5
        c.e4_ = e4_; // !37:5
    }
    static constexpr reduction kind(pass<5>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(pass<5>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        const vec<float, V> c5_ = op_max(c4_, e.c_); // !26:5
        const vec<float, V> c6_ = op_min(c5_, c.t_); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        const vec<float, V> e5_ = op_add(c7_, c.e4_); // !38:5
        return e5_; // !39:5
    }
    DEV static void reduced(pass<5>, const args &p, context &c, int row, float total)
    {
        const float f_f_ = op_finite(total); // !39:5
        c.f_f_ = f_f_; // !39:5
    }
    static constexpr reduction kind(pass<6>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(pass<6>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        const vec<float, V> c5_ = op_max(c4_, e.c_); // !26:5
        const vec<float, V> c6_ = op_min(c5_, c.t_); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        const vec<float, V> e5_ = op_add(c7_, c.e4_); // !38:5
        const vec<float, V> f_d_ = op_sub(e5_, c.f_f_); // !39:5
        const vec<float, V> f_e_ = op_exp(f_d_); // !39:5
        return f_e_; // !39:5
    }
    DEV static void reduced(pass<6>, const args &p, context &c, int row, float total) { c.f_s_ = total; } // !39:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        const vec<float, V> c5_ = op_max(c4_, e.c_); // !26:5
        const vec<float, V> c6_ = op_min(c5_, c.t_); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        const vec<float, V> e5_ = op_add(c7_, c.e4_); // !38:5
        const vec<float, V> f_d_ = op_sub(e5_, c.f_f_); // !39:5
        const vec<float, V> f_e_ = op_exp(f_d_); // !39:5
        const vec<float, V> f_ = op_div_or_zero(f_e_, c.f_s_); // !39:5
        store<V>(p.f_ + row * 37ll + col, left, f_); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e4_ + row, c.e4_); } // !37:5
};
TF_LAYOUT(every_op_f_spec::args, r_, 0);
TF_LAYOUT(every_op_f_spec::args, t_, 8);
TF_LAYOUT(every_op_f_spec::args, x_, 16);
TF_LAYOUT(every_op_f_spec::args, z_, 24);
TF_LAYOUT(every_op_f_spec::args, u_, 32);
TF_LAYOUT(every_op_f_spec::args, c_, 40);
TF_LAYOUT(every_op_f_spec::args, f_, 48);
TF_LAYOUT(every_op_f_spec::args, e4_, 56);
TF_LAYOUT(every_op_f_spec::args, B_, 64);
TF_LAYOUT(every_op_f_spec::args, S_, 68);
static_assert(sizeof(every_op_f_spec::args) == 72, "size of args");
