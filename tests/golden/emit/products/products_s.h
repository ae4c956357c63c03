// Written by tfgen: products_s of tests/specs/products.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase s:
//   body %s.m            f32[B,3,S,1]        = row_max %b                                       !12:5
//   body %s.f            f32[B,3,S,1]        = finite %s.m                                      !12:5
//   body %s.d            f32[B,3,S,9]        = sub %b, %s.f                                     !12:5
//   body %s.e            f32[B,3,S,9]        = exp %s.d                                         !12:5
//   body %s.s            f32[B,3,S,1]        = row_sum %s.e                                     !12:5
//   epi  %s              f16[B,3,S,9]        = div_or_zero %s.e, %s.s                           !12:5
struct k2_s {
    struct args {
        const f16 *b;
        f16 *s;
        int B, S;
    };
    struct context {
        float s_f, s_s;
    };
    template <int V> struct element {
        vec<float, V> b;
    };
    static constexpr int N = 9, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b = load<V>(p.b + row * 9ll + col, left); // !10:5
        return {b};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b; // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float s_f = op_finite(total); // !12:5
        c.s_f = s_f; // !12:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> s_d = op_sub(e.b, c.s_f); // !12:5
        const vec<float, V> s_e = op_exp(s_d); // !12:5
        return s_e; // !12:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total) { c.s_s = total; } // !12:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s_d = op_sub(e.b, c.s_f); // !12:5
        const vec<float, V> s_e = op_exp(s_d); // !12:5
        const vec<float, V> s = op_div_or_zero(s_e, c.s_s); // !12:5
        store<V>(p.s + row * 9ll + col, left, s); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k2_s::args, b, 0);
TF_LAYOUT(k2_s::args, s, 8);
TF_LAYOUT(k2_s::args, B, 16);
TF_LAYOUT(k2_s::args, S, 20);
static_assert(sizeof(k2_s::args) == 24, "size of args");
