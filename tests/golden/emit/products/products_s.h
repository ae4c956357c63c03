// Written by tfgen: products_s of tests/specs/products.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase s:
//   body %s.m            f32[B,3,S,1]        = row_max %b                                       !12:5
//   body %s.f            f32[B,3,S,1]        = finite %s.m                                      !12:5
//   body %s.d            f32[B,3,S,9]        = sub %b, %s.f                                     !12:5
//   body %s.e            f32[B,3,S,9]        = exp %s.d                                         !12:5
//   body %s.s            f32[B,3,S,1]        = row_sum %s.e                                     !12:5
//   epi  %s              f16[B,3,S,9]        = div_or_zero %s.e, %s.s                           !12:5
struct products_s_spec {
    struct args {
        const f16 *b_;
        f16 *s_;
        int B_, S_;
    };
    struct context {
        float s_f_, s_s_;
    };
    template <int V> struct element {
        vec<float, V> b_;
    };
    static constexpr int N = 9, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return 3 * p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b_ = load<V>(p.b_ + row * 9ll + col, left); // !10:5
        return {b_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::max; } // !12:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b_; // !12:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float s_f_ = op_finite(total); // !12:5
        c.s_f_ = s_f_; // !12:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> s_d_ = op_sub(e.b_, c.s_f_); // !12:5
        const vec<float, V> s_e_ = op_exp(s_d_); // !12:5
        return s_e_; // !12:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total) { c.s_s_ = total; } // !12:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s_d_ = op_sub(e.b_, c.s_f_); // !12:5
        const vec<float, V> s_e_ = op_exp(s_d_); // !12:5
        const vec<float, V> s_ = op_div_or_zero(s_e_, c.s_s_); // !12:5
        store<V>(p.s_ + row * 9ll + col, left, s_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(products_s_spec::args, b_, 0);
TF_LAYOUT(products_s_spec::args, s_, 8);
TF_LAYOUT(products_s_spec::args, B_, 16);
TF_LAYOUT(products_s_spec::args, S_, 20);
static_assert(sizeof(products_s_spec::args) == 24, "size of args");
