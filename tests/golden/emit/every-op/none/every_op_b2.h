// Written by tfgen: every_op_b2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k10, phase b2:
//   body %b2             f32[B,S,37]         = silu %b1                                         !18:5
struct every_op_b2_spec {
    struct args {
        const float *b1_;
        float *b2_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b2_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b1_ = load<V>(p.b1_ + row * 37ll + col, left); // !17:5
        const vec<float, V> b2_ = op_silu(b1_); // !18:5
        return {b2_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b2_ + row * 37ll + col, left, e.b2_); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_b2_spec::args, b1_, 0);
TF_LAYOUT(every_op_b2_spec::args, b2_, 8);
TF_LAYOUT(every_op_b2_spec::args, B_, 16);
TF_LAYOUT(every_op_b2_spec::args, S_, 20);
static_assert(sizeof(every_op_b2_spec::args) == 24, "size of args");
