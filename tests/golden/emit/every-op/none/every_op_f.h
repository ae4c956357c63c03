// Written by tfgen: every_op_f of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k31, phase f:
//   body %f.m            f32[B,S,1]          = row_max %e5                                      !39:5
//   body %f.f            f32[B,S,1]          = finite %f.m                                      !39:5
//   body %f.d            f32[B,S,37]         = sub %e5, %f.f                                    !39:5
//   body %f.e            f32[B,S,37]         = exp %f.d                                         !39:5
//   body %f.s            f32[B,S,1]          = row_sum %f.e                                     !39:5
//   epi  %f              f32[B,S,37]         = div_or_zero %f.e, %f.s                           !39:5
struct every_op_f_spec {
    struct args {
        const float *e5_;
        float *f_;
        int B_, S_;
    };
    struct context {
        float f_f_, f_s_;
    };
    template <int V> struct element {
        vec<float, V> e5_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> e5_ = load<V>(p.e5_ + row * 37ll + col, left); // !38:5
        return {e5_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.e5_; // !39:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float f_f_ = op_finite(total); // !39:5
        c.f_f_ = f_f_; // !39:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> f_d_ = op_sub(e.e5_, c.f_f_); // !39:5
        const vec<float, V> f_e_ = op_exp(f_d_); // !39:5
        return f_e_; // !39:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total) { c.f_s_ = total; } // !39:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> f_d_ = op_sub(e.e5_, c.f_f_); // !39:5
        const vec<float, V> f_e_ = op_exp(f_d_); // !39:5
        const vec<float, V> f_ = op_div_or_zero(f_e_, c.f_s_); // !39:5
        store<V>(p.f_ + row * 37ll + col, left, f_); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_f_spec::args, e5_, 0);
TF_LAYOUT(every_op_f_spec::args, f_, 8);
TF_LAYOUT(every_op_f_spec::args, B_, 16);
TF_LAYOUT(every_op_f_spec::args, S_, 20);
static_assert(sizeof(every_op_f_spec::args) == 24, "size of args");
