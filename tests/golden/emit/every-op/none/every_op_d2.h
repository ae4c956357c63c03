// Written by tfgen: every_op_d2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k22, phase d2:
//   body %d2.s           f32[B,S,1]          = row_sum %b3                                      !30:5
//   epi  %d2             f32[B,S,1]          = div %d2.s, 37                                    !30:5
struct k22_d2 {
    struct args {
        const float *b3;
        float *d2;
        int B, S;
    };
    struct context {
        float d2;
    };
    template <int V> struct element {
        vec<float, V> b3;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b3 = load<V>(p.b3 + row * 37ll + col, left); // !19:5
        return {b3};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3; // !30:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float d2 = op_div(total, 37.0f); // !30:5
        c.d2 = d2; // !30:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d2 + row, c.d2); } // !30:5
};
TF_LAYOUT(k22_d2::args, b3, 0);
TF_LAYOUT(k22_d2::args, d2, 8);
TF_LAYOUT(k22_d2::args, B, 16);
TF_LAYOUT(k22_d2::args, S, 20);
static_assert(sizeof(k22_d2::args) == 24, "size of args");
