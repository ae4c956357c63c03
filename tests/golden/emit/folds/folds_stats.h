// Written by tfgen: folds_stats of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase stats:
//   body %ss             f32[B,S,1]          = row_sumsq %x                                     !12:5
struct k2_stats {
    struct args {
        const float *x;
        float *ss;
        int B, S;
    };
    struct context {
        float ss;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.ss = total; } // !12:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.ss + row, c.ss); } // !12:5
};
TF_LAYOUT(k2_stats::args, x, 0);
TF_LAYOUT(k2_stats::args, ss, 8);
TF_LAYOUT(k2_stats::args, B, 16);
TF_LAYOUT(k2_stats::args, S, 20);
static_assert(sizeof(k2_stats::args) == 24, "size of args");
