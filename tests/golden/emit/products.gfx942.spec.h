// ---- level none
// Written by tfgen: products_a of tests/specs/products.yaml for cdna; read it beside templates/gemm/gemm.h.
struct k0_a {
    struct args {
        const f16 *x;
        const f16 *yy;
        f16 *a;
        int S, B;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 8, tile_n = 32, tile_k = 16, thread_m = 8, thread_n = 4, threads = 256, slots = 2;
    static constexpr int width = 4;
    static constexpr bool row_sums = false, a_plain = false, b_plain = false;
    using a_type = f16;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S; }
    DEV static int batches(const args &p) { return 3 * p.B; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S;
        const vec<float, V> x = load<V>(p.x + row * 12ll + k, left); // !6:10
        return x;
    }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        vec<float, V> column = splat<V>(0.0f);
        for (int i = 0; i < V; i++)
            if (i < left && n < 9) column[i] = load_one(p.yy + (batch * 12 + k + i) * 9ll + n);
        return column;
    }
    DEV static context begin(const args &p, int batch, int row)
    {
        row += batch * p.S;
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_a(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.a + row * 9ll + col, left, product); // !8:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S;
        columns_a<W, 0>(p, c, row, n, lo, sum, out);
        columns_a<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_a::args, x, 0);
TF_LAYOUT(k0_a::args, yy, 8);
TF_LAYOUT(k0_a::args, a, 16);
TF_LAYOUT(k0_a::args, S, 24);
TF_LAYOUT(k0_a::args, B, 28);
static_assert(sizeof(k0_a::args) == 32, "size of args");

// Written by tfgen: products_e of tests/specs/products.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_e {
    struct args {
        const f16 *x;
        f16 *e_;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 128, team = 4, V = 4, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 12ll + col); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e_ = near_exp(e.x); // !9:5
        store_aligned<V>(p.e_ + row * 12ll + col, e_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_e::args, x, 0);
TF_LAYOUT(k1_e::args, e_, 8);
TF_LAYOUT(k1_e::args, B, 16);
TF_LAYOUT(k1_e::args, S, 20);
static_assert(sizeof(k1_e::args) == 24, "size of args");

// Written by tfgen: products_b of tests/specs/products.yaml for cdna; read it beside templates/gemm/gemm.h.
struct k2_b {
    struct args {
        const f16 *e_;
        const f16 *z;
        f16 *b;
        int S, B;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 8, tile_n = 32, tile_k = 16, thread_m = 8, thread_n = 4, threads = 256, slots = 2;
    static constexpr int width = 4;
    static constexpr bool row_sums = false, a_plain = false, b_plain = false;
    using a_type = f16;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S; }
    DEV static int batches(const args &p) { return 3 * p.B; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S;
        const vec<float, V> e_ = load<V>(p.e_ + row * 12ll + k, left); // !9:5
        return e_;
    }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        return load<V>(p.z + (batch * 9 + n) * 12ll + k, n < 9 ? left : 0);
    }
    DEV static context begin(const args &p, int batch, int row)
    {
        row += batch * p.S;
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_b(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.b + row * 9ll + col, left, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S;
        columns_b<W, 0>(p, c, row, n, lo, sum, out);
        columns_b<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_b::args, e_, 0);
TF_LAYOUT(k2_b::args, z, 8);
TF_LAYOUT(k2_b::args, b, 16);
TF_LAYOUT(k2_b::args, S, 24);
TF_LAYOUT(k2_b::args, B, 28);
static_assert(sizeof(k2_b::args) == 32, "size of args");

// Written by tfgen: products_c of tests/specs/products.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_c {
    struct args {
        const f16 *a;
        const f16 *bias;
        f16 *c_;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a, bias;
    };
    static constexpr int N = 9, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 9ll + col); // !8:5
        const vec<float, V> bias = load_aligned<V>(p.bias + row * 9ll + col); // !6:62
        return {a, bias};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c_ = op_add(e.a, e.bias); // !11:5
        store_aligned<V>(p.c_ + row * 9ll + col, c_); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_c::args, a, 0);
TF_LAYOUT(k3_c::args, bias, 8);
TF_LAYOUT(k3_c::args, c_, 16);
TF_LAYOUT(k3_c::args, B, 24);
TF_LAYOUT(k3_c::args, S, 28);
static_assert(sizeof(k3_c::args) == 32, "size of args");

// Written by tfgen: products_s of tests/specs/products.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_s {
    struct args {
        const f16 *b;
        f16 *s;
        int B, S;
    };
    struct context {
        float s_f, s_s;
    };
    template <int V> struct element {
        vec<float, V> b;
    };
    static constexpr int N = 9, threads = 128, team = 16, V = 1, steps = 2;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b = load_aligned<V>(p.b + row * 9ll + col); // !10:5
        return {b};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b; // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float s_f = op_finite(total); // !12:5
        c.s_f = s_f;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> s_d = op_sub(e.b, c.s_f); // !12:5
        const vec<float, V> s_e = near_exp(s_d); // !12:5
        return s_e; // !12:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        c.s_s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s_d = op_sub(e.b, c.s_f); // !12:5
        const vec<float, V> s_e = near_exp(s_d); // !12:5
        const vec<float, V> s = near_div_or_zero(s_e, c.s_s); // !12:5
        store_aligned<V>(p.s + row * 9ll + col, s); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_s::args, b, 0);
TF_LAYOUT(k4_s::args, s, 8);
TF_LAYOUT(k4_s::args, B, 16);
TF_LAYOUT(k4_s::args, S, 20);
static_assert(sizeof(k4_s::args) == 24, "size of args");

// Written by tfgen: products_d of tests/specs/products.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_d {
    struct args {
        const f16 *c_;
        const f16 *s;
        f16 *d;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c_, s;
    };
    static constexpr int N = 9, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c_ = load_aligned<V>(p.c_ + row * 9ll + col); // !11:5
        const vec<float, V> s = load_aligned<V>(p.s + row * 9ll + col); // !12:5
        return {c_, s};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> d = op_mul(e.c_, e.s); // !13:5
        store_aligned<V>(p.d + row * 9ll + col, d); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_d::args, c_, 0);
TF_LAYOUT(k5_d::args, s, 8);
TF_LAYOUT(k5_d::args, d, 16);
TF_LAYOUT(k5_d::args, B, 24);
TF_LAYOUT(k5_d::args, S, 28);
static_assert(sizeof(k5_d::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: products_e of tests/specs/products.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_e {
    struct args {
        const f16 *x;
        f16 *e_;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 128, team = 4, V = 4, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 12ll + col); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e_ = near_exp(e.x); // !9:5
        store_aligned<V>(p.e_ + row * 12ll + col, e_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_e::args, x, 0);
TF_LAYOUT(k0_e::args, e_, 8);
TF_LAYOUT(k0_e::args, B, 16);
TF_LAYOUT(k0_e::args, S, 20);
static_assert(sizeof(k0_e::args) == 24, "size of args");

// Written by tfgen: products_b of tests/specs/products.yaml for cdna; read it beside templates/gemm/gemm.h.
struct k1_b {
    struct args {
        const f16 *e_;
        const f16 *z;
        f16 *b;
        int S, B;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 8, tile_n = 32, tile_k = 16, thread_m = 8, thread_n = 4, threads = 256, slots = 2;
    static constexpr int width = 4;
    static constexpr bool row_sums = false, a_plain = false, b_plain = false;
    using a_type = f16;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S; }
    DEV static int batches(const args &p) { return 3 * p.B; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S;
        const vec<float, V> e_ = load<V>(p.e_ + row * 12ll + k, left); // !9:5
        return e_;
    }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        return load<V>(p.z + (batch * 9 + n) * 12ll + k, n < 9 ? left : 0);
    }
    DEV static context begin(const args &p, int batch, int row)
    {
        row += batch * p.S;
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_b(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.b + row * 9ll + col, left, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S;
        columns_b<W, 0>(p, c, row, n, lo, sum, out);
        columns_b<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_b::args, e_, 0);
TF_LAYOUT(k1_b::args, z, 8);
TF_LAYOUT(k1_b::args, b, 16);
TF_LAYOUT(k1_b::args, S, 24);
TF_LAYOUT(k1_b::args, B, 28);
static_assert(sizeof(k1_b::args) == 32, "size of args");

// Written by tfgen: products_s of tests/specs/products.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_s {
    struct args {
        const f16 *b;
        f16 *s;
        int B, S;
    };
    struct context {
        float s_f, s_s;
    };
    template <int V> struct element {
        vec<float, V> b;
    };
    static constexpr int N = 9, threads = 128, team = 16, V = 1, steps = 2;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b = load_aligned<V>(p.b + row * 9ll + col); // !10:5
        return {b};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !12:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b; // !12:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float s_f = op_finite(total); // !12:5
        c.s_f = s_f;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !12:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> s_d = op_sub(e.b, c.s_f); // !12:5
        const vec<float, V> s_e = near_exp(s_d); // !12:5
        return s_e; // !12:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        c.s_s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s_d = op_sub(e.b, c.s_f); // !12:5
        const vec<float, V> s_e = near_exp(s_d); // !12:5
        const vec<float, V> s = near_div_or_zero(s_e, c.s_s); // !12:5
        store_aligned<V>(p.s + row * 9ll + col, s); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_s::args, b, 0);
TF_LAYOUT(k2_s::args, s, 8);
TF_LAYOUT(k2_s::args, B, 16);
TF_LAYOUT(k2_s::args, S, 20);
static_assert(sizeof(k2_s::args) == 24, "size of args");

// Written by tfgen: products_a of tests/specs/products.yaml for cdna; read it beside templates/gemm/gemm.h.
struct k3_a {
    struct args {
        const f16 *x;
        const f16 *yy;
        const f16 *bias;
        const f16 *s;
        f16 *d;
        int S, B;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 8, tile_n = 32, tile_k = 16, thread_m = 8, thread_n = 4, threads = 256, slots = 2;
    static constexpr int width = 4;
    static constexpr bool row_sums = false, a_plain = false, b_plain = false;
    using a_type = f16;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S; }
    DEV static int batches(const args &p) { return 3 * p.B; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S;
        const vec<float, V> x = load<V>(p.x + row * 12ll + k, left); // !6:10
        return x;
    }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        vec<float, V> column = splat<V>(0.0f);
        for (int i = 0; i < V; i++)
            if (i < left && n < 9) column[i] = load_one(p.yy + (batch * 12 + k + i) * 9ll + n);
        return column;
    }
    DEV static context begin(const args &p, int batch, int row)
    {
        row += batch * p.S;
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_a(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        const vec<float, W> bias = load<W>(p.bias + row * 9ll + col, left); // !6:62
        const vec<float, W> c_ = op_add(product, bias); // !11:5
        const vec<float, W> s = load<W>(p.s + row * 9ll + col, left); // !12:5
        const vec<float, W> d = op_mul(c_, s); // !13:5
        out.template put_some<Slot, W>(p.d + row * 9ll + col, left, d); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S;
        columns_a<W, 0>(p, c, row, n, lo, sum, out);
        columns_a<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_a::args, x, 0);
TF_LAYOUT(k3_a::args, yy, 8);
TF_LAYOUT(k3_a::args, bias, 16);
TF_LAYOUT(k3_a::args, s, 24);
TF_LAYOUT(k3_a::args, d, 32);
TF_LAYOUT(k3_a::args, S, 40);
TF_LAYOUT(k3_a::args, B, 44);
static_assert(sizeof(k3_a::args) == 48, "size of args");

// ---- level tile: as the one before
