// Written by tfgen: every_op_a6 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k5, phase a6:
//   body %a6             f32[B,S,37]         = rsqrt %a2                                        !13:5
struct k5_a6 {
    struct args {
        const float *a2;
        float *a6;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a6;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2 = load<V>(p.a2 + row * 37ll + col, left); // !9:5
        const vec<float, V> a6 = op_rsqrt(a2); // !13:5
        return {a6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a6 + row * 37ll + col, left, e.a6); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k5_a6::args, a2, 0);
TF_LAYOUT(k5_a6::args, a6, 8);
TF_LAYOUT(k5_a6::args, B, 16);
TF_LAYOUT(k5_a6::args, S, 20);
static_assert(sizeof(k5_a6::args) == 24, "size of args");
