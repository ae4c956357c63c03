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
struct long_chains_y_spec {
    struct args {
        const bf16 *x_;
        bf16 *k_;
        bf16 *y_;
        int M_;
    };
    struct context {
        float m_;
    };
    template <int V> struct element {
        vec<float, V> a_, j_;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.M_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 40ll + col, left); // !8:10
        const vec<float, V> q_ = op_silu(x_); // !24:5
        const vec<float, V> a_ = op_sigmoid(q_); // !25:5
        const vec<float, V> j_ = op_log(a_); // !29:5
        return {a_, j_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a_; // !26:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float m_ = op_div(total, 40.0f); // !26:5
        c.m_ = m_; // !26:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> d_ = op_sub(e.a_, c.m_); // !27:5
        const vec<float, V> i_ = op_sin(d_); // !28:5
        const vec<float, V> n_ = op_mul(i_, e.j_); // !30:5
        const vec<float, V> o_ = op_cos(n_); // !31:5
        const vec<float, V> f_ = op_gelu_tanh(o_); // !32:5
        const vec<float, V> h_ = op_tanh(f_); // !33:5
        const vec<float, V> k_ = op_cast<bf16>(op_gelu_erf(h_)); // !34:5
        store<V>(p.k_ + row * 40ll + col, left, k_); // !34:5
        const vec<float, V> z_ = op_mul(k_, d_); // !35:5
        const vec<float, V> ex_ = op_exp(z_); // !36:5
        const vec<float, V> si_ = op_silu(ex_); // !37:5
        const vec<float, V> y_ = op_sin(si_); // !38:5
        store<V>(p.y_ + row * 40ll + col, left, y_); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(long_chains_y_spec::args, x_, 0);
TF_LAYOUT(long_chains_y_spec::args, k_, 8);
TF_LAYOUT(long_chains_y_spec::args, y_, 16);
TF_LAYOUT(long_chains_y_spec::args, M_, 24);
static_assert(sizeof(long_chains_y_spec::args) == 32, "size of args");
