// Written by tfgen: moves_y5 of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase y5:
//   pro  %w.g            bf16[3,7] in %w+0/7 = reshape %w                                       !17:5
//   body %y3.ss          f32[B,S,3,1]        = row_sumsq %y2                                    !15:5
//   epi  %y3.ms          f32[B,S,3,1]        = div %y3.ss, 7                                    !15:5
//   epi  %y3.me          f32[B,S,3,1]        = add %y3.ms, 1e-05                                !15:5
//   epi  %y3.r           f32[B,S,3,1]        = rsqrt %y3.me                                     !15:5
//   epi  %y3.n           f32[B,S,3,7]        = mul %y2, %y3.r                                   !15:5
//   epi  %y3             bf16[B,S,3,7]       = mul %y3.n, %nw                                   !15:5
//   epi  %y5.g           bf16[B,S,3,7]       = mul %y3, %w.g                                    !17:5
//   epi  %y5             bf16[B,S,21] in %y5.g+0/21 = reshape %y5.g                             !16:5
struct moves_y5_spec {
    struct args {
        const bf16 *y1_;
        const bf16 *nw_;
        const bf16 *w_;
        bf16 *y5_g_;
        int B_, S_;
    };
    struct context {
        float y3_r_;
    };
    template <int V> struct element {
        vec<float, V> y2_, nw_, w_g_;
    };
    static constexpr int N = 7, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return 3 * p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y2_ = load<V>(p.y1_ + row * 7ll + col, left); // !14:5
        const vec<float, V> nw_ = load<V>(p.nw_ + col, left); // !7:25
        const vec<float, V> w_g_ = load<V>(p.w_ + (row % 3) * 7ll + col, left); // !17:5
        return {y2_, nw_, w_g_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y2_); // !15:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float y3_ms_ = op_div(total, 7.0f); // !15:5
        const float y3_me_ = op_add(y3_ms_, 1e-05f); // !15:5
        const float y3_r_ = op_rsqrt(y3_me_); // !15:5
        c.y3_r_ = y3_r_; // !15:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y3_n_ = op_mul(e.y2_, c.y3_r_); // !15:5
        const vec<float, V> y3_ = op_mul(y3_n_, e.nw_); // !15:5
        const vec<float, V> y5_g_ = op_mul(y3_, e.w_g_); // !17:5
        store<V>(p.y5_g_ + row * 7ll + col, left, y5_g_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(moves_y5_spec::args, y1_, 0);
TF_LAYOUT(moves_y5_spec::args, nw_, 8);
TF_LAYOUT(moves_y5_spec::args, w_, 16);
TF_LAYOUT(moves_y5_spec::args, y5_g_, 24);
TF_LAYOUT(moves_y5_spec::args, B_, 32);
TF_LAYOUT(moves_y5_spec::args, S_, 36);
static_assert(sizeof(moves_y5_spec::args) == 40, "size of args");
