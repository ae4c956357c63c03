// Written by tfgen: every_op_b1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k9, phase b1:
//   body %b1             f32[B,S,37]         = sigmoid %a8                                      !17:5
struct every_op_b1_spec {
    struct args {
        const float *a8_;
        float *b1_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b1_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a8_ = load<V>(p.a8_ + row * 37ll + col, left); // !15:5
        const vec<float, V> b1_ = op_sigmoid(a8_); // !17:5
        return {b1_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b1_ + row * 37ll + col, left, e.b1_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_b1_spec::args, a8_, 0);
TF_LAYOUT(every_op_b1_spec::args, b1_, 8);
TF_LAYOUT(every_op_b1_spec::args, B_, 16);
TF_LAYOUT(every_op_b1_spec::args, S_, 20);
static_assert(sizeof(every_op_b1_spec::args) == 24, "size of args");
