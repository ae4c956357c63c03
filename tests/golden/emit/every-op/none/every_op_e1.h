// Written by tfgen: every_op_e1 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k26, phase e1:
//   body %e1             f32[B,S,1]          = add %d1, %d2                                     !34:5
struct every_op_e1_spec {
    struct args {
        const float *d1_;
        const float *d2_;
        float *e1_;
        int B_, S_;
    };
    struct context {
        float e1_;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float d1_ = load_one(p.d1_ + row); // !29:5
        const float d2_ = load_one(p.d2_ + row); // !30:5
        const float e1_ = op_add(d1_, d2_); // !34:5
        c.e1_ = e1_; // !34:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e1_ + row, c.e1_); } // !34:5
};
TF_LAYOUT(every_op_e1_spec::args, d1_, 0);
TF_LAYOUT(every_op_e1_spec::args, d2_, 8);
TF_LAYOUT(every_op_e1_spec::args, e1_, 16);
TF_LAYOUT(every_op_e1_spec::args, B_, 24);
TF_LAYOUT(every_op_e1_spec::args, S_, 28);
static_assert(sizeof(every_op_e1_spec::args) == 32, "size of args");
