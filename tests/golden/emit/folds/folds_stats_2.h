// Written by tfgen: folds_stats_2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase stats_2:
//   body %m              f32[B,S,1]          = row_max %x                                       !20:5
struct folds_stats_2_spec {
    struct args {
        const float *x_;
        float *m_;
        int B_, S_;
    };
    struct context {
        float m_;
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
    static constexpr reduction kind(step<0>) { return reduction::max; } // !20:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !20:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.m_ = total; } // !20:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.m_ + row, c.m_); } // !20:5
};
TF_LAYOUT(folds_stats_2_spec::args, x_, 0);
TF_LAYOUT(folds_stats_2_spec::args, m_, 8);
TF_LAYOUT(folds_stats_2_spec::args, B_, 16);
TF_LAYOUT(folds_stats_2_spec::args, S_, 20);
static_assert(sizeof(folds_stats_2_spec::args) == 24, "size of args");
