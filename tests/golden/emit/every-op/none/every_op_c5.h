// Written by tfgen: every_op_c5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k18, phase c5:
//   body %c5             f32[B,S,37]         = max %c4, %c                                      !26:5
struct k18_c5 {
    struct args {
        const float *c4;
        const float *c_;
        float *c5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c5;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c4 = load<V>(p.c4 + row * 37ll + col, left); // !25:5
        const vec<float, V> c_ = load<V>(p.c_ + col, left); // !6:63
        const vec<float, V> c5 = op_max(c4, c_); // !26:5
        return {c5};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c5 + row * 37ll + col, left, e.c5); // !26:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k18_c5::args, c4, 0);
TF_LAYOUT(k18_c5::args, c_, 8);
TF_LAYOUT(k18_c5::args, c5, 16);
TF_LAYOUT(k18_c5::args, B, 24);
TF_LAYOUT(k18_c5::args, S, 28);
static_assert(sizeof(k18_c5::args) == 32, "size of args");
