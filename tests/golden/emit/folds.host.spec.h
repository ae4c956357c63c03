// ---- level none
// Written by tfgen: folds_h1 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k0_h1 {
    struct args {
        const float *x;
        const float *g1;
        float *h1;
        int B, S;
    };
    struct context {
        float h1_mu, h1_r;
    };
    template <int V> struct element {
        vec<float, V> x, g1;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        const vec<float, V> g1 = load<V>(p.g1 + col, left); // !7:10
        return {x, g1};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !9:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h1_mu = op_div(total, 36.0f); // !9:5
        c.h1_mu = h1_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h1_c = op_sub(e.x, c.h1_mu); // !9:5
        return op_square(h1_c); // !9:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h1_vm = op_div(total, 36.0f); // !9:5
        const float h1_ve = op_add(h1_vm, 1e-05f); // !9:5
        const float h1_r = op_rsqrt(h1_ve); // !9:5
        c.h1_r = h1_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h1_c = op_sub(e.x, c.h1_mu); // !9:5
        const vec<float, V> h1_n = op_mul(h1_c, c.h1_r); // !9:5
        const vec<float, V> h1 = op_mul(h1_n, e.g1); // !9:5
        store<V>(p.h1 + row * 36ll + col, left, h1); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h1::args, x, 0);
TF_LAYOUT(k0_h1::args, g1, 8);
TF_LAYOUT(k0_h1::args, h1, 16);
TF_LAYOUT(k0_h1::args, B, 24);
TF_LAYOUT(k0_h1::args, S, 28);
static_assert(sizeof(k0_h1::args) == 32, "size of args");

// Written by tfgen: folds_y1 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k1_y1 {
    struct args {
        const float *h1;
        const float *packed;
        float *y1;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h1 = load<V>(p.h1 + row * 36ll + k, left); // !9:5
        return h1;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h1 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y1(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y1 + row * 16ll + col, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y1<W, 0>(p, c, row, n, lo, sum, out);
        columns_y1<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_y1::args, h1, 0);
TF_LAYOUT(k1_y1::args, packed, 8);
TF_LAYOUT(k1_y1::args, y1, 16);
TF_LAYOUT(k1_y1::args, B, 24);
TF_LAYOUT(k1_y1::args, S, 28);
static_assert(sizeof(k1_y1::args) == 32, "size of args");

// Written by tfgen: folds_stats of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k2_stats {
    struct args {
        const float *x;
        float *ss;
        int B, S;
    };
    struct context {
        float ss;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.ss = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.ss + row, c.ss); // !12:5
    }
};
TF_LAYOUT(k2_stats::args, x, 0);
TF_LAYOUT(k2_stats::args, ss, 8);
TF_LAYOUT(k2_stats::args, B, 16);
TF_LAYOUT(k2_stats::args, S, 20);
static_assert(sizeof(k2_stats::args) == 24, "size of args");

// Written by tfgen: folds_ms of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k3_ms {
    struct args {
        const float *ss;
        float *ms;
        int B, S;
    };
    struct context {
        float ms;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float ss = load_one(p.ss + row); // !12:5
        const float ms = op_div(ss, 36.0f); // !13:5
        c.ms = ms;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.ms + row, c.ms); // !13:5
    }
};
TF_LAYOUT(k3_ms::args, ss, 0);
TF_LAYOUT(k3_ms::args, ms, 8);
TF_LAYOUT(k3_ms::args, B, 16);
TF_LAYOUT(k3_ms::args, S, 20);
static_assert(sizeof(k3_ms::args) == 24, "size of args");

// Written by tfgen: folds_me of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k4_me {
    struct args {
        const float *ms;
        float *me;
        int B, S;
    };
    struct context {
        float me;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float ms = load_one(p.ms + row); // !13:5
        const float me = op_add(ms, 1e-06f); // !14:5
        c.me = me;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.me + row, c.me); // !14:5
    }
};
TF_LAYOUT(k4_me::args, ms, 0);
TF_LAYOUT(k4_me::args, me, 8);
TF_LAYOUT(k4_me::args, B, 16);
TF_LAYOUT(k4_me::args, S, 20);
static_assert(sizeof(k4_me::args) == 24, "size of args");

// Written by tfgen: folds_r2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k5_r2 {
    struct args {
        const float *me;
        float *r2;
        int B, S;
    };
    struct context {
        float r2;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float me = load_one(p.me + row); // !14:5
        const float r2 = op_rsqrt(me); // !15:5
        c.r2 = r2;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.r2 + row, c.r2); // !15:5
    }
};
TF_LAYOUT(k5_r2::args, me, 0);
TF_LAYOUT(k5_r2::args, r2, 8);
TF_LAYOUT(k5_r2::args, B, 16);
TF_LAYOUT(k5_r2::args, S, 20);
static_assert(sizeof(k5_r2::args) == 24, "size of args");

// Written by tfgen: folds_n2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k6_n2 {
    struct args {
        const float *r2;
        const float *x;
        float *n2;
        int B, S;
    };
    struct context {
        float r2;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r2 = load_one(p.r2 + row); // !15:5
        c.r2 = r2;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n2 = op_mul(c.r2, e.x); // !16:5
        store<V>(p.n2 + row * 36ll + col, left, n2); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_n2::args, r2, 0);
TF_LAYOUT(k6_n2::args, x, 8);
TF_LAYOUT(k6_n2::args, n2, 16);
TF_LAYOUT(k6_n2::args, B, 24);
TF_LAYOUT(k6_n2::args, S, 28);
static_assert(sizeof(k6_n2::args) == 32, "size of args");

// Written by tfgen: folds_h2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k7_h2 {
    struct args {
        const float *g2;
        const float *n2;
        float *h2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> h2;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g2 = load<V>(p.g2 + col, left); // !7:19
        const vec<float, V> n2 = load<V>(p.n2 + row * 36ll + col, left); // !16:5
        const vec<float, V> h2 = op_mul(g2, n2); // !17:5
        return {h2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.h2 + row * 36ll + col, left, e.h2); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_h2::args, g2, 0);
TF_LAYOUT(k7_h2::args, n2, 8);
TF_LAYOUT(k7_h2::args, h2, 16);
TF_LAYOUT(k7_h2::args, B, 24);
TF_LAYOUT(k7_h2::args, S, 28);
static_assert(sizeof(k7_h2::args) == 32, "size of args");

// Written by tfgen: folds_y2 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k8_y2 {
    struct args {
        const float *h2;
        const float *packed;
        float *y2;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h2 = load<V>(p.h2 + row * 36ll + k, left); // !17:5
        return h2;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h2 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y2(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y2 + row * 16ll + col, product); // !18:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y2<W, 0>(p, c, row, n, lo, sum, out);
        columns_y2<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k8_y2::args, h2, 0);
TF_LAYOUT(k8_y2::args, packed, 8);
TF_LAYOUT(k8_y2::args, y2, 16);
TF_LAYOUT(k8_y2::args, B, 24);
TF_LAYOUT(k8_y2::args, S, 28);
static_assert(sizeof(k8_y2::args) == 32, "size of args");

// Written by tfgen: folds_stats_2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k9_stats_2 {
    struct args {
        const float *x;
        float *m;
        int B, S;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !20:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !20:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.m = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.m + row, c.m); // !20:5
    }
};
TF_LAYOUT(k9_stats_2::args, x, 0);
TF_LAYOUT(k9_stats_2::args, m, 8);
TF_LAYOUT(k9_stats_2::args, B, 16);
TF_LAYOUT(k9_stats_2::args, S, 20);
static_assert(sizeof(k9_stats_2::args) == 24, "size of args");

// Written by tfgen: folds_r3 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k10_r3 {
    struct args {
        const float *m;
        float *r3;
        int B, S;
    };
    struct context {
        float r3;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float m = load_one(p.m + row); // !20:5
        const float r3 = op_sigmoid(m); // !21:5
        c.r3 = r3;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.r3 + row, c.r3); // !21:5
    }
};
TF_LAYOUT(k10_r3::args, m, 0);
TF_LAYOUT(k10_r3::args, r3, 8);
TF_LAYOUT(k10_r3::args, B, 16);
TF_LAYOUT(k10_r3::args, S, 20);
static_assert(sizeof(k10_r3::args) == 24, "size of args");

// Written by tfgen: folds_n3 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k11_n3 {
    struct args {
        const float *r3;
        const float *x;
        float *n3;
        int B, S;
    };
    struct context {
        float r3;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r3 = load_one(p.r3 + row); // !21:5
        c.r3 = r3;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n3 = op_mul(e.x, c.r3); // !22:5
        store<V>(p.n3 + row * 36ll + col, left, n3); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k11_n3::args, r3, 0);
TF_LAYOUT(k11_n3::args, x, 8);
TF_LAYOUT(k11_n3::args, n3, 16);
TF_LAYOUT(k11_n3::args, B, 24);
TF_LAYOUT(k11_n3::args, S, 28);
static_assert(sizeof(k11_n3::args) == 32, "size of args");

// Written by tfgen: folds_h3 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k12_h3 {
    struct args {
        const float *n3;
        const float *g3;
        float *h3;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> h3;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> n3 = load<V>(p.n3 + row * 36ll + col, left); // !22:5
        const vec<float, V> g3 = load<V>(p.g3 + col, left); // !7:28
        const vec<float, V> h3 = op_mul(n3, g3); // !23:5
        return {h3};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.h3 + row * 36ll + col, left, e.h3); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k12_h3::args, n3, 0);
TF_LAYOUT(k12_h3::args, g3, 8);
TF_LAYOUT(k12_h3::args, h3, 16);
TF_LAYOUT(k12_h3::args, B, 24);
TF_LAYOUT(k12_h3::args, S, 28);
static_assert(sizeof(k12_h3::args) == 32, "size of args");

// Written by tfgen: folds_y3 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k13_y3 {
    struct args {
        const float *h3;
        const float *packed;
        float *y3;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h3 = load<V>(p.h3 + row * 36ll + k, left); // !23:5
        return h3;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h3 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y3(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y3 + row * 16ll + col, product); // !24:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y3<W, 0>(p, c, row, n, lo, sum, out);
        columns_y3<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k13_y3::args, h3, 0);
TF_LAYOUT(k13_y3::args, packed, 8);
TF_LAYOUT(k13_y3::args, y3, 16);
TF_LAYOUT(k13_y3::args, B, 24);
TF_LAYOUT(k13_y3::args, S, 28);
static_assert(sizeof(k13_y3::args) == 32, "size of args");

// Written by tfgen: folds_u of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k14_u {
    struct args {
        const float *g4;
        float *u;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> u;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 1; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g4 = load<V>(p.g4 + row * 36ll + col, left); // !7:37
        const vec<float, V> u = op_add(g4, 1.0f); // !26:5
        return {u};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.u + row * 36ll + col, left, e.u); // !26:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k14_u::args, g4, 0);
TF_LAYOUT(k14_u::args, u, 8);
static_assert(sizeof(k14_u::args) == 16, "size of args");

// Written by tfgen: folds_h4 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k15_h4 {
    struct args {
        const float *x;
        const float *u;
        float *h4;
        int B, S;
    };
    struct context {
        float h4_r;
    };
    template <int V> struct element {
        vec<float, V> x, u;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        const vec<float, V> u = load<V>(p.u + col, left); // !26:5
        return {x, u};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !27:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !27:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h4_ms = op_div(total, 36.0f); // !27:5
        const float h4_me = op_add(h4_ms, 1e-05f); // !27:5
        const float h4_r = op_rsqrt(h4_me); // !27:5
        c.h4_r = h4_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h4_n = op_mul(e.x, c.h4_r); // !27:5
        const vec<float, V> h4 = op_mul(h4_n, e.u); // !27:5
        store<V>(p.h4 + row * 36ll + col, left, h4); // !27:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k15_h4::args, x, 0);
TF_LAYOUT(k15_h4::args, u, 8);
TF_LAYOUT(k15_h4::args, h4, 16);
TF_LAYOUT(k15_h4::args, B, 24);
TF_LAYOUT(k15_h4::args, S, 28);
static_assert(sizeof(k15_h4::args) == 32, "size of args");

// Written by tfgen: folds_y4 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k16_y4 {
    struct args {
        const float *h4;
        const float *packed;
        float *y4;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h4 = load<V>(p.h4 + row * 36ll + k, left); // !27:5
        return h4;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h4 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y4(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y4 + row * 16ll + col, product); // !28:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y4<W, 0>(p, c, row, n, lo, sum, out);
        columns_y4<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k16_y4::args, h4, 0);
TF_LAYOUT(k16_y4::args, packed, 8);
TF_LAYOUT(k16_y4::args, y4, 16);
TF_LAYOUT(k16_y4::args, B, 24);
TF_LAYOUT(k16_y4::args, S, 28);
static_assert(sizeof(k16_y4::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: folds_h1 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k0_h1 {
    struct args {
        const float *x;
        const float *g1;
        float *h1;
        int B, S;
    };
    struct context {
        float h1_mu, h1_r;
    };
    template <int V> struct element {
        vec<float, V> x, g1;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        const vec<float, V> g1 = load<V>(p.g1 + col, left); // !7:10
        return {x, g1};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !9:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h1_mu = op_div(total, 36.0f); // !9:5
        c.h1_mu = h1_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h1_c = op_sub(e.x, c.h1_mu); // !9:5
        return op_square(h1_c); // !9:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h1_vm = op_div(total, 36.0f); // !9:5
        const float h1_ve = op_add(h1_vm, 1e-05f); // !9:5
        const float h1_r = op_rsqrt(h1_ve); // !9:5
        c.h1_r = h1_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h1_c = op_sub(e.x, c.h1_mu); // !9:5
        const vec<float, V> h1_n = op_mul(h1_c, c.h1_r); // !9:5
        const vec<float, V> h1 = op_mul(h1_n, e.g1); // !9:5
        store<V>(p.h1 + row * 36ll + col, left, h1); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h1::args, x, 0);
TF_LAYOUT(k0_h1::args, g1, 8);
TF_LAYOUT(k0_h1::args, h1, 16);
TF_LAYOUT(k0_h1::args, B, 24);
TF_LAYOUT(k0_h1::args, S, 28);
static_assert(sizeof(k0_h1::args) == 32, "size of args");

// Written by tfgen: folds_y1 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k1_y1 {
    struct args {
        const float *h1;
        const float *packed;
        float *y1;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h1 = load<V>(p.h1 + row * 36ll + k, left); // !9:5
        return h1;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h1 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y1(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y1 + row * 16ll + col, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y1<W, 0>(p, c, row, n, lo, sum, out);
        columns_y1<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_y1::args, h1, 0);
TF_LAYOUT(k1_y1::args, packed, 8);
TF_LAYOUT(k1_y1::args, y1, 16);
TF_LAYOUT(k1_y1::args, B, 24);
TF_LAYOUT(k1_y1::args, S, 28);
static_assert(sizeof(k1_y1::args) == 32, "size of args");

// Written by tfgen: folds_h2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k2_h2 {
    struct args {
        const float *x;
        const float *g2;
        float *h2;
        int B, S;
    };
    struct context {
        float r2;
    };
    template <int V> struct element {
        vec<float, V> x, g2;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        const vec<float, V> g2 = load<V>(p.g2 + col, left); // !7:19
        return {x, g2};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float ms = op_div(total, 36.0f); // !13:5
        const float me = op_add(ms, 1e-06f); // !14:5
        const float r2 = op_rsqrt(me); // !15:5
        c.r2 = r2;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n2 = op_mul(c.r2, e.x); // !16:5
        const vec<float, V> h2 = op_mul(e.g2, n2); // !17:5
        store<V>(p.h2 + row * 36ll + col, left, h2); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_h2::args, x, 0);
TF_LAYOUT(k2_h2::args, g2, 8);
TF_LAYOUT(k2_h2::args, h2, 16);
TF_LAYOUT(k2_h2::args, B, 24);
TF_LAYOUT(k2_h2::args, S, 28);
static_assert(sizeof(k2_h2::args) == 32, "size of args");

// Written by tfgen: folds_y2 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k3_y2 {
    struct args {
        const float *h2;
        const float *packed;
        float *y2;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h2 = load<V>(p.h2 + row * 36ll + k, left); // !17:5
        return h2;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h2 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y2(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y2 + row * 16ll + col, product); // !18:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y2<W, 0>(p, c, row, n, lo, sum, out);
        columns_y2<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_y2::args, h2, 0);
TF_LAYOUT(k3_y2::args, packed, 8);
TF_LAYOUT(k3_y2::args, y2, 16);
TF_LAYOUT(k3_y2::args, B, 24);
TF_LAYOUT(k3_y2::args, S, 28);
static_assert(sizeof(k3_y2::args) == 32, "size of args");

// Written by tfgen: folds_h3 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k4_h3 {
    struct args {
        const float *x;
        const float *g3;
        float *h3;
        int B, S;
    };
    struct context {
        float r3;
    };
    template <int V> struct element {
        vec<float, V> x, g3;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        const vec<float, V> g3 = load<V>(p.g3 + col, left); // !7:28
        return {x, g3};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !20:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !20:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float r3 = op_sigmoid(total); // !21:5
        c.r3 = r3;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n3 = op_mul(e.x, c.r3); // !22:5
        const vec<float, V> h3 = op_mul(n3, e.g3); // !23:5
        store<V>(p.h3 + row * 36ll + col, left, h3); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_h3::args, x, 0);
TF_LAYOUT(k4_h3::args, g3, 8);
TF_LAYOUT(k4_h3::args, h3, 16);
TF_LAYOUT(k4_h3::args, B, 24);
TF_LAYOUT(k4_h3::args, S, 28);
static_assert(sizeof(k4_h3::args) == 32, "size of args");

// Written by tfgen: folds_y3 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k5_y3 {
    struct args {
        const float *h3;
        const float *packed;
        float *y3;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h3 = load<V>(p.h3 + row * 36ll + k, left); // !23:5
        return h3;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h3 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y3(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y3 + row * 16ll + col, product); // !24:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y3<W, 0>(p, c, row, n, lo, sum, out);
        columns_y3<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_y3::args, h3, 0);
TF_LAYOUT(k5_y3::args, packed, 8);
TF_LAYOUT(k5_y3::args, y3, 16);
TF_LAYOUT(k5_y3::args, B, 24);
TF_LAYOUT(k5_y3::args, S, 28);
static_assert(sizeof(k5_y3::args) == 32, "size of args");

// Written by tfgen: folds_h4 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k6_h4 {
    struct args {
        const float *x;
        const float *g4;
        float *h4;
        int B, S;
    };
    struct context {
        float h4_r;
    };
    template <int V> struct element {
        vec<float, V> x, u;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        const vec<float, V> g4 = load<V>(p.g4 + col, left); // !7:37
        const vec<float, V> u = op_add(g4, 1.0f); // !26:5
        return {x, u};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !27:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !27:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h4_ms = op_div(total, 36.0f); // !27:5
        const float h4_me = op_add(h4_ms, 1e-05f); // !27:5
        const float h4_r = op_rsqrt(h4_me); // !27:5
        c.h4_r = h4_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h4_n = op_mul(e.x, c.h4_r); // !27:5
        const vec<float, V> h4 = op_mul(h4_n, e.u); // !27:5
        store<V>(p.h4 + row * 36ll + col, left, h4); // !27:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_h4::args, x, 0);
TF_LAYOUT(k6_h4::args, g4, 8);
TF_LAYOUT(k6_h4::args, h4, 16);
TF_LAYOUT(k6_h4::args, B, 24);
TF_LAYOUT(k6_h4::args, S, 28);
static_assert(sizeof(k6_h4::args) == 32, "size of args");

// Written by tfgen: folds_y4 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k7_y4 {
    struct args {
        const float *h4;
        const float *packed;
        float *y4;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h4 = load<V>(p.h4 + row * 36ll + k, left); // !27:5
        return h4;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h4 + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y4(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.y4 + row * 16ll + col, product); // !28:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y4<W, 0>(p, c, row, n, lo, sum, out);
        columns_y4<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k7_y4::args, h4, 0);
TF_LAYOUT(k7_y4::args, packed, 8);
TF_LAYOUT(k7_y4::args, y4, 16);
TF_LAYOUT(k7_y4::args, B, 24);
TF_LAYOUT(k7_y4::args, S, 28);
static_assert(sizeof(k7_y4::args) == 32, "size of args");

// ---- level tile
// Written by tfgen: folds_h1 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k0_h1 {
    struct args {
        const float *x;
        float *h1_c;
        float *h1_v;
        int B, S;
    };
    struct context {
        float h1_mu, h1_v;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !9:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h1_mu = op_div(total, 36.0f); // !9:5
        c.h1_mu = h1_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !9:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h1_c = op_sub(e.x, c.h1_mu); // !9:5
        return op_square(h1_c); // !9:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        c.h1_v = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h1_c = op_sub(e.x, c.h1_mu); // !9:5
        store<V>(p.h1_c + row * 36ll + col, left, h1_c); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.h1_v + row, c.h1_v); // !9:5
    }
};
TF_LAYOUT(k0_h1::args, x, 0);
TF_LAYOUT(k0_h1::args, h1_c, 8);
TF_LAYOUT(k0_h1::args, h1_v, 16);
TF_LAYOUT(k0_h1::args, B, 24);
TF_LAYOUT(k0_h1::args, S, 28);
static_assert(sizeof(k0_h1::args) == 32, "size of args");

// Written by tfgen: folds_y1 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k1_y1 {
    struct args {
        const float *h1_c;
        const float *packed;
        const float *h1_v;
        float *y1;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {
        float y1_r;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h1_c = load<V>(p.h1_c + row * 36ll + k, left); // !9:5
        return h1_c;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h1_c + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float h1_v = load_one(p.h1_v + row); // !9:5
        const float y1_vm = op_div(h1_v, 36.0f); // !9:5
        const float y1_ve = op_add(y1_vm, 1e-05f); // !9:5
        const float y1_r = op_rsqrt(y1_ve); // !9:5
        c.y1_r = y1_r;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y1_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        const vec<float, W> y1 = op_mul(product, c.y1_r); // !9:5
        out.template put<Slot, W>(p.y1 + row * 16ll + col, y1); // !9:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y1_raw<W, 0>(p, c, row, n, lo, sum, out);
        columns_y1_raw<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_y1::args, h1_c, 0);
TF_LAYOUT(k1_y1::args, packed, 8);
TF_LAYOUT(k1_y1::args, h1_v, 16);
TF_LAYOUT(k1_y1::args, y1, 24);
TF_LAYOUT(k1_y1::args, B, 32);
TF_LAYOUT(k1_y1::args, S, 36);
static_assert(sizeof(k1_y1::args) == 40, "size of args");

// Written by tfgen: folds_stats of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k2_stats {
    struct args {
        const float *x;
        float *ss;
        int B, S;
    };
    struct context {
        float ss;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.x); // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.ss = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.ss + row, c.ss); // !12:5
    }
};
TF_LAYOUT(k2_stats::args, x, 0);
TF_LAYOUT(k2_stats::args, ss, 8);
TF_LAYOUT(k2_stats::args, B, 16);
TF_LAYOUT(k2_stats::args, S, 20);
static_assert(sizeof(k2_stats::args) == 24, "size of args");

// Written by tfgen: folds_y2 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k3_y2 {
    struct args {
        const float *x;
        const float *packed;
        const float *ss;
        float *y2;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {
        float y2_r2;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + k, left); // !6:10
        return x;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float ss = load_one(p.ss + row); // !12:5
        const float y2_ms = op_div(ss, 36.0f); // !13:5
        const float y2_me = op_add(y2_ms, 1e-06f); // !14:5
        const float y2_r2 = op_rsqrt(y2_me); // !15:5
        c.y2_r2 = y2_r2;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y2_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        const vec<float, W> y2 = op_mul(product, c.y2_r2); // !17:5
        out.template put<Slot, W>(p.y2 + row * 16ll + col, y2); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y2_raw<W, 0>(p, c, row, n, lo, sum, out);
        columns_y2_raw<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_y2::args, x, 0);
TF_LAYOUT(k3_y2::args, packed, 8);
TF_LAYOUT(k3_y2::args, ss, 16);
TF_LAYOUT(k3_y2::args, y2, 24);
TF_LAYOUT(k3_y2::args, B, 32);
TF_LAYOUT(k3_y2::args, S, 36);
static_assert(sizeof(k3_y2::args) == 40, "size of args");

// Written by tfgen: folds_stats_2 of tests/specs/folds.yaml for host; read it beside templates/rows/rows.h.
struct k4_stats_2 {
    struct args {
        const float *x;
        float *m;
        int B, S;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 36, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + col, left); // !6:10
        return {x};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !20:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.x; // !20:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.m = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.m + row, c.m); // !20:5
    }
};
TF_LAYOUT(k4_stats_2::args, x, 0);
TF_LAYOUT(k4_stats_2::args, m, 8);
TF_LAYOUT(k4_stats_2::args, B, 16);
TF_LAYOUT(k4_stats_2::args, S, 20);
static_assert(sizeof(k4_stats_2::args) == 24, "size of args");

// Written by tfgen: folds_y3 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k5_y3 {
    struct args {
        const float *x;
        const float *packed;
        const float *m;
        float *y3;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {
        float y3_r3;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + k, left); // !6:10
        return x;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float m = load_one(p.m + row); // !20:5
        const float y3_r3 = op_sigmoid(m); // !21:5
        c.y3_r3 = y3_r3;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y3_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        const vec<float, W> y3 = op_mul(product, c.y3_r3); // !23:5
        out.template put<Slot, W>(p.y3 + row * 16ll + col, y3); // !23:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y3_raw<W, 0>(p, c, row, n, lo, sum, out);
        columns_y3_raw<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_y3::args, x, 0);
TF_LAYOUT(k5_y3::args, packed, 8);
TF_LAYOUT(k5_y3::args, m, 16);
TF_LAYOUT(k5_y3::args, y3, 24);
TF_LAYOUT(k5_y3::args, B, 32);
TF_LAYOUT(k5_y3::args, S, 36);
static_assert(sizeof(k5_y3::args) == 40, "size of args");

// Written by tfgen: folds_y4 of tests/specs/folds.yaml for host; read it beside templates/gemm/gemm.h.
struct k6_y4 {
    struct args {
        const float *x;
        const float *packed;
        const float *ss;
        float *y4;
        int B, S;
    };
    static constexpr int K = 36, packed_n = 32, packed_k = 48, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = float;
    using b_type = float;
    struct context {
        float y4_r;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 36ll + k, left); // !6:10
        return x;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 36ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float ss = load_one(p.ss + row); // !12:5
        const float y4_ms = op_div(ss, 36.0f); // !27:5
        const float y4_me = op_add(y4_ms, 1e-05f); // !27:5
        const float y4_r = op_rsqrt(y4_me); // !27:5
        c.y4_r = y4_r;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y4_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 16 - col;
        if (left <= 0) return;
        const vec<float, W> y4 = op_mul(product, c.y4_r); // !27:5
        out.template put<Slot, W>(p.y4 + row * 16ll + col, y4); // !27:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y4_raw<W, 0>(p, c, row, n, lo, sum, out);
        columns_y4_raw<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_y4::args, x, 0);
TF_LAYOUT(k6_y4::args, packed, 8);
TF_LAYOUT(k6_y4::args, ss, 16);
TF_LAYOUT(k6_y4::args, y4, 24);
TF_LAYOUT(k6_y4::args, B, 32);
TF_LAYOUT(k6_y4::args, S, 36);
static_assert(sizeof(k6_y4::args) == 40, "size of args");

