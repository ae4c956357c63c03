// Written by tfgen: every_op_a9 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k8, phase a9:
//   body %a9             f32[B,S,37]         = tanh %a7                                         !16:5
struct every_op_a9_spec {
    struct args {
        const float *a7_;
        float *a9_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a9_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a7_ = load<V>(p.a7_ + row * 37ll + col, left); // !14:5
        const vec<float, V> a9_ = op_tanh(a7_); // !16:5
        return {a9_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a9_ + row * 37ll + col, left, e.a9_); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_a9_spec::args, a7_, 0);
TF_LAYOUT(every_op_a9_spec::args, a9_, 8);
TF_LAYOUT(every_op_a9_spec::args, B_, 16);
TF_LAYOUT(every_op_a9_spec::args, S_, 20);
static_assert(sizeof(every_op_a9_spec::args) == 24, "size of args");
