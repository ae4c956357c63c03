// ---- level none
// Written by tfgen: row_scalars_s of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k0_s {
    struct args {
        const bf16 *x;
        bf16 *s;
    };
    struct context {
        float s;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !7:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !7:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.s + row, c.s); // !7:5
    }
};
TF_LAYOUT(k0_s::args, x, 0);
TF_LAYOUT(k0_s::args, s, 8);
static_assert(sizeof(k0_s::args) == 16, "size of args");

// Written by tfgen: row_scalars_m of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k1_m {
    struct args {
        const bf16 *x;
        bf16 *m;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !8:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !8:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float m = op_div(total, 12.0f); // !8:5
        c.m = m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.m + row, c.m); // !8:5
    }
};
TF_LAYOUT(k1_m::args, x, 0);
TF_LAYOUT(k1_m::args, m, 8);
static_assert(sizeof(k1_m::args) == 16, "size of args");

// Written by tfgen: row_scalars_xs of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k2_xs {
    struct args {
        const bf16 *x;
        bf16 *xs;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> xs;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        const vec<float, V> xs = op_mul(x, 64.0f); // !9:5
        return {xs};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.xs + row * 12ll + col, left, e.xs); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_xs::args, x, 0);
TF_LAYOUT(k2_xs::args, xs, 8);
static_assert(sizeof(k2_xs::args) == 16, "size of args");

// Written by tfgen: row_scalars_t of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k3_t {
    struct args {
        const bf16 *xs;
        bf16 *t;
    };
    struct context {
        float t;
    };
    template <int V> struct element {
        vec<float, V> xs;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> xs = load<V>(p.xs + row * 12ll + col, left); // !9:5
        return {xs};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !10:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.xs; // !10:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.t = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.t + row, c.t); // !10:5
    }
};
TF_LAYOUT(k3_t::args, xs, 0);
TF_LAYOUT(k3_t::args, t, 8);
static_assert(sizeof(k3_t::args) == 16, "size of args");

// Written by tfgen: row_scalars_y of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k4_y {
    struct args {
        const bf16 *m;
        const bf16 *xs;
        bf16 *y;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> xs;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float m = load_one(p.m + row); // !8:5
        c.m = m;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> xs = load<V>(p.xs + row * 12ll + col, left); // !9:5
        return {xs};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y = op_sub(e.xs, c.m); // !11:5
        store<V>(p.y + row * 12ll + col, left, y); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_y::args, m, 0);
TF_LAYOUT(k4_y::args, xs, 8);
TF_LAYOUT(k4_y::args, y, 16);
static_assert(sizeof(k4_y::args) == 24, "size of args");

// Written by tfgen: row_scalars_y2 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k5_y2 {
    struct args {
        const bf16 *s;
        const bf16 *z;
        bf16 *y2;
    };
    struct context {
        float s;
    };
    template <int V> struct element {
        vec<float, V> z;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float s = load_one(p.s + row); // !7:5
        c.s = s;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z = load<V>(p.z + row * 12ll + col, left); // !5:24
        return {z};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y2 = op_mul(e.z, c.s); // !12:5
        store<V>(p.y2 + row * 12ll + col, left, y2); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_y2::args, s, 0);
TF_LAYOUT(k5_y2::args, z, 8);
TF_LAYOUT(k5_y2::args, y2, 16);
static_assert(sizeof(k5_y2::args) == 24, "size of args");

// Written by tfgen: row_scalars_y3 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k6_y3 {
    struct args {
        const bf16 *t;
        const bf16 *xs;
        bf16 *y3;
    };
    struct context {
        float t;
    };
    template <int V> struct element {
        vec<float, V> xs;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float t = load_one(p.t + row); // !10:5
        c.t = t;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> xs = load<V>(p.xs + row * 12ll + col, left); // !9:5
        return {xs};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y3 = op_sub(e.xs, c.t); // !13:5
        store<V>(p.y3 + row * 12ll + col, left, y3); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_y3::args, t, 0);
TF_LAYOUT(k6_y3::args, xs, 8);
TF_LAYOUT(k6_y3::args, y3, 16);
static_assert(sizeof(k6_y3::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: row_scalars_y2 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
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
    DEV static void begin(const args &p, int row, context &c)
    {
    }
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
        c.s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y2 = op_mul(e.z, c.s); // !12:5
        store<V>(p.y2 + row * 12ll + col, left, y2); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.s + row, c.s); // !7:5
    }
};
TF_LAYOUT(k0_y2::args, x, 0);
TF_LAYOUT(k0_y2::args, z, 8);
TF_LAYOUT(k0_y2::args, y2, 16);
TF_LAYOUT(k0_y2::args, s, 24);
static_assert(sizeof(k0_y2::args) == 32, "size of args");

// Written by tfgen: row_scalars_m of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k1_m {
    struct args {
        const bf16 *x;
        bf16 *m;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !8:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !8:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float m = op_div(total, 12.0f); // !8:5
        c.m = m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.m + row, c.m); // !8:5
    }
};
TF_LAYOUT(k1_m::args, x, 0);
TF_LAYOUT(k1_m::args, m, 8);
static_assert(sizeof(k1_m::args) == 16, "size of args");

// Written by tfgen: row_scalars_y3 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
struct k2_y3 {
    struct args {
        const bf16 *m;
        const bf16 *x;
        bf16 *y;
        bf16 *y3;
        bf16 *t;
    };
    struct context {
        float t, m;
    };
    template <int V> struct element {
        vec<float, V> xs;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float m = load_one(p.m + row); // !8:5
        c.m = m;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 12ll + col, left); // !5:10
        const vec<float, V> xs = op_mul(x, 64.0f); // !9:5
        return {xs};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !10:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.xs; // !10:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        total = op_cast<bf16>(total); // !10:5
        c.t = total;
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
    }
};
TF_LAYOUT(k2_y3::args, m, 0);
TF_LAYOUT(k2_y3::args, x, 8);
TF_LAYOUT(k2_y3::args, y, 16);
TF_LAYOUT(k2_y3::args, y3, 24);
TF_LAYOUT(k2_y3::args, t, 32);
static_assert(sizeof(k2_y3::args) == 40, "size of args");

// ---- level tile
// Written by tfgen: row_scalars_y2 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
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
    DEV static void begin(const args &p, int row, context &c)
    {
    }
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
        c.s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y2 = op_mul(e.z, c.s); // !12:5
        store<V>(p.y2 + row * 12ll + col, left, y2); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.s + row, c.s); // !7:5
    }
};
TF_LAYOUT(k0_y2::args, x, 0);
TF_LAYOUT(k0_y2::args, z, 8);
TF_LAYOUT(k0_y2::args, y2, 16);
TF_LAYOUT(k0_y2::args, s, 24);
static_assert(sizeof(k0_y2::args) == 32, "size of args");

// Written by tfgen: row_scalars_y3 of tests/specs/row-scalars.yaml for host; read it beside templates/rows/rows.h.
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
    DEV static void begin(const args &p, int row, context &c)
    {
    }
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
        c.m = m;
    }
    static constexpr reduction kind(step<1>) { return reduction::max; } // !10:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.xs; // !10:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        total = op_cast<bf16>(total); // !10:5
        c.t = total;
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

