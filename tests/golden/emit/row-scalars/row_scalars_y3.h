// Written by tfgen: row_scalars_y3 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase y3:
//   pro  %xs             bf16[2,3,12]        = mul %x, 64                                       !9:5
//   body %m.s            f32[2,3,1]          = row_sum %x                                       !8:5
//   body %t              bf16[2,3,1]         = row_max %xs                                      !10:5
//   epi  %m              bf16[2,3,1]         = div %m.s, 12                                     !8:5
//   epi  %y              bf16[2,3,12]        = sub %xs, %m                                      !11:5
//   epi  %y3             bf16[2,3,12]        = sub %xs, %t                                      !13:5
struct k1_y3 {
    struct args {
        const bf16 *x;
        bf16 *y;
        bf16 *y3;
        bf16 *t;
        bf16 *m;
    };
    struct context {
        float t, m;
    };
    template <int V> struct element {
        vec<float, V> x, xs;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        const vec<float, V> xs = op_mul(x, 64.0f); // !9:5
        return {x, xs};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !8:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !8:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float m = op_cast<bf16>(op_div(total, 12.0f)); // !8:5
        c.m = m; // !8:5
    }
    static constexpr reduction kind(step<1>) { return reduction::max; } // !10:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.xs; // !10:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        total = op_cast<bf16>(total); // !10:5
        c.t = total; // !10:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y = op_sub(e.xs, c.m); // !11:5
        store<V>(p.y + row * 12ll + col, left, y); // !11:5
        const vec<float, V> y3 = op_sub(e.xs, c.t); // !13:5
        store<V>(p.y3 + row * 12ll + col, left, y3); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.t + row, c.t); // !10:5
        store_one(p.m + row, c.m); // !8:5
    }
};
TF_LAYOUT(k1_y3::args, x, 0);
TF_LAYOUT(k1_y3::args, y, 8);
TF_LAYOUT(k1_y3::args, y3, 16);
TF_LAYOUT(k1_y3::args, t, 24);
TF_LAYOUT(k1_y3::args, m, 32);
static_assert(sizeof(k1_y3::args) == 40, "size of args");
