// Written by tfgen: ropes_stats of tests/specs/ropes.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase stats:
//   body %h.ss           f32[B,S,1]          = row_sumsq %x                                     !10:5
struct ropes_stats_spec {
    struct args {
        const bf16 *x_;
        float *h_ss_;
        int B_, S_;
    };
    struct context {
        float h_ss_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 24, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 24ll + col, left); // !6:10
        return {x_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !10:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x_); // !10:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.h_ss_ = total; } // !10:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.h_ss_ + row, c.h_ss_); } // !10:5
};
TF_LAYOUT(ropes_stats_spec::args, x_, 0);
TF_LAYOUT(ropes_stats_spec::args, h_ss_, 8);
TF_LAYOUT(ropes_stats_spec::args, B_, 16);
TF_LAYOUT(ropes_stats_spec::args, S_, 20);
static_assert(sizeof(ropes_stats_spec::args) == 24, "size of args");
