// Written by tfgen: every_op_a1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase a1:
//   body %a1             f32[B,S,37]         = neg %x                                           !8:5
struct every_op_a1_spec {
    struct args {
        const float *x_;
        float *a1_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a1_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 37ll + col, left); // !6:10
        const vec<float, V> a1_ = op_neg(x_); // !8:5
        return {a1_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a1_ + row * 37ll + col, left, e.a1_); // !8:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_a1_spec::args, x_, 0);
TF_LAYOUT(every_op_a1_spec::args, a1_, 8);
TF_LAYOUT(every_op_a1_spec::args, B_, 16);
TF_LAYOUT(every_op_a1_spec::args, S_, 20);
static_assert(sizeof(every_op_a1_spec::args) == 24, "size of args");
