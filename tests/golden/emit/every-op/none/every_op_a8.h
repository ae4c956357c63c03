// Written by tfgen: every_op_a8 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k7, phase a8:
//   body %a8             f32[B,S,37]         = cos %a3                                          !15:5
struct k7_a8 {
    struct args {
        const float *a3;
        float *a8;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a8;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a3 = load<V>(p.a3 + row * 37ll + col, left); // !10:5
        const vec<float, V> a8 = op_cos(a3); // !15:5
        return {a8};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a8 + row * 37ll + col, left, e.a8); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k7_a8::args, a3, 0);
TF_LAYOUT(k7_a8::args, a8, 8);
TF_LAYOUT(k7_a8::args, B, 16);
TF_LAYOUT(k7_a8::args, S, 20);
static_assert(sizeof(k7_a8::args) == 24, "size of args");
