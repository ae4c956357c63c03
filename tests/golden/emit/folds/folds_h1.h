// Written by tfgen: folds_h1 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase h1:
//   body %h1.s           f32[B,S,1]          = row_sum %x                                       !9:5
//   body %h1.mu          f32[B,S,1]          = div %h1.s, 36                                    !9:5
//   body %h1.c           f32[B,S,36]         = sub %x, %h1.mu                                   !9:5
//   body %h1.v           f32[B,S,1]          = row_sumsq %h1.c                                  !9:5
struct folds_h1_1_h1_spec {
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
    static constexpr int N = 36, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + col, left); // !6:10
        return {x_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !9:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float h1_mu_ = op_div(total, 36.0f); // !9:5
        c.h1_mu_ = h1_mu_; // !9:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h1_c_ = op_sub(e.x_, c.h1_mu_); // !9:5
        return op_square(h1_c_); // !9:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total) { c.h1_v_ = total; } // !9:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h1_c_ = op_sub(e.x_, c.h1_mu_); // !9:5
        store<V>(p.h1_c_ + row * 36ll + col, left, h1_c_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.h1_v_ + row, c.h1_v_); } // !9:5
};
TF_LAYOUT(folds_h1_1_h1_spec::args, x_, 0);
TF_LAYOUT(folds_h1_1_h1_spec::args, h1_c_, 8);
TF_LAYOUT(folds_h1_1_h1_spec::args, h1_v_, 16);
TF_LAYOUT(folds_h1_1_h1_spec::args, B_, 24);
TF_LAYOUT(folds_h1_1_h1_spec::args, S_, 28);
static_assert(sizeof(folds_h1_1_h1_spec::args) == 32, "size of args");
// Kernel k0, phase stats:
//   body %ss             f32[B,S,1]          = row_sumsq %x                                     !12:5
struct folds_h1_2_stats_spec {
    struct args {
        const float *x_;
        float *ss_;
        int B_, S_;
    };
    struct context {
        float ss_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + col, left); // !6:10
        return {x_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x_); // !12:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.ss_ = total; } // !12:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.ss_ + row, c.ss_); } // !12:5
};
TF_LAYOUT(folds_h1_2_stats_spec::args, x_, 0);
TF_LAYOUT(folds_h1_2_stats_spec::args, ss_, 8);
TF_LAYOUT(folds_h1_2_stats_spec::args, B_, 16);
TF_LAYOUT(folds_h1_2_stats_spec::args, S_, 20);
static_assert(sizeof(folds_h1_2_stats_spec::args) == 24, "size of args");
// Kernel k0, phase stats_2:
//   body %m              f32[B,S,1]          = row_max %x                                       !20:5
struct folds_h1_3_stats_2_spec {
    struct args {
        const float *x_;
        float *m_;
        int B_, S_;
    };
    struct context {
        float m_;
    };
    template <int V> struct element {
        vec<float, V> x_;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 36ll + col, left); // !6:10
        return {x_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::max; } // !20:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !20:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total) { c.m_ = total; } // !20:5
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.m_ + row, c.m_); } // !20:5
};
TF_LAYOUT(folds_h1_3_stats_2_spec::args, x_, 0);
TF_LAYOUT(folds_h1_3_stats_2_spec::args, m_, 8);
TF_LAYOUT(folds_h1_3_stats_2_spec::args, B_, 16);
TF_LAYOUT(folds_h1_3_stats_2_spec::args, S_, 20);
static_assert(sizeof(folds_h1_3_stats_2_spec::args) == 24, "size of args");
// Kernel k0: phases that do not wait for each other, side by side.
struct folds_h1_spec {
    struct args {
        folds_h1_1_h1_spec::args phase_1;
        folds_h1_2_stats_spec::args phase_2;
        folds_h1_3_stats_2_spec::args phase_3;
    };
    using first = rows<folds_h1_1_h1_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<folds_h1_1_h1_spec>::signals && rows<folds_h1_2_stats_spec>::signals && rows<folds_h1_3_stats_2_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<folds_h1_1_h1_spec>(), p.phase_1);
        what(rows<folds_h1_2_stats_spec>(), p.phase_2);
        what(rows<folds_h1_3_stats_2_spec>(), p.phase_3);
    }
};
TF_LAYOUT(folds_h1_spec::args, phase_1, 0);
TF_LAYOUT(folds_h1_spec::args, phase_2, 32);
TF_LAYOUT(folds_h1_spec::args, phase_3, 56);
static_assert(sizeof(folds_h1_spec::args) == 80, "size of args");
