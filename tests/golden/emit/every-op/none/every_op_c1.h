// Written by tfgen: every_op_c1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k14, phase c1:
//   body %c1             f32[B,S,37]         = add %b5, %z                                      !22:5
struct every_op_c1_spec {
    struct args {
        const float *b5_;
        const float *z_;
        float *c1_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c1_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b5_ = load<V>(p.b5_ + row * 37ll + col, left); // !21:5
        const vec<float, V> z_ = load<V>(p.z_ + (row % p.S_) * 37ll + col, left); // !6:24
        const vec<float, V> c1_ = op_add(b5_, z_); // !22:5
        return {c1_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c1_ + row * 37ll + col, left, e.c1_); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_c1_spec::args, b5_, 0);
TF_LAYOUT(every_op_c1_spec::args, z_, 8);
TF_LAYOUT(every_op_c1_spec::args, c1_, 16);
TF_LAYOUT(every_op_c1_spec::args, B_, 24);
TF_LAYOUT(every_op_c1_spec::args, S_, 28);
static_assert(sizeof(every_op_c1_spec::args) == 32, "size of args");
