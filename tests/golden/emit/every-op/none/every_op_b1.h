// Written by tfgen: every_op_b1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k9, phase b1:
//   body %b1             f32[B,S,37]         = sigmoid %a8                                      !17:5
struct k9_b1 {
    struct args {
        const float *a8;
        float *b1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b1;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a8 = load<V>(p.a8 + row * 37ll + col, left); // !15:5
        const vec<float, V> b1 = op_sigmoid(a8); // !17:5
        return {b1};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b1 + row * 37ll + col, left, e.b1); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k9_b1::args, a8, 0);
TF_LAYOUT(k9_b1::args, b1, 8);
TF_LAYOUT(k9_b1::args, B, 16);
TF_LAYOUT(k9_b1::args, S, 20);
static_assert(sizeof(k9_b1::args) == 24, "size of args");
