// Written by tfgen: every_op_a4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase a4:
//   body %a4             f32[B,S,37]         = sqrt %a2                                         !11:5
struct k3_a4 {
    struct args {
        const float *a2;
        float *a4;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a4;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2 = load<V>(p.a2 + row * 37ll + col, left); // !9:5
        const vec<float, V> a4 = op_sqrt(a2); // !11:5
        return {a4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a4 + row * 37ll + col, left, e.a4); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k3_a4::args, a2, 0);
TF_LAYOUT(k3_a4::args, a4, 8);
TF_LAYOUT(k3_a4::args, B, 16);
TF_LAYOUT(k3_a4::args, S, 20);
static_assert(sizeof(k3_a4::args) == 24, "size of args");
