// Written by tfgen: every_op_e5 of tests/specs/every-op.yaml for host; read it beside templates/rows/rows.h.
// Kernel k4, phase e5:
//   body %d2.s           f32[B,S,1]          = row_sum %b3                                      !30:5
//   epi  %d2             f32[B,S,1]          = div %d2.s, 37                                    !30:5
//   epi  %e1             f32[B,S,1]          = add %d1, %d2                                     !34:5
//   epi  %e3             f32[B,S,1]          = add %e1, %e2                                     !36:5
//   epi  %e4             f32[B,S,1]          = add %e3, %d5                                     !37:5
//   epi  %e5             f32[B,S,37]         = add %c7, %e4                                     !38:5
struct every_op_e5_spec {
    struct args {
        const float *b3_;
        const bf16 *c7_;
        const float *d1_;
        const float *e2_;
        const float *d5_;
        float *e5_;
        float *e4_;
        int B_, S_;
    };
    struct context {
        float e4_;
    };
    template <int V> struct element {
        vec<float, V> b3_, c7_;
    };
    static constexpr int N = 37, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b3_ = load<V>(p.b3_ + row * 37ll + col, left); // !19:5
        const vec<float, V> c7_ = load<V>(p.c7_ + row * 37ll + col, left); // !28:5
        return {b3_, c7_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3_; // !30:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float d1_ = load_one(p.d1_ + row); // !29:5
        const float d2_ = op_div(total, 37.0f); // !30:5
        const float e1_ = op_add(d1_, d2_); // !34:5
        const float e2_ = load_one(p.e2_ + row); // !35:5
        const float e3_ = op_add(e1_, e2_); // !36:5
        const float d5_ = load_one(p.d5_ + row); // !33:5
        const float e4_ = op_add(e3_, d5_); // !37:5
        c.e4_ = e4_; // !37:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e5_ = op_add(e.c7_, c.e4_); // !38:5
        store<V>(p.e5_ + row * 37ll + col, left, e5_); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.e4_ + row, c.e4_); } // !37:5
};
TF_LAYOUT(every_op_e5_spec::args, b3_, 0);
TF_LAYOUT(every_op_e5_spec::args, c7_, 8);
TF_LAYOUT(every_op_e5_spec::args, d1_, 16);
TF_LAYOUT(every_op_e5_spec::args, e2_, 24);
TF_LAYOUT(every_op_e5_spec::args, d5_, 32);
TF_LAYOUT(every_op_e5_spec::args, e5_, 40);
TF_LAYOUT(every_op_e5_spec::args, e4_, 48);
TF_LAYOUT(every_op_e5_spec::args, B_, 56);
TF_LAYOUT(every_op_e5_spec::args, S_, 60);
static_assert(sizeof(every_op_e5_spec::args) == 64, "size of args");
