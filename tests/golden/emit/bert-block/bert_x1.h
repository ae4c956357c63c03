// Written by tfgen: bert_x1 of specs/bert-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase x1:
//   body %x1.s           f32[B,S,1]          = row_sum %s1                                      !37:5
//   body %x1.mu          f32[B,S,1]          = div %x1.s, 128                                   !37:5
//   body %x1.c           f32[B,S,128]        = sub %s1, %x1.mu                                  !37:5
//   body %x1.v           f32[B,S,1]          = row_sumsq %x1.c                                  !37:5
//   epi  %x1.vm          f32[B,S,1]          = div %x1.v, 128                                   !37:5
//   epi  %x1.ve          f32[B,S,1]          = add %x1.vm, 1e-12                                !37:5
//   epi  %x1.r           f32[B,S,1]          = rsqrt %x1.ve                                     !37:5
//   epi  %x1.n           f32[B,S,128]        = mul %x1.c, %x1.r                                 !37:5
//   epi  %x1.t           f32[B,S,128]        = mul %x1.n, %norm_w                               !37:5
//   epi  %x1             bf16[B,S,128]       = add %x1.t, %norm_b                               !37:5
struct k3_x1 {
    struct args {
        const bf16 *s1;
        const bf16 *norm_w;
        const bf16 *norm_b;
        bf16 *x1;
        int B, S;
    };
    struct context {
        float x1_mu, x1_r;
    };
    template <int V> struct element {
        vec<float, V> s1, norm_w, norm_b;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s1 = load_aligned<V>(p.s1 + row * 128ll + col); // !36:5
        const vec<float, V> norm_w = load_aligned<V>(p.norm_w + col); // !22:3
        const vec<float, V> norm_b = load_aligned<V>(p.norm_b + col); // !23:3
        return {s1, norm_w, norm_b};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.s1; // !37:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float x1_mu = op_div(total, 128.0f); // !37:5
        c.x1_mu = x1_mu; // !37:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x1_c = op_sub(e.s1, c.x1_mu); // !37:5
        return op_square(x1_c); // !37:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float x1_vm = op_div(total, 128.0f); // !37:5
        const float x1_ve = op_add(x1_vm, 1e-12f); // !37:5
        const float x1_r = op_rsqrt(x1_ve); // !37:5
        c.x1_r = x1_r; // !37:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1_c = op_sub(e.s1, c.x1_mu); // !37:5
        const vec<float, V> x1_n = op_mul(x1_c, c.x1_r); // !37:5
        const vec<float, V> x1_t = op_mul(x1_n, e.norm_w); // !37:5
        const vec<float, V> x1 = op_add(x1_t, e.norm_b); // !37:5
        store_aligned<V>(p.x1 + row * 128ll + col, x1); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k3_x1::args, s1, 0);
TF_LAYOUT(k3_x1::args, norm_w, 8);
TF_LAYOUT(k3_x1::args, norm_b, 16);
TF_LAYOUT(k3_x1::args, x1, 24);
TF_LAYOUT(k3_x1::args, B, 32);
TF_LAYOUT(k3_x1::args, S, 36);
static_assert(sizeof(k3_x1::args) == 40, "size of args");
