// Written by tfgen: every_op_e4 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k29, phase e4:
//   body %e4             f32[B,S,1]          = add %e3, %d5                                     !37:5
struct every_op_e4_spec {
    struct args {
        const float *e3_;
        const float *d5_;
        float *e4_;
        int B_, S_;
    };
    struct context {
        float e4_;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e3_ = load_one(p.e3_ + row); // !36:5
        const float d5_ = load_one(p.d5_ + row); // !33:5
        const float e4_ = op_add(e3_, d5_); // !37:5
        c.e4_ = e4_; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e4_ + row, c.e4_); } // !37:5
};
TF_LAYOUT(every_op_e4_spec::args, e3_, 0);
TF_LAYOUT(every_op_e4_spec::args, d5_, 8);
TF_LAYOUT(every_op_e4_spec::args, e4_, 16);
TF_LAYOUT(every_op_e4_spec::args, B_, 24);
TF_LAYOUT(every_op_e4_spec::args, S_, 28);
static_assert(sizeof(every_op_e4_spec::args) == 32, "size of args");
