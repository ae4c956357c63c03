// Written by tfgen: every_op_b3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k11, phase b3:
//   body %b3             f32[B,S,37]         = gelu_erf %b2                                     !19:5
struct k11_b3 {
    struct args {
        const float *b2;
        float *b3;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b3;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b2 = load<V>(p.b2 + row * 37ll + col, left); // !18:5
        const vec<float, V> b3 = op_gelu_erf(b2); // !19:5
        return {b3};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b3 + row * 37ll + col, left, e.b3); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k11_b3::args, b2, 0);
TF_LAYOUT(k11_b3::args, b3, 8);
TF_LAYOUT(k11_b3::args, B, 16);
TF_LAYOUT(k11_b3::args, S, 20);
static_assert(sizeof(k11_b3::args) == 24, "size of args");
