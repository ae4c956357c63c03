// Written by tfgen: rmsnorm_n of specs/rmsnorm.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase n:
//   body %n.ss           f32[B,S,1]          = row_sumsq %x                                     !17:5
//   epi  %n.ms           f32[B,S,1]          = div %n.ss, 256                                   !17:5
//   epi  %n.me           f32[B,S,1]          = add %n.ms, 1e-05                                 !17:5
//   epi  %n.r            f32[B,S,1]          = rsqrt %n.me                                      !17:5
//   epi  %n.n            f32[B,S,256]        = mul %x, %n.r                                     !17:5
//   epi  %n              bf16[B,S,256]       = mul %n.n, %w                                     !17:5
struct rmsnorm_n_spec {
    struct args {
        const bf16 *x_;
        const bf16 *w_;
        bf16 *n_;
        int B_, S_;
    };
    struct context {
        float n_r_;
    };
    template <int V> struct element {
        vec<float, V> x_, w_;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + col); // !13:10
        const vec<float, V> w_ = load_aligned<V>(p.w_ + col); // !15:3
        return {x_, w_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !17:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x_); // !17:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float n_ms_ = op_div(total, 256.0f); // !17:5
        const float n_me_ = op_add(n_ms_, 1e-05f); // !17:5
        const float n_r_ = op_rsqrt(n_me_); // !17:5
        c.n_r_ = n_r_; // !17:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_n_ = op_mul(e.x_, c.n_r_); // !17:5
        const vec<float, V> n_ = op_mul(n_n_, e.w_); // !17:5
        store_aligned<V>(p.n_ + row * 256ll + col, n_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(rmsnorm_n_spec::args, x_, 0);
TF_LAYOUT(rmsnorm_n_spec::args, w_, 8);
TF_LAYOUT(rmsnorm_n_spec::args, n_, 16);
TF_LAYOUT(rmsnorm_n_spec::args, B_, 24);
TF_LAYOUT(rmsnorm_n_spec::args, S_, 28);
static_assert(sizeof(rmsnorm_n_spec::args) == 32, "size of args");
