// Written by tfgen: every_op_c3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k16, phase c3:
//   body %c3             f32[B,S,37]         = mul %c2, %r                                      !24:5
struct k16_c3 {
    struct args {
        const float *r;
        const float *c2;
        float *c3;
        int B, S;
    };
    struct context {
        float r;
    };
    template <int V> struct element {
        vec<float, V> c2;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !6:49
        c.r = r; // !6:49
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c2 = load<V>(p.c2 + row * 37ll + col, left); // !23:5
        return {c2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        store<V>(p.c3 + row * 37ll + col, left, c3); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k16_c3::args, r, 0);
TF_LAYOUT(k16_c3::args, c2, 8);
TF_LAYOUT(k16_c3::args, c3, 16);
TF_LAYOUT(k16_c3::args, B, 24);
TF_LAYOUT(k16_c3::args, S, 28);
static_assert(sizeof(k16_c3::args) == 32, "size of args");
