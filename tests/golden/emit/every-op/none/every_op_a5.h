// Written by tfgen: every_op_a5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase a5:
//   body %a5             f32[B,S,37]         = square %a4                                       !12:5
struct k4_a5 {
    struct args {
        const float *a4;
        float *a5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a4 = load<V>(p.a4 + row * 37ll + col, left); // !11:5
        const vec<float, V> a5 = op_square(a4); // !12:5
        return {a5};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a5 + row * 37ll + col, left, e.a5); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k4_a5::args, a4, 0);
TF_LAYOUT(k4_a5::args, a5, 8);
TF_LAYOUT(k4_a5::args, B, 16);
TF_LAYOUT(k4_a5::args, S, 20);
static_assert(sizeof(k4_a5::args) == 24, "size of args");
