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
struct k0_b3 {
    struct args {
        const float *r;
        const float *t;
        const float *x;
        const float *z;
        const float *u;
        const float *c_;
        bf16 *c7;
        float *a5;
        float *b3;
        float *d1;
        int B, S;
    };
    struct context {
        float r, t, d1;
    };
    template <int V> struct element {
        vec<float, V> c2, c_, a5, b3;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 1;
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
        const vec<float, V> a4 = op_sqrt(a2); // !11:5
        const vec<float, V> a5 = op_square(a4); // !12:5
        const vec<float, V> a3 = op_log(a2); // !10:5
        const vec<float, V> a8 = op_cos(a3); // !15:5
        const vec<float, V> b1 = op_sigmoid(a8); // !17:5
        const vec<float, V> b2 = op_silu(b1); // !18:5
        const vec<float, V> b3 = op_gelu_erf(b2); // !19:5
        return {c2, c_, a5, b3};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        const vec<float, V> c5 = op_max(c4, e.c_); // !26:5
        const vec<float, V> c6 = op_min(c5, c.t); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        return c7; // !29:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.d1 = total; } // !29:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        const vec<float, V> c5 = op_max(c4, e.c_); // !26:5
        const vec<float, V> c6 = op_min(c5, c.t); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        store<V>(p.c7 + row * 37ll + col, left, c7); // !28:5
        store<V>(p.a5 + row * 37ll + col, left, e.a5); // !12:5
        store<V>(p.b3 + row * 37ll + col, left, e.b3); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d1 + row, c.d1); } // !29:5
};
TF_LAYOUT(k0_b3::args, r, 0);
TF_LAYOUT(k0_b3::args, t, 8);
TF_LAYOUT(k0_b3::args, x, 16);
TF_LAYOUT(k0_b3::args, z, 24);
TF_LAYOUT(k0_b3::args, u, 32);
TF_LAYOUT(k0_b3::args, c_, 40);
TF_LAYOUT(k0_b3::args, c7, 48);
TF_LAYOUT(k0_b3::args, a5, 56);
TF_LAYOUT(k0_b3::args, b3, 64);
TF_LAYOUT(k0_b3::args, d1, 72);
TF_LAYOUT(k0_b3::args, B, 80);
TF_LAYOUT(k0_b3::args, S, 84);
static_assert(sizeof(k0_b3::args) == 88, "size of args");
