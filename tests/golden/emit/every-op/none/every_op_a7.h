// Written by tfgen: every_op_a7 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k6, phase a7:
//   body %a7             f32[B,S,37]         = sin %a6                                          !14:5
struct k6_a7 {
    struct args {
        const float *a6;
        float *a7;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a7;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a6 = load<V>(p.a6 + row * 37ll + col, left); // !13:5
        const vec<float, V> a7 = op_sin(a6); // !14:5
        return {a7};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a7 + row * 37ll + col, left, e.a7); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k6_a7::args, a6, 0);
TF_LAYOUT(k6_a7::args, a7, 8);
TF_LAYOUT(k6_a7::args, B, 16);
TF_LAYOUT(k6_a7::args, S, 20);
static_assert(sizeof(k6_a7::args) == 24, "size of args");
