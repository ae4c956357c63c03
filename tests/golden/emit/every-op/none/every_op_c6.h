// Written by tfgen: every_op_c6 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k19, phase c6:
//   body %c6             f32[B,S,37]         = min %c5, %t                                      !27:5
struct every_op_c6_spec {
    struct args {
        const float *t_;
        const float *c5_;
        float *c6_;
        int B_, S_;
    };
    struct context {
        float t_;
    };
    template <int V> struct element {
        vec<float, V> c5_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float t_ = load_one(p.t_ + row / p.S_); // !6:71
        c.t_ = t_; // !6:71
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c5_ = load<V>(p.c5_ + row * 37ll + col, left); // !26:5
        return {c5_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c6_ = op_min(e.c5_, c.t_); // !27:5
        store<V>(p.c6_ + row * 37ll + col, left, c6_); // !27:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c6_spec::args, t_, 0);
TF_LAYOUT(every_op_c6_spec::args, c5_, 8);
TF_LAYOUT(every_op_c6_spec::args, c6_, 16);
TF_LAYOUT(every_op_c6_spec::args, B_, 24);
TF_LAYOUT(every_op_c6_spec::args, S_, 28);
static_assert(sizeof(every_op_c6_spec::args) == 32, "size of args");
