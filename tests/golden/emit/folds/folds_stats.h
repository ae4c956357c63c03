// Written by tfgen: folds_stats of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase stats:
//   body %ss             f32[B,S,1]          = row_sumsq %x                                     !12:5
struct folds_stats_spec {
    struct args {
        const float *x_;
        float *ss_;
        int B_, S_;
    };
    struct context {
        float ss_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + col, left); // !6:10
        return {x_};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x_); // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.ss_ = total; } // !12:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.ss_ + row, c.ss_); } // !12:5
};
TF_LAYOUT(folds_stats_spec::args, x_, 0);
TF_LAYOUT(folds_stats_spec::args, ss_, 8);
TF_LAYOUT(folds_stats_spec::args, B_, 16);
TF_LAYOUT(folds_stats_spec::args, S_, 20);
static_assert(sizeof(folds_stats_spec::args) == 24, "size of args");
