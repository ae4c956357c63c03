// Written by tfgen: every_op_e2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k27, phase e2:
//   body %e2             f32[B,S,1]          = add %d3, %d4                                     !35:5
struct k27_e2 {
    struct args {
        const float *d3;
        const float *d4;
        float *e2;
        int B, S;
    };
    struct context {
        float e2;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float d3 = load_one(p.d3 + row); // !31:5
        const float d4 = load_one(p.d4 + row); // !32:5
        const float e2 = op_add(d3, d4); // !35:5
        c.e2 = e2; // !35:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e2 + row, c.e2); } // !35:5
};
TF_LAYOUT(k27_e2::args, d3, 0);
TF_LAYOUT(k27_e2::args, d4, 8);
TF_LAYOUT(k27_e2::args, e2, 16);
TF_LAYOUT(k27_e2::args, B, 24);
TF_LAYOUT(k27_e2::args, S, 28);
static_assert(sizeof(k27_e2::args) == 32, "size of args");
