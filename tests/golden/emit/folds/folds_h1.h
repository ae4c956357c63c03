// Written by tfgen: folds_h1 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase h1:
//   body %h1.s           f32[B,S,1]          = row_sum %x                                       !9:5
//   body %h1.mu          f32[B,S,1]          = div %h1.s, 36                                    !9:5
//   body %h1.c           f32[B,S,36]         = sub %x, %h1.mu                                   !9:5
//   body %h1.v           f32[B,S,1]          = row_sumsq %h1.c                                  !9:5
struct folds_h1_spec {
    struct args {
        const float *x_;
        float *h1_c_;
        float *h1_v_;
        int B_, S_;
    };
    struct context {
        float h1_mu_, h1_v_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + col, left); // !6:10
        return {x_};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !9:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h1_mu_ = op_div(total, 36.0f); // !9:5
        c.h1_mu_ = h1_mu_; // !9:5
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h1_c_ = op_sub(e.x_, c.h1_mu_); // !9:5
        return op_square(h1_c_); // !9:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total) { c.h1_v_ = total; } // !9:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h1_c_ = op_sub(e.x_, c.h1_mu_); // !9:5
        store<V>(p.h1_c_ + row * 36ll + col, left, h1_c_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.h1_v_ + row, c.h1_v_); } // !9:5
};
TF_LAYOUT(folds_h1_spec::args, x_, 0);
TF_LAYOUT(folds_h1_spec::args, h1_c_, 8);
TF_LAYOUT(folds_h1_spec::args, h1_v_, 16);
TF_LAYOUT(folds_h1_spec::args, B_, 24);
TF_LAYOUT(folds_h1_spec::args, S_, 28);
static_assert(sizeof(folds_h1_spec::args) == 32, "size of args");
