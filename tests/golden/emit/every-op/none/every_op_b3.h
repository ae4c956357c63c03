// Written by tfgen: every_op_b3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k11, phase b3:
//   body %b3             f32[B,S,37]         = gelu_erf %b2                                     !19:5
struct every_op_b3_spec {
    struct args {
        const float *b2_;
        float *b3_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b3_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b2_ = load<V>(p.b2_ + row * 37ll + col, left); // !18:5
        const vec<float, V> b3_ = op_gelu_erf(b2_); // !19:5
        return {b3_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b3_ + row * 37ll + col, left, e.b3_); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_b3_spec::args, b2_, 0);
TF_LAYOUT(every_op_b3_spec::args, b3_, 8);
TF_LAYOUT(every_op_b3_spec::args, B_, 16);
TF_LAYOUT(every_op_b3_spec::args, S_, 20);
static_assert(sizeof(every_op_b3_spec::args) == 24, "size of args");
