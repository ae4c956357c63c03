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
struct k0_f {
    struct args {
        const float *r;
        const float *t;
        const float *x;
        const float *z;
        const float *u;
        const float *c_;
        float *f;
        float *e4;
        int B, S;
    };
    struct context {
        float r, t, e4, f_f, f_s, d2_s, d3, d4, d5;
    };
    template <int V> struct element {
        vec<float, V> a5, b3, c2, c_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 7;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !6:49
        c.r = r; // !6:49
        const float t = load_one(p.t + (row / p.S)); // !6:71
        c.t = t; // !6:71
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 37ll + col, left); // !6:10
        const vec<float, V> a1 = op_neg(x); // !8:5
        const vec<float, V> a2 = op_exp(a1); // !9:5
        const vec<float, V> a4 = op_sqrt(a2); // !11:5
        const vec<float, V> a5 = op_square(a4); // !12:5
        const vec<float, V> a3 = op_log(a2); // !10:5
        const vec<float, V> a8 = op_cos(a3); // !15:5
        const vec<float, V> b1 = op_sigmoid(a8); // !17:5
        const vec<float, V> b2 = op_silu(b1); // !18:5
        const vec<float, V> b3 = op_gelu_erf(b2); // !19:5
        const vec<float, V> a6 = op_rsqrt(a2); // !13:5
        const vec<float, V> a7 = op_sin(a6); // !14:5
        const vec<float, V> a9 = op_tanh(a7); // !16:5
        const vec<float, V> b4 = op_gelu_tanh(a9); // !20:5
        const vec<float, V> b5 = op_relu(b4); // !21:5
        const vec<float, V> z = load<V>(p.z + (row % p.S) * 37ll + col, left); // !6:24
        const vec<float, V> c1 = op_add(b5, z); // !22:5
        const vec<float, V> u = load<V>(p.u + (row / p.S) * 37ll + col, left); // !6:35
        const vec<float, V> c2 = op_sub(c1, u); // !23:5
        const vec<float, V> c_ = load<V>(p.c_ + col, left); // !6:63
        return {a5, b3, c2, c_};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.d5 = total; } // !33:5
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3; // !30:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total) { c.d2_s = total; } // !30:5
    static constexpr reduction kind(step<2>) { return reduction::min; } // !32:5
    template <int V> DEV static vec<float, V> term(step<2>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !32:5
    }
    DEV static void reduced(step<2>, const args &p, context &c, int row, float total) { c.d4 = total; } // !32:5
    static constexpr reduction kind(step<3>) { return reduction::max; } // !31:5
    template <int V> DEV static vec<float, V> term(step<3>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !31:5
    }
    DEV static void reduced(step<3>, const args &p, context &c, int row, float total) { c.d3 = total; } // !31:5
    static constexpr reduction kind(step<4>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(step<4>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        const vec<float, V> c5 = op_max(c4, e.c_); // !26:5
        const vec<float, V> c6 = op_min(c5, c.t); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        return c7; // !29:5
    }
    DEV static void reduced(step<4>, const args &p, context &c, int row, float total)
    {
        const float d2 = op_div(c.d2_s, 37.0f); // !30:5
        const float e1 = op_add(total, d2); // !34:5
        const float e2 = op_add(c.d3, c.d4); // !35:5
        const float e3 = op_add(e1, e2); // !36:5
        const float e4 = op_add(e3, c.d5); // !37:5
        c.e4 = e4; // !37:5
    }
    static constexpr reduction kind(step<5>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(step<5>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        const vec<float, V> c5 = op_max(c4, e.c_); // !26:5
        const vec<float, V> c6 = op_min(c5, c.t); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        const vec<float, V> e5 = op_add(c7, c.e4); // !38:5
        return e5; // !39:5
    }
    DEV static void reduced(step<5>, const args &p, context &c, int row, float total)
    {
        const float f_f = op_finite(total); // !39:5
        c.f_f = f_f; // !39:5
    }
    static constexpr reduction kind(step<6>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(step<6>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        const vec<float, V> c5 = op_max(c4, e.c_); // !26:5
        const vec<float, V> c6 = op_min(c5, c.t); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        const vec<float, V> e5 = op_add(c7, c.e4); // !38:5
        const vec<float, V> f_d = op_sub(e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        return f_e; // !39:5
    }
    DEV static void reduced(step<6>, const args &p, context &c, int row, float total) { c.f_s = total; } // !39:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        const vec<float, V> c5 = op_max(c4, e.c_); // !26:5
        const vec<float, V> c6 = op_min(c5, c.t); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        const vec<float, V> e5 = op_add(c7, c.e4); // !38:5
        const vec<float, V> f_d = op_sub(e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        const vec<float, V> f = op_div_or_zero(f_e, c.f_s); // !39:5
        store<V>(p.f + row * 37ll + col, left, f); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e4 + row, c.e4); } // !37:5
};
TF_LAYOUT(k0_f::args, r, 0);
TF_LAYOUT(k0_f::args, t, 8);
TF_LAYOUT(k0_f::args, x, 16);
TF_LAYOUT(k0_f::args, z, 24);
TF_LAYOUT(k0_f::args, u, 32);
TF_LAYOUT(k0_f::args, c_, 40);
TF_LAYOUT(k0_f::args, f, 48);
TF_LAYOUT(k0_f::args, e4, 56);
TF_LAYOUT(k0_f::args, B, 64);
TF_LAYOUT(k0_f::args, S, 68);
static_assert(sizeof(k0_f::args) == 72, "size of args");
