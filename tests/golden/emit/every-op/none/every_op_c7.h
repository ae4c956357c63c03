// Written by tfgen: every_op_c7 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k20, phase c7:
//   body %c7             bf16[B,S,37]        = cast %c6 to=bf16                                 !28:5
struct every_op_c7_spec {
    struct args {
        const float *c6_;
        bf16 *c7_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c7_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c6_ = load<V>(p.c6_ + row * 37ll + col, left); // !27:5
        const vec<float, V> c7_ = op_cast<bf16>(c6_); // !28:5
        return {c7_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c7_ + row * 37ll + col, left, e.c7_); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c7_spec::args, c6_, 0);
TF_LAYOUT(every_op_c7_spec::args, c7_, 8);
TF_LAYOUT(every_op_c7_spec::args, B_, 16);
TF_LAYOUT(every_op_c7_spec::args, S_, 20);
static_assert(sizeof(every_op_c7_spec::args) == 24, "size of args");
