// Written by tfgen: gpt2_h2 of specs/gpt2-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase h2:
//   body %h2.s           f32[B,S,1]          = row_sum %x1                                      !34:5
//   body %h2.mu          f32[B,S,1]          = div %h2.s, 128                                   !34:5
//   body %h2.c           f32[B,S,128]        = sub %x1, %h2.mu                                  !34:5
//   body %h2.v           f32[B,S,1]          = row_sumsq %h2.c                                  !34:5
//   epi  %h2.vm          f32[B,S,1]          = div %h2.v, 128                                   !34:5
//   epi  %h2.ve          f32[B,S,1]          = add %h2.vm, 1e-05                                !34:5
//   epi  %h2.r           f32[B,S,1]          = rsqrt %h2.ve                                     !34:5
//   epi  %h2.n           f32[B,S,128]        = mul %h2.c, %h2.r                                 !34:5
//   epi  %h2.t           f32[B,S,128]        = mul %h2.n, %ln_2_w                               !34:5
//   epi  %h2             bf16[B,S,128]       = add %h2.t, %ln_2_b                               !34:5
struct k4_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B, S;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        vec<float, V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !21:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !22:3
        return {x1, ln_2_w, ln_2_b};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x1; // !34:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !34:5
        c.h2_mu = h2_mu; // !34:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(e.x1, c.h2_mu); // !34:5
        return op_square(h2_c); // !34:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !34:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !34:5
        const float h2_r = op_rsqrt(h2_ve); // !34:5
        c.h2_r = h2_r; // !34:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(e.x1, c.h2_mu); // !34:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !34:5
        const vec<float, V> h2_t = op_mul(h2_n, e.ln_2_w); // !34:5
        const vec<float, V> h2 = op_add(h2_t, e.ln_2_b); // !34:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k4_h2::args, x1, 0);
TF_LAYOUT(k4_h2::args, ln_2_w, 8);
TF_LAYOUT(k4_h2::args, ln_2_b, 16);
TF_LAYOUT(k4_h2::args, h2, 24);
TF_LAYOUT(k4_h2::args, B, 32);
TF_LAYOUT(k4_h2::args, S, 36);
static_assert(sizeof(k4_h2::args) == 40, "size of args");
