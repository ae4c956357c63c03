// Written by tfgen: every_op_f of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k31, phase f:
//   body %f.m            f32[B,S,1]          = row_max %e5                                      !39:5
//   body %f.f            f32[B,S,1]          = finite %f.m                                      !39:5
//   body %f.d            f32[B,S,37]         = sub %e5, %f.f                                    !39:5
//   body %f.e            f32[B,S,37]         = exp %f.d                                         !39:5
//   body %f.s            f32[B,S,1]          = row_sum %f.e                                     !39:5
//   epi  %f              f32[B,S,37]         = div_or_zero %f.e, %f.s                           !39:5
struct k31_f {
    struct args {
        const float *e5;
        float *f;
        int B, S;
    };
    struct context {
        float f_f, f_s;
    };
    template <int V> struct element {
        vec<float, V> e5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> e5 = load<V>(p.e5 + row * 37ll + col, left); // !38:5
        return {e5};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.e5; // !39:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float f_f = op_finite(total); // !39:5
        c.f_f = f_f; // !39:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> f_d = op_sub(e.e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        return f_e; // !39:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total) { c.f_s = total; } // !39:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> f_d = op_sub(e.e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        const vec<float, V> f = op_div_or_zero(f_e, c.f_s); // !39:5
        store<V>(p.f + row * 37ll + col, left, f); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k31_f::args, e5, 0);
TF_LAYOUT(k31_f::args, f, 8);
TF_LAYOUT(k31_f::args, B, 16);
TF_LAYOUT(k31_f::args, S, 20);
static_assert(sizeof(k31_f::args) == 24, "size of args");
