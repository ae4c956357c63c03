// Written by tfgen: every_op_e4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k29, phase e4:
//   body %e4             f32[B,S,1]          = add %e3, %d5                                     !37:5
struct k29_e4 {
    struct args {
        const float *e3;
        const float *d5;
        float *e4;
        int B, S;
    };
    struct context {
        float e4;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e3 = load_one(p.e3 + row); // !36:5
        const float d5 = load_one(p.d5 + row); // !33:5
        const float e4 = op_add(e3, d5); // !37:5
        c.e4 = e4; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e4 + row, c.e4); } // !37:5
};
TF_LAYOUT(k29_e4::args, e3, 0);
TF_LAYOUT(k29_e4::args, d5, 8);
TF_LAYOUT(k29_e4::args, e4, 16);
TF_LAYOUT(k29_e4::args, B, 24);
TF_LAYOUT(k29_e4::args, S, 28);
static_assert(sizeof(k29_e4::args) == 32, "size of args");
