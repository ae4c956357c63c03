// Written by tfgen: every_op_a2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase a2:
//   body %a2             f32[B,S,37]         = exp %a1                                          !9:5
struct k1_a2 {
    struct args {
        const float *a1;
        float *a2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a2;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a1 = load<V>(p.a1 + row * 37ll + col, left); // !8:5
        const vec<float, V> a2 = op_exp(a1); // !9:5
        return {a2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a2 + row * 37ll + col, left, e.a2); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k1_a2::args, a1, 0);
TF_LAYOUT(k1_a2::args, a2, 8);
TF_LAYOUT(k1_a2::args, B, 16);
TF_LAYOUT(k1_a2::args, S, 20);
static_assert(sizeof(k1_a2::args) == 24, "size of args");
