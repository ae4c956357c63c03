// Written by tfgen: moves_ln of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k5, phase ln:
//   body %ln.ss          f32[B,S,1]          = row_sumsq %y5                                    !18:5
//   epi  %ln.q           f32[B,S,1]          = sqrt %ln.ss                                      !18:5
//   epi  %ln.m           f32[B,S,1]          = max %ln.q, 1e-12                                 !18:5
//   epi  %ln             bf16[B,S,21]        = div %y5, %ln.m                                   !18:5
struct moves_ln_spec {
    struct args {
        const bf16 *y5_g_;
        bf16 *ln_;
        int B_, S_;
    };
    struct context {
        float ln_m_;
    };
    template <int V> struct element {
        vec<float, V> y5_;
    };
    static constexpr int N = 21, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y5_ = load<V>(p.y5_g_ + row * 21ll + col, left); // !16:5
        return {y5_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y5_); // !18:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float ln_q_ = op_sqrt(total); // !18:5
        const float ln_m_ = op_max(ln_q_, 1e-12f); // !18:5
        c.ln_m_ = ln_m_; // !18:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> ln_ = op_div(e.y5_, c.ln_m_); // !18:5
        store<V>(p.ln_ + row * 21ll + col, left, ln_); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(moves_ln_spec::args, y5_g_, 0);
TF_LAYOUT(moves_ln_spec::args, ln_, 8);
TF_LAYOUT(moves_ln_spec::args, B_, 16);
TF_LAYOUT(moves_ln_spec::args, S_, 20);
static_assert(sizeof(moves_ln_spec::args) == 24, "size of args");
