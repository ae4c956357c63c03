// Written by tfgen: every_op_e2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase e2:
//   body %d3             f32[B,S,1]          = row_max %a5                                      !31:5
//   epi  %e2             f32[B,S,1]          = add %d3, %d4                                     !35:5
struct k2_e2 {
    struct args {
        const float *a5;
        const float *d4;
        float *e2;
        int B, S;
    };
    struct context {
        float e2;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load<V>(p.a5 + row * 37ll + col, left); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !31:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !31:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float d4 = load_one(p.d4 + row); // !32:5
        const float e2 = op_add(total, d4); // !35:5
        c.e2 = e2; // !35:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e2 + row, c.e2); } // !35:5
};
TF_LAYOUT(k2_e2::args, a5, 0);
TF_LAYOUT(k2_e2::args, d4, 8);
TF_LAYOUT(k2_e2::args, e2, 16);
TF_LAYOUT(k2_e2::args, B, 24);
TF_LAYOUT(k2_e2::args, S, 28);
static_assert(sizeof(k2_e2::args) == 32, "size of args");
