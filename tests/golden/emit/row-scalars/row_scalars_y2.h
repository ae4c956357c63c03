// Written by tfgen: row_scalars_y2 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase y2:
//   body %s              bf16[2,3,1]         = row_sum %x                                       !7:5
//   epi  %y2             bf16[2,3,12]        = mul %z, %s                                       !12:5
struct row_scalars_y2_1_y2_spec {
    struct args {
        const bf16 *x_;
        const bf16 *z_;
        bf16 *y2_;
        bf16 *s_;
    };
    struct context {
        float s_;
    };
    template <int V> struct element {
        vec<float, V> x_, z_;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, passes = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 12ll + col, left); // !5:10
        const vec<float, V> z_ = load<V>(p.z_ + row * 12ll + col, left); // !5:24
        return {x_, z_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !7:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !7:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        total = op_cast<bf16>(total); // !7:5
        c.s_ = total; // !7:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y2_ = op_mul(e.z_, c.s_); // !12:5
        store<V>(p.y2_ + row * 12ll + col, left, y2_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.s_ + row, c.s_); } // !7:5
};
TF_LAYOUT(row_scalars_y2_1_y2_spec::args, x_, 0);
TF_LAYOUT(row_scalars_y2_1_y2_spec::args, z_, 8);
TF_LAYOUT(row_scalars_y2_1_y2_spec::args, y2_, 16);
TF_LAYOUT(row_scalars_y2_1_y2_spec::args, s_, 24);
static_assert(sizeof(row_scalars_y2_1_y2_spec::args) == 32, "size of args");
// Kernel k0, phase y3:
//   pro  %xs             bf16[2,3,12]        = mul %x, 64                                       !9:5
//   body %m.s            f32[2,3,1]          = row_sum %x                                       !8:5
//   body %t              bf16[2,3,1]         = row_max %xs                                      !10:5
//   epi  %m              bf16[2,3,1]         = div %m.s, 12                                     !8:5
//   epi  %y              bf16[2,3,12]        = sub %xs, %m                                      !11:5
//   epi  %y3             bf16[2,3,12]        = sub %xs, %t                                      !13:5
struct row_scalars_y2_2_y3_spec {
    struct args {
        const bf16 *x_;
        bf16 *y_;
        bf16 *y3_;
        bf16 *t_;
        bf16 *m_;
    };
    struct context {
        float t_, m_;
    };
    template <int V> struct element {
        vec<float, V> x_, xs_;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, passes = 2;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 12ll + col, left); // !5:10
        const vec<float, V> xs_ = op_mul(x_, 64.0f); // !9:5
        return {x_, xs_};
    }
    static constexpr reduction kind(pass<0>) { return reduction::sum; } // !8:5
    template <int V> DEV static vec<float, V> term(pass<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !8:5
    }
    DEV static void reduced(pass<0>, const args &p, context &c, int row, float total)
    {
        const float m_ = op_cast<bf16>(op_div(total, 12.0f)); // !8:5
        c.m_ = m_; // !8:5
    }
    static constexpr reduction kind(pass<1>) { return reduction::max; } // !10:5
    template <int V> DEV static vec<float, V> term(pass<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.xs_; // !10:5
    }
    DEV static void reduced(pass<1>, const args &p, context &c, int row, float total)
    {
        total = op_cast<bf16>(total); // !10:5
        c.t_ = total; // !10:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y_ = op_sub(e.xs_, c.m_); // !11:5
        store<V>(p.y_ + row * 12ll + col, left, y_); // !11:5
        const vec<float, V> y3_ = op_sub(e.xs_, c.t_); // !13:5
        store<V>(p.y3_ + row * 12ll + col, left, y3_); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.t_ + row, c.t_); // !10:5
        store_one(p.m_ + row, c.m_); // !8:5
    }
};
TF_LAYOUT(row_scalars_y2_2_y3_spec::args, x_, 0);
TF_LAYOUT(row_scalars_y2_2_y3_spec::args, y_, 8);
TF_LAYOUT(row_scalars_y2_2_y3_spec::args, y3_, 16);
TF_LAYOUT(row_scalars_y2_2_y3_spec::args, t_, 24);
TF_LAYOUT(row_scalars_y2_2_y3_spec::args, m_, 32);
static_assert(sizeof(row_scalars_y2_2_y3_spec::args) == 40, "size of args");
// Kernel k0: phases that do not wait for each other, side by side.
struct row_scalars_y2_spec {
    struct args {
        row_scalars_y2_1_y2_spec::args phase_1;
        row_scalars_y2_2_y3_spec::args phase_2;
    };
    using first = rows<row_scalars_y2_1_y2_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<row_scalars_y2_1_y2_spec>::signals && rows<row_scalars_y2_2_y3_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<row_scalars_y2_1_y2_spec>(), p.phase_1);
        what(rows<row_scalars_y2_2_y3_spec>(), p.phase_2);
    }
};
TF_LAYOUT(row_scalars_y2_spec::args, phase_1, 0);
TF_LAYOUT(row_scalars_y2_spec::args, phase_2, 32);
static_assert(sizeof(row_scalars_y2_spec::args) == 72, "size of args");
