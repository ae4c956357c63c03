// Written by tfgen: every_op_a9 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k8, phase a9:
//   body %a9             f32[B,S,37]         = tanh %a7                                         !16:5
struct k8_a9 {
    struct args {
        const float *a7;
        float *a9;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a9;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a7 = load<V>(p.a7 + row * 37ll + col, left); // !14:5
        const vec<float, V> a9 = op_tanh(a7); // !16:5
        return {a9};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a9 + row * 37ll + col, left, e.a9); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k8_a9::args, a7, 0);
TF_LAYOUT(k8_a9::args, a9, 8);
TF_LAYOUT(k8_a9::args, B, 16);
TF_LAYOUT(k8_a9::args, S, 20);
static_assert(sizeof(k8_a9::args) == 24, "size of args");
