// Written by tfgen: every_op_a4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase a4:
//   body %a4             f32[B,S,37]         = sqrt %a2                                         !11:5
struct every_op_a4_spec {
    struct args {
        const float *a2_;
        float *a4_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a4_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2_ = load<V>(p.a2_ + row * 37ll + col, left); // !9:5
        const vec<float, V> a4_ = op_sqrt(a2_); // !11:5
        return {a4_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a4_ + row * 37ll + col, left, e.a4_); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_a4_spec::args, a2_, 0);
TF_LAYOUT(every_op_a4_spec::args, a4_, 8);
TF_LAYOUT(every_op_a4_spec::args, B_, 16);
TF_LAYOUT(every_op_a4_spec::args, S_, 20);
static_assert(sizeof(every_op_a4_spec::args) == 24, "size of args");
