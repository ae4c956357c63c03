// Written by tfgen: every_op_e3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k28, phase e3:
//   body %e3             f32[B,S,1]          = add %e1, %e2                                     !36:5
struct k28_e3 {
    struct args {
        const float *e1;
        const float *e2;
        float *e3;
        int B, S;
    };
    struct context {
        float e3;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e1 = load_one(p.e1 + row); // !34:5
        const float e2 = load_one(p.e2 + row); // !35:5
        const float e3 = op_add(e1, e2); // !36:5
        c.e3 = e3; // !36:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e3 + row, c.e3); } // !36:5
};
TF_LAYOUT(k28_e3::args, e1, 0);
TF_LAYOUT(k28_e3::args, e2, 8);
TF_LAYOUT(k28_e3::args, e3, 16);
TF_LAYOUT(k28_e3::args, B, 24);
TF_LAYOUT(k28_e3::args, S, 28);
static_assert(sizeof(k28_e3::args) == 32, "size of args");
