// Written by tfgen: long_chains_y of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase y:
//   pro  %q              bf16[M,40]          = silu %x                                          !24:5
//   pro  %a              bf16[M,40]          = sigmoid %q                                       !25:5
//   body %m.s            f32[M,1]            = row_sum %a                                       !26:5
//   epi  %m              bf16[M,1]           = div %m.s, 40                                     !26:5
//   epi  %d              bf16[M,40]          = sub %a, %m                                       !27:5
//   epi  %i              bf16[M,40]          = sin %d                                           !28:5
//   epi  %j              bf16[M,40]          = log %a                                           !29:5
//   epi  %n              bf16[M,40]          = mul %i, %j                                       !30:5
//   epi  %o              bf16[M,40]          = cos %n                                           !31:5
//   epi  %f              bf16[M,40]          = gelu_tanh %o                                     !32:5
//   epi  %h              bf16[M,40]          = tanh %f                                          !33:5
//   epi  %k              bf16[M,40]          = gelu_erf %h                                      !34:5
//   epi  %z              bf16[M,40]          = mul %k, %d                                       !35:5
//   epi  %ex             bf16[M,40]          = exp %z                                           !36:5
//   epi  %si             bf16[M,40]          = silu %ex                                         !37:5
//   epi  %y              bf16[M,40]          = sin %si                                          !38:5
struct k1_y {
    struct args {
        const bf16 *x;
        bf16 *k_;
        bf16 *y;
        int M;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> a, j;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 40ll + col, left); // !8:10
        const vec<float, V> q = op_silu(x); // !24:5
        const vec<float, V> a = op_sigmoid(q); // !25:5
        const vec<float, V> j = op_log(a); // !29:5
        return {a, j};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a; // !26:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float m = op_div(total, 40.0f); // !26:5
        c.m = m; // !26:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> d = op_sub(e.a, c.m); // !27:5
        const vec<float, V> i_ = op_sin(d); // !28:5
        const vec<float, V> n_ = op_mul(i_, e.j); // !30:5
        const vec<float, V> o_ = op_cos(n_); // !31:5
        const vec<float, V> f = op_gelu_tanh(o_); // !32:5
        const vec<float, V> h = op_tanh(f); // !33:5
        const vec<float, V> k_ = op_cast<bf16>(op_gelu_erf(h)); // !34:5
        store<V>(p.k_ + row * 40ll + col, left, k_); // !34:5
        const vec<float, V> z = op_mul(k_, d); // !35:5
        const vec<float, V> ex = op_exp(z); // !36:5
        const vec<float, V> si = op_silu(ex); // !37:5
        const vec<float, V> y = op_sin(si); // !38:5
        store<V>(p.y + row * 40ll + col, left, y); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k1_y::args, x, 0);
TF_LAYOUT(k1_y::args, k_, 8);
TF_LAYOUT(k1_y::args, y, 16);
TF_LAYOUT(k1_y::args, M, 24);
static_assert(sizeof(k1_y::args) == 32, "size of args");
