// Written by tfgen: softmax_p of specs/softmax.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase p:
//   body %p.m            f32[B,S,1]          = row_max %x                                       !15:5
//   body %p.f            f32[B,S,1]          = finite %p.m                                      !15:5
//   body %p.d            f32[B,S,256]        = sub %x, %p.f                                     !15:5
//   body %p.e            f32[B,S,256]        = exp %p.d                                         !15:5
//   body %p.s            f32[B,S,1]          = row_sum %p.e                                     !15:5
//   epi  %p              bf16[B,S,256]       = div_or_zero %p.e, %p.s                           !15:5
struct softmax_p_spec {
    struct args {
        const bf16 *x_;
        bf16 *p_;
        int B_, S_;
    };
    struct context {
        float p_f_, p_s_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + col); // !13:10
        return {x_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::max; } // !15:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !15:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float p_f_ = op_finite(total); // !15:5
        c.p_f_ = p_f_; // !15:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> p_d_ = op_sub(e.x_, c.p_f_); // !15:5
        const vec<float, V> p_e_ = op_exp(p_d_); // !15:5
        return p_e_; // !15:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total) { c.p_s_ = total; } // !15:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> p_d_ = op_sub(e.x_, c.p_f_); // !15:5
        const vec<float, V> p_e_ = op_exp(p_d_); // !15:5
        const vec<float, V> p_ = op_div_or_zero(p_e_, c.p_s_); // !15:5
        store_aligned<V>(p.p_ + row * 256ll + col, p_); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(softmax_p_spec::args, x_, 0);
TF_LAYOUT(softmax_p_spec::args, p_, 8);
TF_LAYOUT(softmax_p_spec::args, B_, 16);
TF_LAYOUT(softmax_p_spec::args, S_, 20);
static_assert(sizeof(softmax_p_spec::args) == 24, "size of args");
