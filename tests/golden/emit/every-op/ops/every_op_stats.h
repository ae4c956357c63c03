// Written by tfgen: every_op_stats of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase stats:
//   body %d4             f32[B,S,1]          = row_min %a5                                      !32:5
struct every_op_stats_spec {
    struct args {
        const float *a5_;
        float *d4_;
        int B_, S_;
    };
    struct context {
        float d4_;
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
    static constexpr reduction kind(pass<0>) { return reduction::min; } // !32:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5_; // !32:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.d4_ = total; } // !32:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d4_ + row, c.d4_); } // !32:5
};
TF_LAYOUT(every_op_stats_spec::args, a5_, 0);
TF_LAYOUT(every_op_stats_spec::args, d4_, 8);
TF_LAYOUT(every_op_stats_spec::args, B_, 16);
TF_LAYOUT(every_op_stats_spec::args, S_, 20);
static_assert(sizeof(every_op_stats_spec::args) == 24, "size of args");
