// Written by tfgen: every_op_a1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase a1:
//   body %a1             f32[B,S,37]         = neg %x                                           !8:5
struct k0_a1 {
    struct args {
        const float *x;
        float *a1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a1;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 37ll + col, left); // !6:10
        const vec<float, V> a1 = op_neg(x); // !8:5
        return {a1};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a1 + row * 37ll + col, left, e.a1); // !8:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_a1::args, x, 0);
TF_LAYOUT(k0_a1::args, a1, 8);
TF_LAYOUT(k0_a1::args, B, 16);
TF_LAYOUT(k0_a1::args, S, 20);
static_assert(sizeof(k0_a1::args) == 24, "size of args");
