// Written by tfgen: every_op_b2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k10, phase b2:
//   body %b2             f32[B,S,37]         = silu %b1                                         !18:5
struct k10_b2 {
    struct args {
        const float *b1;
        float *b2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b2;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b1 = load<V>(p.b1 + row * 37ll + col, left); // !17:5
        const vec<float, V> b2 = op_silu(b1); // !18:5
        return {b2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b2 + row * 37ll + col, left, e.b2); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k10_b2::args, b1, 0);
TF_LAYOUT(k10_b2::args, b2, 8);
TF_LAYOUT(k10_b2::args, B, 16);
TF_LAYOUT(k10_b2::args, S, 20);
static_assert(sizeof(k10_b2::args) == 24, "size of args");
