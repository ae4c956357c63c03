// Written by tfgen: every_op_c2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k15, phase c2:
//   body %c2             f32[B,S,37]         = sub %c1, %u                                      !23:5
struct k15_c2 {
    struct args {
        const float *c1;
        const float *u;
        float *c2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c2;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c1 = load<V>(p.c1 + row * 37ll + col, left); // !22:5
        const vec<float, V> u = load<V>(p.u + (row / p.S) * 37ll + col, left); // !6:35
        const vec<float, V> c2 = op_sub(c1, u); // !23:5
        return {c2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c2 + row * 37ll + col, left, e.c2); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k15_c2::args, c1, 0);
TF_LAYOUT(k15_c2::args, u, 8);
TF_LAYOUT(k15_c2::args, c2, 16);
TF_LAYOUT(k15_c2::args, B, 24);
TF_LAYOUT(k15_c2::args, S, 28);
static_assert(sizeof(k15_c2::args) == 32, "size of args");
