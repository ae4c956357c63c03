// Written by tfgen: every_op_c2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k15, phase c2:
//   body %c2             f32[B,S,37]         = sub %c1, %u                                      !23:5
struct every_op_c2_spec {
    struct args {
        const float *c1_;
        const float *u_;
        float *c2_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c2_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c1_ = load<V>(p.c1_ + row * 37ll + col, left); // !22:5
        const vec<float, V> u_ = load<V>(p.u_ + row / p.S_ * 37ll + col, left); // !6:35
        const vec<float, V> c2_ = op_sub(c1_, u_); // !23:5
        return {c2_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c2_ + row * 37ll + col, left, e.c2_); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c2_spec::args, c1_, 0);
TF_LAYOUT(every_op_c2_spec::args, u_, 8);
TF_LAYOUT(every_op_c2_spec::args, c2_, 16);
TF_LAYOUT(every_op_c2_spec::args, B_, 24);
TF_LAYOUT(every_op_c2_spec::args, S_, 28);
static_assert(sizeof(every_op_c2_spec::args) == 32, "size of args");
