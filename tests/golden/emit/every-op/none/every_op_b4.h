// Written by tfgen: every_op_b4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k12, phase b4:
//   body %b4             f32[B,S,37]         = gelu_tanh %a9                                    !20:5
struct every_op_b4_spec {
    struct args {
        const float *a9_;
        float *b4_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b4_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a9_ = load<V>(p.a9_ + row * 37ll + col, left); // !16:5
        const vec<float, V> b4_ = op_gelu_tanh(a9_); // !20:5
        return {b4_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b4_ + row * 37ll + col, left, e.b4_); // !20:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_b4_spec::args, a9_, 0);
TF_LAYOUT(every_op_b4_spec::args, b4_, 8);
TF_LAYOUT(every_op_b4_spec::args, B_, 16);
TF_LAYOUT(every_op_b4_spec::args, S_, 20);
static_assert(sizeof(every_op_b4_spec::args) == 24, "size of args");
