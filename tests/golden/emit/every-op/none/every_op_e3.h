// Written by tfgen: every_op_e3 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k28, phase e3:
//   body %e3             f32[B,S,1]          = add %e1, %e2                                     !36:5
struct every_op_e3_spec {
    struct args {
        const float *e1_;
        const float *e2_;
        float *e3_;
        int B_, S_;
    };
    struct context {
        float e3_;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e1_ = load_one(p.e1_ + row); // !34:5
        const float e2_ = load_one(p.e2_ + row); // !35:5
        const float e3_ = op_add(e1_, e2_); // !36:5
        c.e3_ = e3_; // !36:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e3_ + row, c.e3_); } // !36:5
};
TF_LAYOUT(every_op_e3_spec::args, e1_, 0);
TF_LAYOUT(every_op_e3_spec::args, e2_, 8);
TF_LAYOUT(every_op_e3_spec::args, e3_, 16);
TF_LAYOUT(every_op_e3_spec::args, B_, 24);
TF_LAYOUT(every_op_e3_spec::args, S_, 28);
static_assert(sizeof(every_op_e3_spec::args) == 32, "size of args");
