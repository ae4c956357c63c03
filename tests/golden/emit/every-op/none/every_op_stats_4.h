// Written by tfgen: every_op_stats_4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k25, phase stats_4:
//   body %d5             f32[B,S,1]          = row_sumsq %a5                                    !33:5
struct k25_stats_4 {
    struct args {
        const float *a5;
        float *d5;
        int B, S;
    };
    struct context {
        float d5;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load<V>(p.a5 + row * 37ll + col, left); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total) { c.d5 = total; } // !33:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d5 + row, c.d5); } // !33:5
};
TF_LAYOUT(k25_stats_4::args, a5, 0);
TF_LAYOUT(k25_stats_4::args, d5, 8);
TF_LAYOUT(k25_stats_4::args, B, 16);
TF_LAYOUT(k25_stats_4::args, S, 20);
static_assert(sizeof(k25_stats_4::args) == 24, "size of args");
