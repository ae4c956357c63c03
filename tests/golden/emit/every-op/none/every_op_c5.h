// Written by tfgen: every_op_c5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k18, phase c5:
//   body %c5             f32[B,S,37]         = max %c4, %c                                      !26:5
struct every_op_c5_spec {
    struct args {
        const float *c4_;
        const float *c_;
        float *c5_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c5_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c4_ = load<V>(p.c4_ + row * 37ll + col, left); // !25:5
        const vec<float, V> c_ = load<V>(p.c_ + col, left); // !6:63
        const vec<float, V> c5_ = op_max(c4_, c_); // !26:5
        return {c5_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c5_ + row * 37ll + col, left, e.c5_); // !26:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c5_spec::args, c4_, 0);
TF_LAYOUT(every_op_c5_spec::args, c_, 8);
TF_LAYOUT(every_op_c5_spec::args, c5_, 16);
TF_LAYOUT(every_op_c5_spec::args, B_, 24);
TF_LAYOUT(every_op_c5_spec::args, S_, 28);
static_assert(sizeof(every_op_c5_spec::args) == 32, "size of args");
