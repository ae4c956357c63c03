// Written by tfgen: folds_stats_2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase stats_2:
//   body %m              f32[B,S,1]          = row_max %x                                       !20:5
struct k4_stats_2 {
    struct args {
        const float *x;
        float *m;
        int B, S;
    };
    struct context {
        float m;
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
    static constexpr reduction kind(step<0>) { return reduction::max; } // !20:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !20:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.m = total; } // !20:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.m + row, c.m); } // !20:5
};
TF_LAYOUT(k4_stats_2::args, x, 0);
TF_LAYOUT(k4_stats_2::args, m, 8);
TF_LAYOUT(k4_stats_2::args, B, 16);
TF_LAYOUT(k4_stats_2::args, S, 20);
static_assert(sizeof(k4_stats_2::args) == 24, "size of args");
