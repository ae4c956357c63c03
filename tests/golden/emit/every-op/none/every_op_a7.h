// Written by tfgen: every_op_a7 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k6, phase a7:
//   body %a7             f32[B,S,37]         = sin %a6                                          !14:5
struct every_op_a7_spec {
    struct args {
        const float *a6_;
        float *a7_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a7_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a6_ = load<V>(p.a6_ + row * 37ll + col, left); // !13:5
        const vec<float, V> a7_ = op_sin(a6_); // !14:5
        return {a7_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a7_ + row * 37ll + col, left, e.a7_); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_a7_spec::args, a6_, 0);
TF_LAYOUT(every_op_a7_spec::args, a7_, 8);
TF_LAYOUT(every_op_a7_spec::args, B_, 16);
TF_LAYOUT(every_op_a7_spec::args, S_, 20);
static_assert(sizeof(every_op_a7_spec::args) == 24, "size of args");
