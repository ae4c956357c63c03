// Written by tfgen: every_op_c3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k16, phase c3:
//   body %c3             f32[B,S,37]         = mul %c2, %r                                      !24:5
struct every_op_c3_spec {
    struct args {
        const float *r_;
        const float *c2_;
        float *c3_;
        int B_, S_;
    };
    struct context {
        float r_;
    };
    template <int V> struct element {
        vec<float, V> c2_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r_ = load_one(p.r_ + row); // !6:49
        c.r_ = r_; // !6:49
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c2_ = load<V>(p.c2_ + row * 37ll + col, left); // !23:5
        return {c2_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3_ = op_mul(e.c2_, c.r_); // !24:5
        store<V>(p.c3_ + row * 37ll + col, left, c3_); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c3_spec::args, r_, 0);
TF_LAYOUT(every_op_c3_spec::args, c2_, 8);
TF_LAYOUT(every_op_c3_spec::args, c3_, 16);
TF_LAYOUT(every_op_c3_spec::args, B_, 24);
TF_LAYOUT(every_op_c3_spec::args, S_, 28);
static_assert(sizeof(every_op_c3_spec::args) == 32, "size of args");
