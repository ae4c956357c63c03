// Written by tfgen: every_op_stats_2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase stats_2:
//   body %d5             f32[B,S,1]          = row_sumsq %a5                                    !33:5
struct every_op_stats_2_spec {
    struct args {
        const float *a5_;
        float *d5_;
        int B_, S_;
    };
    struct context {
        float d5_;
    };
    template <int V> struct element {
        vec<float, V> a5_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5_ = load<V>(p.a5_ + row * 37ll + col, left); // !12:5
        return {a5_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5_); // !33:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.d5_ = total; } // !33:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d5_ + row, c.d5_); } // !33:5
};
TF_LAYOUT(every_op_stats_2_spec::args, a5_, 0);
TF_LAYOUT(every_op_stats_2_spec::args, d5_, 8);
TF_LAYOUT(every_op_stats_2_spec::args, B_, 16);
TF_LAYOUT(every_op_stats_2_spec::args, S_, 20);
static_assert(sizeof(every_op_stats_2_spec::args) == 24, "size of args");
