// Written by tfgen: l2norm_n of specs/l2norm.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase n:
//   body %n.ss           f32[B,S,1]          = row_sumsq %x                                     !15:5
//   epi  %n.q            f32[B,S,1]          = sqrt %n.ss                                       !15:5
//   epi  %n.m            f32[B,S,1]          = max %n.q, 1e-12                                  !15:5
//   epi  %n              bf16[B,S,256]       = div %x, %n.m                                     !15:5
struct l2norm_n_spec {
    struct args {
        const bf16 *x_;
        bf16 *n_;
        int B_, S_;
    };
    struct context {
        float n_m_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + col); // !13:10
        return {x_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x_); // !15:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float n_q_ = op_sqrt(total); // !15:5
        const float n_m_ = op_max(n_q_, 1e-12f); // !15:5
        c.n_m_ = n_m_; // !15:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_ = op_div(e.x_, c.n_m_); // !15:5
        store_aligned<V>(p.n_ + row * 256ll + col, n_); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(l2norm_n_spec::args, x_, 0);
TF_LAYOUT(l2norm_n_spec::args, n_, 8);
TF_LAYOUT(l2norm_n_spec::args, B_, 16);
TF_LAYOUT(l2norm_n_spec::args, S_, 20);
static_assert(sizeof(l2norm_n_spec::args) == 24, "size of args");
