// Written by tfgen: every_op_c7 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k20, phase c7:
//   body %c7             bf16[B,S,37]        = cast %c6 to=bf16                                 !28:5
struct k20_c7 {
    struct args {
        const float *c6;
        bf16 *c7;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c7;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c6 = load<V>(p.c6 + row * 37ll + col, left); // !27:5
        const vec<float, V> c7 = op_cast<bf16>(c6); // !28:5
        return {c7};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c7 + row * 37ll + col, left, e.c7); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k20_c7::args, c6, 0);
TF_LAYOUT(k20_c7::args, c7, 8);
TF_LAYOUT(k20_c7::args, B, 16);
TF_LAYOUT(k20_c7::args, S, 20);
static_assert(sizeof(k20_c7::args) == 24, "size of args");
