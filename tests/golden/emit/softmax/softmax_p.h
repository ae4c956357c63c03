// Written by tfgen: softmax_p of specs/softmax.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase p:
//   body %p.m            f32[B,S,1]          = row_max %x                                       !15:5
//   body %p.f            f32[B,S,1]          = finite %p.m                                      !15:5
//   body %p.d            f32[B,S,256]        = sub %x, %p.f                                     !15:5
//   body %p.e            f32[B,S,256]        = exp %p.d                                         !15:5
//   body %p.s            f32[B,S,1]          = row_sum %p.e                                     !15:5
//   epi  %p              bf16[B,S,256]       = div_or_zero %p.e, %p.s                           !15:5
struct k0_p {
    struct args {
        const bf16 *x;
        bf16 *p_;
        int B, S;
    };
    struct context {
        float p_f, p_s;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !13:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !15:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !15:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float p_f = op_finite(total); // !15:5
        c.p_f = p_f; // !15:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> p_d = op_sub(e.x, c.p_f); // !15:5
        const vec<float, V> p_e = op_exp(p_d); // !15:5
        return p_e; // !15:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total) { c.p_s = total; } // !15:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> p_d = op_sub(e.x, c.p_f); // !15:5
        const vec<float, V> p_e = op_exp(p_d); // !15:5
        const vec<float, V> p_ = op_div_or_zero(p_e, c.p_s); // !15:5
        store_aligned<V>(p.p_ + row * 256ll + col, p_); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_p::args, x, 0);
TF_LAYOUT(k0_p::args, p_, 8);
TF_LAYOUT(k0_p::args, B, 16);
TF_LAYOUT(k0_p::args, S, 20);
static_assert(sizeof(k0_p::args) == 24, "size of args");
