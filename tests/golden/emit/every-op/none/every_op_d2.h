// Written by tfgen: every_op_d2 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k22, phase d2:
//   body %d2.s           f32[B,S,1]          = row_sum %b3                                      !30:5
//   epi  %d2             f32[B,S,1]          = div %d2.s, 37                                    !30:5
struct every_op_d2_spec {
    struct args {
        const float *b3_;
        float *d2_;
        int B_, S_;
    };
    struct context {
        float d2_;
    };
    template <int V> struct element {
        vec<float, V> b3_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b3_ = load<V>(p.b3_ + row * 37ll + col, left); // !19:5
        return {b3_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3_; // !30:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float d2_ = op_div(total, 37.0f); // !30:5
        c.d2_ = d2_; // !30:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.d2_ + row, c.d2_); } // !30:5
};
TF_LAYOUT(every_op_d2_spec::args, b3_, 0);
TF_LAYOUT(every_op_d2_spec::args, d2_, 8);
TF_LAYOUT(every_op_d2_spec::args, B_, 16);
TF_LAYOUT(every_op_d2_spec::args, S_, 20);
static_assert(sizeof(every_op_d2_spec::args) == 24, "size of args");
