// Written by tfgen: every_op_b5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k13, phase b5:
//   body %b5             f32[B,S,37]         = relu %b4                                         !21:5
struct every_op_b5_spec {
    struct args {
        const float *b4_;
        float *b5_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b5_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b4_ = load<V>(p.b4_ + row * 37ll + col, left); // !20:5
        const vec<float, V> b5_ = op_relu(b4_); // !21:5
        return {b5_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b5_ + row * 37ll + col, left, e.b5_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_b5_spec::args, b4_, 0);
TF_LAYOUT(every_op_b5_spec::args, b5_, 8);
TF_LAYOUT(every_op_b5_spec::args, B_, 16);
TF_LAYOUT(every_op_b5_spec::args, S_, 20);
static_assert(sizeof(every_op_b5_spec::args) == 24, "size of args");
