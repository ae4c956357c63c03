// Written by tfgen: bert_x2 of specs/bert-block.yaml for host; read it beside templates/rows/rows.h.
// Kernel k6, phase x2:
//   body %x2.s           f32[B,S,1]          = row_sum %s2                                      !42:5
//   body %x2.mu          f32[B,S,1]          = div %x2.s, 128                                   !42:5
//   body %x2.c           f32[B,S,128]        = sub %s2, %x2.mu                                  !42:5
//   body %x2.v           f32[B,S,1]          = row_sumsq %x2.c                                  !42:5
//   epi  %x2.vm          f32[B,S,1]          = div %x2.v, 128                                   !42:5
//   epi  %x2.ve          f32[B,S,1]          = add %x2.vm, 1e-12                                !42:5
//   epi  %x2.r           f32[B,S,1]          = rsqrt %x2.ve                                     !42:5
//   epi  %x2.n           f32[B,S,128]        = mul %x2.c, %x2.r                                 !42:5
//   epi  %x2.t           f32[B,S,128]        = mul %x2.n, %last_w                               !42:5
//   epi  %x2             bf16[B,S,128]       = add %x2.t, %last_b                               !42:5
struct k6_x2 {
    struct args {
        const bf16 *s2;
        const bf16 *last_w;
        const bf16 *last_b;
        bf16 *x2;
        int B, S;
    };
    struct context {
        float x2_mu, x2_r;
    };
    template <int V> struct element {
        vec<float, V> s2, last_w, last_b;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s2 = load_aligned<V>(p.s2 + row * 128ll + col); // !41:5
        const vec<float, V> last_w = load_aligned<V>(p.last_w + col); // !28:3
        const vec<float, V> last_b = load_aligned<V>(p.last_b + col); // !29:3
        return {s2, last_w, last_b};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.s2; // !42:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float x2_mu = op_div(total, 128.0f); // !42:5
        c.x2_mu = x2_mu; // !42:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x2_c = op_sub(e.s2, c.x2_mu); // !42:5
        return op_square(x2_c); // !42:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float x2_vm = op_div(total, 128.0f); // !42:5
        const float x2_ve = op_add(x2_vm, 1e-12f); // !42:5
        const float x2_r = op_rsqrt(x2_ve); // !42:5
        c.x2_r = x2_r; // !42:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2_c = op_sub(e.s2, c.x2_mu); // !42:5
        const vec<float, V> x2_n = op_mul(x2_c, c.x2_r); // !42:5
        const vec<float, V> x2_t = op_mul(x2_n, e.last_w); // !42:5
        const vec<float, V> x2 = op_add(x2_t, e.last_b); // !42:5
        store_aligned<V>(p.x2 + row * 128ll + col, x2); // !42:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k6_x2::args, s2, 0);
TF_LAYOUT(k6_x2::args, last_w, 8);
TF_LAYOUT(k6_x2::args, last_b, 16);
TF_LAYOUT(k6_x2::args, x2, 24);
TF_LAYOUT(k6_x2::args, B, 32);
TF_LAYOUT(k6_x2::args, S, 36);
static_assert(sizeof(k6_x2::args) == 40, "size of args");
