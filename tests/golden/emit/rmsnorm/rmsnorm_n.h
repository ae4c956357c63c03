// Written by tfgen: rmsnorm_n of specs/rmsnorm.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase n:
//   body %n.ss           f32[B,S,1]          = row_sumsq %x                                     !17:5
//   epi  %n.ms           f32[B,S,1]          = div %n.ss, 256                                   !17:5
//   epi  %n.me           f32[B,S,1]          = add %n.ms, 1e-05                                 !17:5
//   epi  %n.r            f32[B,S,1]          = rsqrt %n.me                                      !17:5
//   epi  %n.n            f32[B,S,256]        = mul %x, %n.r                                     !17:5
//   epi  %n              bf16[B,S,256]       = mul %n.n, %w                                     !17:5
struct k0_n {
    struct args {
        const bf16 *x;
        const bf16 *w;
        bf16 *n_;
        int B, S;
    };
    struct context {
        float n_r;
    };
    template <int V> struct element {
        vec<float, V> x, w;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !13:10
        const vec<float, V> w = load_aligned<V>(p.w + col); // !15:3
        return {x, w};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !17:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !17:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float n_ms = op_div(total, 256.0f); // !17:5
        const float n_me = op_add(n_ms, 1e-05f); // !17:5
        const float n_r = op_rsqrt(n_me); // !17:5
        c.n_r = n_r; // !17:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_n = op_mul(e.x, c.n_r); // !17:5
        const vec<float, V> n_ = op_mul(n_n, e.w); // !17:5
        store_aligned<V>(p.n_ + row * 256ll + col, n_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_n::args, x, 0);
TF_LAYOUT(k0_n::args, w, 8);
TF_LAYOUT(k0_n::args, n_, 16);
TF_LAYOUT(k0_n::args, B, 24);
TF_LAYOUT(k0_n::args, S, 28);
static_assert(sizeof(k0_n::args) == 32, "size of args");
