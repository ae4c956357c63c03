// Written by tfgen: every_op_e1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k26, phase e1:
//   body %e1             f32[B,S,1]          = add %d1, %d2                                     !34:5
struct k26_e1 {
    struct args {
        const float *d1;
        const float *d2;
        float *e1;
        int B, S;
    };
    struct context {
        float e1;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float d1 = load_one(p.d1 + row); // !29:5
        const float d2 = load_one(p.d2 + row); // !30:5
        const float e1 = op_add(d1, d2); // !34:5
        c.e1 = e1; // !34:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e1 + row, c.e1); } // !34:5
};
TF_LAYOUT(k26_e1::args, d1, 0);
TF_LAYOUT(k26_e1::args, d2, 8);
TF_LAYOUT(k26_e1::args, e1, 16);
TF_LAYOUT(k26_e1::args, B, 24);
TF_LAYOUT(k26_e1::args, S, 28);
static_assert(sizeof(k26_e1::args) == 32, "size of args");
