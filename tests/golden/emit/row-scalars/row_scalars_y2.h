// Written by tfgen: row_scalars_y2 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase y2:
//   body %s              bf16[2,3,1]         = row_sum %x                                       !7:5
//   epi  %y2             bf16[2,3,12]        = mul %z, %s                                       !12:5
struct k0_y2 {
    struct args {
        const bf16 *x;
        const bf16 *z;
        bf16 *y2;
        bf16 *s;
    };
    struct context {
        float s;
    };
    template <int V> struct element {
        vec<float, V> x, z;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        const vec<float, V> z = load<V>(p.z + row * 12ll + col, left); // !5:24
        return {x, z};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !7:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !7:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        total = op_cast<bf16>(total); // !7:5
        c.s = total; // !7:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y2 = op_mul(e.z, c.s); // !12:5
        store<V>(p.y2 + row * 12ll + col, left, y2); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.s + row, c.s); } // !7:5
};
TF_LAYOUT(k0_y2::args, x, 0);
TF_LAYOUT(k0_y2::args, z, 8);
TF_LAYOUT(k0_y2::args, y2, 16);
TF_LAYOUT(k0_y2::args, s, 24);
static_assert(sizeof(k0_y2::args) == 32, "size of args");
