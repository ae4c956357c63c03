// Written by tfgen: layernorm_n of specs/layernorm.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase n:
//   body %n.s            f32[B,S,1]          = row_sum %x                                       !18:5
//   body %n.mu           f32[B,S,1]          = div %n.s, 256                                    !18:5
//   body %n.c            f32[B,S,256]        = sub %x, %n.mu                                    !18:5
//   body %n.v            f32[B,S,1]          = row_sumsq %n.c                                   !18:5
//   epi  %n.vm           f32[B,S,1]          = div %n.v, 256                                    !18:5
//   epi  %n.ve           f32[B,S,1]          = add %n.vm, 1e-05                                 !18:5
//   epi  %n.r            f32[B,S,1]          = rsqrt %n.ve                                      !18:5
//   epi  %n.n            f32[B,S,256]        = mul %n.c, %n.r                                   !18:5
//   epi  %n.t            f32[B,S,256]        = mul %n.n, %w                                     !18:5
//   epi  %n              bf16[B,S,256]       = add %n.t, %b                                     !18:5
struct k0_n {
    struct args {
        const bf16 *x;
        const bf16 *w;
        const bf16 *b;
        bf16 *n_;
        int B, S;
    };
    struct context {
        float n_mu, n_r;
    };
    template <int V> struct element {
        vec<float, V> x, w, b;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !13:10
        const vec<float, V> w = load_aligned<V>(p.w + col); // !15:3
        const vec<float, V> b = load_aligned<V>(p.b + col); // !16:3
        return {x, w, b};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !18:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float n_mu = op_div(total, 256.0f); // !18:5
        c.n_mu = n_mu; // !18:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> n_c = op_sub(e.x, c.n_mu); // !18:5
        return op_square(n_c); // !18:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float n_vm = op_div(total, 256.0f); // !18:5
        const float n_ve = op_add(n_vm, 1e-05f); // !18:5
        const float n_r = op_rsqrt(n_ve); // !18:5
        c.n_r = n_r; // !18:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_c = op_sub(e.x, c.n_mu); // !18:5
        const vec<float, V> n_n = op_mul(n_c, c.n_r); // !18:5
        const vec<float, V> n_t = op_mul(n_n, e.w); // !18:5
        const vec<float, V> n_ = op_add(n_t, e.b); // !18:5
        store_aligned<V>(p.n_ + row * 256ll + col, n_); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_n::args, x, 0);
TF_LAYOUT(k0_n::args, w, 8);
TF_LAYOUT(k0_n::args, b, 16);
TF_LAYOUT(k0_n::args, n_, 24);
TF_LAYOUT(k0_n::args, B, 32);
TF_LAYOUT(k0_n::args, S, 36);
static_assert(sizeof(k0_n::args) == 40, "size of args");
