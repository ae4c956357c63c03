// Written by tfgen: every_op_e5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k30, phase e5:
//   body %e5             f32[B,S,37]         = add %c7, %e4                                     !38:5
struct every_op_e5_spec {
    struct args {
        const float *e4_;
        const bf16 *c7_;
        float *e5_;
        int B_, S_;
    };
    struct context {
        float e4_;
    };
    template <int V> struct element {
        vec<float, V> c7_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e4_ = load_one(p.e4_ + row); // !37:5
        c.e4_ = e4_; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c7_ = load<V>(p.c7_ + row * 37ll + col, left); // !28:5
        return {c7_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e5_ = op_add(e.c7_, c.e4_); // !38:5
        store<V>(p.e5_ + row * 37ll + col, left, e5_); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(every_op_e5_spec::args, e4_, 0);
TF_LAYOUT(every_op_e5_spec::args, c7_, 8);
TF_LAYOUT(every_op_e5_spec::args, e5_, 16);
TF_LAYOUT(every_op_e5_spec::args, B_, 24);
TF_LAYOUT(every_op_e5_spec::args, S_, 28);
static_assert(sizeof(every_op_e5_spec::args) == 32, "size of args");
