// Written by tfgen: every_op_c1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k14, phase c1:
//   body %c1             f32[B,S,37]         = add %b5, %z                                      !22:5
struct k14_c1 {
    struct args {
        const float *b5;
        const float *z;
        float *c1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c1;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b5 = load<V>(p.b5 + row * 37ll + col, left); // !21:5
        const vec<float, V> z = load<V>(p.z + (row % p.S) * 37ll + col, left); // !6:24
        const vec<float, V> c1 = op_add(b5, z); // !22:5
        return {c1};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c1 + row * 37ll + col, left, e.c1); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k14_c1::args, b5, 0);
TF_LAYOUT(k14_c1::args, z, 8);
TF_LAYOUT(k14_c1::args, c1, 16);
TF_LAYOUT(k14_c1::args, B, 24);
TF_LAYOUT(k14_c1::args, S, 28);
static_assert(sizeof(k14_c1::args) == 32, "size of args");
