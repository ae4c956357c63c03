// Written by tfgen: every_op_c4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k17, phase c4:
//   body %c4             f32[B,S,37]         = div %c3, 3.5                                     !25:5
struct every_op_c4_spec {
    struct args {
        const float *c3_;
        float *c4_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c4_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c3_ = load<V>(p.c3_ + row * 37ll + col, left); // !24:5
        const vec<float, V> c4_ = op_div(c3_, 3.5f); // !25:5
        return {c4_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c4_ + row * 37ll + col, left, e.c4_); // !25:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c4_spec::args, c3_, 0);
TF_LAYOUT(every_op_c4_spec::args, c4_, 8);
TF_LAYOUT(every_op_c4_spec::args, B_, 16);
TF_LAYOUT(every_op_c4_spec::args, S_, 20);
static_assert(sizeof(every_op_c4_spec::args) == 24, "size of args");
