// Written by tfgen: every_op_b5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k13, phase b5:
//   body %b5             f32[B,S,37]         = relu %b4                                         !21:5
struct k13_b5 {
    struct args {
        const float *b4;
        float *b5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b4 = load<V>(p.b4 + row * 37ll + col, left); // !20:5
        const vec<float, V> b5 = op_relu(b4); // !21:5
        return {b5};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b5 + row * 37ll + col, left, e.b5); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k13_b5::args, b4, 0);
TF_LAYOUT(k13_b5::args, b5, 8);
TF_LAYOUT(k13_b5::args, B, 16);
TF_LAYOUT(k13_b5::args, S, 20);
static_assert(sizeof(k13_b5::args) == 24, "size of args");
