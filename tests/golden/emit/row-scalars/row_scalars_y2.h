// Written by tfgen: row_scalars_y2 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase y2:
//   body %s              bf16[2,3,1]         = row_sum %x                                       !7:5
//   epi  %y2             bf16[2,3,12]        = mul %z, %s                                       !12:5
struct row_scalars_y2_spec {
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
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 12ll + col, left); // !5:10
        const vec<float, V> z_ = load<V>(p.z_ + row * 12ll + col, left); // !5:24
        return {x_, z_};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !7:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x_; // !7:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
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
TF_LAYOUT(row_scalars_y2_spec::args, x_, 0);
TF_LAYOUT(row_scalars_y2_spec::args, z_, 8);
TF_LAYOUT(row_scalars_y2_spec::args, y2_, 16);
TF_LAYOUT(row_scalars_y2_spec::args, s_, 24);
static_assert(sizeof(row_scalars_y2_spec::args) == 32, "size of args");
