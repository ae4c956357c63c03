// Written by tfgen: every_op_c6 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k19, phase c6:
//   body %c6             f32[B,S,37]         = min %c5, %t                                      !27:5
struct k19_c6 {
    struct args {
        const float *t;
        const float *c5;
        float *c6;
        int B, S;
    };
    struct context {
        float t;
    };
    template <int V> struct element {
        vec<float, V> c5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float t = load_one(p.t + (row / p.S)); // !6:71
        c.t = t; // !6:71
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c5 = load<V>(p.c5 + row * 37ll + col, left); // !26:5
        return {c5};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c6 = op_min(e.c5, c.t); // !27:5
        store<V>(p.c6 + row * 37ll + col, left, c6); // !27:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k19_c6::args, t, 0);
TF_LAYOUT(k19_c6::args, c5, 8);
TF_LAYOUT(k19_c6::args, c6, 16);
TF_LAYOUT(k19_c6::args, B, 24);
TF_LAYOUT(k19_c6::args, S, 28);
static_assert(sizeof(k19_c6::args) == 32, "size of args");
