// Written by tfgen: every_op_a5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase a5:
//   body %a5             f32[B,S,37]         = square %a4                                       !12:5
struct every_op_a5_spec {
    struct args {
        const float *a4_;
        float *a5_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a5_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a4_ = load<V>(p.a4_ + row * 37ll + col, left); // !11:5
        const vec<float, V> a5_ = op_square(a4_); // !12:5
        return {a5_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a5_ + row * 37ll + col, left, e.a5_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_a5_spec::args, a4_, 0);
TF_LAYOUT(every_op_a5_spec::args, a5_, 8);
TF_LAYOUT(every_op_a5_spec::args, B_, 16);
TF_LAYOUT(every_op_a5_spec::args, S_, 20);
static_assert(sizeof(every_op_a5_spec::args) == 24, "size of args");
