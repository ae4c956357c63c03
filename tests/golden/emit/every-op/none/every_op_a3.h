// Written by tfgen: every_op_a3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase a3:
//   body %a3             f32[B,S,37]         = log %a2                                          !10:5
struct every_op_a3_spec {
    struct args {
        const float *a2_;
        float *a3_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a3_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2_ = load<V>(p.a2_ + row * 37ll + col, left); // !9:5
        const vec<float, V> a3_ = op_log(a2_); // !10:5
        return {a3_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a3_ + row * 37ll + col, left, e.a3_); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_a3_spec::args, a2_, 0);
TF_LAYOUT(every_op_a3_spec::args, a3_, 8);
TF_LAYOUT(every_op_a3_spec::args, B_, 16);
TF_LAYOUT(every_op_a3_spec::args, S_, 20);
static_assert(sizeof(every_op_a3_spec::args) == 24, "size of args");
