// Written by tfgen: every_op_c4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k17, phase c4:
//   body %c4             f32[B,S,37]         = div %c3, 3.5                                     !25:5
struct k17_c4 {
    struct args {
        const float *c3;
        float *c4;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c4;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c3 = load<V>(p.c3 + row * 37ll + col, left); // !24:5
        const vec<float, V> c4 = op_div(c3, 3.5f); // !25:5
        return {c4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c4 + row * 37ll + col, left, e.c4); // !25:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k17_c4::args, c3, 0);
TF_LAYOUT(k17_c4::args, c4, 8);
TF_LAYOUT(k17_c4::args, B, 16);
TF_LAYOUT(k17_c4::args, S, 20);
static_assert(sizeof(k17_c4::args) == 24, "size of args");
