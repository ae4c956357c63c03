// Written by tfgen: every_op_e5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k30, phase e5:
//   body %e5             f32[B,S,37]         = add %c7, %e4                                     !38:5
struct k30_e5 {
    struct args {
        const float *e4;
        const bf16 *c7;
        float *e5;
        int B, S;
    };
    struct context {
        float e4;
    };
    template <int V> struct element {
        vec<float, V> c7;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e4 = load_one(p.e4 + row); // !37:5
        c.e4 = e4; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c7 = load<V>(p.c7 + row * 37ll + col, left); // !28:5
        return {c7};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e5 = op_add(e.c7, c.e4); // !38:5
        store<V>(p.e5 + row * 37ll + col, left, e5); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k30_e5::args, e4, 0);
TF_LAYOUT(k30_e5::args, c7, 8);
TF_LAYOUT(k30_e5::args, e5, 16);
TF_LAYOUT(k30_e5::args, B, 24);
TF_LAYOUT(k30_e5::args, S, 28);
static_assert(sizeof(k30_e5::args) == 32, "size of args");
