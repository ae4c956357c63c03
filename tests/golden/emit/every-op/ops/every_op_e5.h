// Written by tfgen: every_op_e5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase e5:
//   body %d2.s           f32[B,S,1]          = row_sum %b3                                      !30:5
//   epi  %d2             f32[B,S,1]          = div %d2.s, 37                                    !30:5
//   epi  %e1             f32[B,S,1]          = add %d1, %d2                                     !34:5
//   epi  %e3             f32[B,S,1]          = add %e1, %e2                                     !36:5
//   epi  %e4             f32[B,S,1]          = add %e3, %d5                                     !37:5
//   epi  %e5             f32[B,S,37]         = add %c7, %e4                                     !38:5
struct k4_e5 {
    struct args {
        const float *b3;
        const bf16 *c7;
        const float *d1;
        const float *e2;
        const float *d5;
        float *e5;
        float *e4;
        int B, S;
    };
    struct context {
        float e4;
    };
    template <int V> struct element {
        vec<float, V> b3, c7;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b3 = load<V>(p.b3 + row * 37ll + col, left); // !19:5
        const vec<float, V> c7 = load<V>(p.c7 + row * 37ll + col, left); // !28:5
        return {b3, c7};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3; // !30:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float d1 = load_one(p.d1 + row); // !29:5
        const float d2 = op_div(total, 37.0f); // !30:5
        const float e1 = op_add(d1, d2); // !34:5
        const float e2 = load_one(p.e2 + row); // !35:5
        const float e3 = op_add(e1, e2); // !36:5
        const float d5 = load_one(p.d5 + row); // !33:5
        const float e4 = op_add(e3, d5); // !37:5
        c.e4 = e4; // !37:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e5 = op_add(e.c7, c.e4); // !38:5
        store<V>(p.e5 + row * 37ll + col, left, e5); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e4 + row, c.e4); } // !37:5
};
TF_LAYOUT(k4_e5::args, b3, 0);
TF_LAYOUT(k4_e5::args, c7, 8);
TF_LAYOUT(k4_e5::args, d1, 16);
TF_LAYOUT(k4_e5::args, e2, 24);
TF_LAYOUT(k4_e5::args, d5, 32);
TF_LAYOUT(k4_e5::args, e5, 40);
TF_LAYOUT(k4_e5::args, e4, 48);
TF_LAYOUT(k4_e5::args, B, 56);
TF_LAYOUT(k4_e5::args, S, 60);
static_assert(sizeof(k4_e5::args) == 64, "size of args");
