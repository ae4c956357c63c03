// Written by tfgen: every_op_b4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k12, phase b4:
//   body %b4             f32[B,S,37]         = gelu_tanh %a9                                    !20:5
struct k12_b4 {
    struct args {
        const float *a9;
        float *b4;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b4;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a9 = load<V>(p.a9 + row * 37ll + col, left); // !16:5
        const vec<float, V> b4 = op_gelu_tanh(a9); // !20:5
        return {b4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b4 + row * 37ll + col, left, e.b4); // !20:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k12_b4::args, a9, 0);
TF_LAYOUT(k12_b4::args, b4, 8);
TF_LAYOUT(k12_b4::args, B, 16);
TF_LAYOUT(k12_b4::args, S, 20);
static_assert(sizeof(k12_b4::args) == 24, "size of args");
