// ---- level none
// Written by tfgen: long_chains_l of tests/specs/long-chains.yaml for host; read it beside templates/gemm/gemm.h.
struct k0_l {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *l;
        int M;
    };
    static constexpr int K = 40, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = bf16;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 40ll + k); // !8:10
        return x;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 56 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.l + row * 56ll + col, left, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_l::args, x, 0);
TF_LAYOUT(k0_l::args, packed, 8);
TF_LAYOUT(k0_l::args, l, 16);
TF_LAYOUT(k0_l::args, M, 24);
static_assert(sizeof(k0_l::args) == 32, "size of args");

// Written by tfgen: long_chains_e of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k1_e {
    struct args {
        const bf16 *l;
        bf16 *e_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> e_;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> l = load<V>(p.l + row * 56ll + col, left); // !11:5
        const vec<float, V> e_ = op_exp(l); // !12:5
        return {e_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.e_ + row * 56ll + col, left, e.e_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_e::args, l, 0);
TF_LAYOUT(k1_e::args, e_, 8);
TF_LAYOUT(k1_e::args, M, 16);
static_assert(sizeof(k1_e::args) == 24, "size of args");

// Written by tfgen: long_chains_p of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k2_p {
    struct args {
        const bf16 *one;
        const bf16 *e_;
        bf16 *p_;
        int M;
    };
    struct context {
        float one;
    };
    template <int V> struct element {
        vec<float, V> e_;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float one = load_one(p.one); // !9:43
        c.one = one;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> e_ = load<V>(p.e_ + row * 56ll + col, left); // !12:5
        return {e_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> p_ = op_add(e.e_, c.one); // !13:5
        store<V>(p.p_ + row * 56ll + col, left, p_); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_p::args, one, 0);
TF_LAYOUT(k2_p::args, e_, 8);
TF_LAYOUT(k2_p::args, p_, 16);
TF_LAYOUT(k2_p::args, M, 24);
static_assert(sizeof(k2_p::args) == 32, "size of args");

// Written by tfgen: long_chains_s of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k3_s {
    struct args {
        const bf16 *p_;
        bf16 *s;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> s;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> p_ = load<V>(p.p_ + row * 56ll + col, left); // !13:5
        const vec<float, V> s = op_log(p_); // !14:5
        return {s};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.s + row * 56ll + col, left, e.s); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_s::args, p_, 0);
TF_LAYOUT(k3_s::args, s, 8);
TF_LAYOUT(k3_s::args, M, 16);
static_assert(sizeof(k3_s::args) == 24, "size of args");

// Written by tfgen: long_chains_t of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k4_t {
    struct args {
        const bf16 *s;
        bf16 *t;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> t;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s = load<V>(p.s + row * 56ll + col, left); // !14:5
        const vec<float, V> t = op_tanh(s); // !15:5
        return {t};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.t + row * 56ll + col, left, e.t); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_t::args, s, 0);
TF_LAYOUT(k4_t::args, t, 8);
TF_LAYOUT(k4_t::args, M, 16);
static_assert(sizeof(k4_t::args) == 24, "size of args");

// Written by tfgen: long_chains_mish of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k5_mish {
    struct args {
        const bf16 *l;
        const bf16 *t;
        bf16 *mish;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> mish;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> l = load<V>(p.l + row * 56ll + col, left); // !11:5
        const vec<float, V> t = load<V>(p.t + row * 56ll + col, left); // !15:5
        const vec<float, V> mish = op_mul(l, t); // !16:5
        return {mish};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.mish + row * 56ll + col, left, e.mish); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_mish::args, l, 0);
TF_LAYOUT(k5_mish::args, t, 8);
TF_LAYOUT(k5_mish::args, mish, 16);
TF_LAYOUT(k5_mish::args, M, 24);
static_assert(sizeof(k5_mish::args) == 32, "size of args");

// Written by tfgen: long_chains_u of tests/specs/long-chains.yaml for host; read it beside templates/gemm/gemm.h.
struct k6_u {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *u;
        int M;
    };
    static constexpr int K = 40, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = bf16;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 40ll + k); // !8:10
        return x;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_u(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 56 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.u + row * 56ll + col, left, product); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_u<W, 0>(p, c, row, n, lo, sum, out);
        columns_u<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_u::args, x, 0);
TF_LAYOUT(k6_u::args, packed, 8);
TF_LAYOUT(k6_u::args, u, 16);
TF_LAYOUT(k6_u::args, M, 24);
static_assert(sizeof(k6_u::args) == 32, "size of args");

// Written by tfgen: long_chains_g of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k7_g {
    struct args {
        const bf16 *mish;
        bf16 *g;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> g;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> mish = load<V>(p.mish + row * 56ll + col, left); // !16:5
        const vec<float, V> g = op_gelu_tanh(mish); // !18:5
        return {g};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.g + row * 56ll + col, left, e.g); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_g::args, mish, 0);
TF_LAYOUT(k7_g::args, g, 8);
TF_LAYOUT(k7_g::args, M, 16);
static_assert(sizeof(k7_g::args) == 24, "size of args");

// Written by tfgen: long_chains_gated of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k8_gated {
    struct args {
        const bf16 *g;
        const bf16 *u;
        bf16 *gated;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> gated;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g = load<V>(p.g + row * 56ll + col, left); // !18:5
        const vec<float, V> u = load<V>(p.u + row * 56ll + col, left); // !17:5
        const vec<float, V> gated = op_mul(g, u); // !19:5
        return {gated};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.gated + row * 56ll + col, left, e.gated); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_gated::args, g, 0);
TF_LAYOUT(k8_gated::args, u, 8);
TF_LAYOUT(k8_gated::args, gated, 16);
TF_LAYOUT(k8_gated::args, M, 24);
static_assert(sizeof(k8_gated::args) == 32, "size of args");

// Written by tfgen: long_chains_b of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k9_b {
    struct args {
        const bf16 *gated;
        const bf16 *bias;
        bf16 *b;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> gated = load<V>(p.gated + row * 56ll + col, left); // !19:5
        const vec<float, V> bias = load<V>(p.bias + col, left); // !9:32
        const vec<float, V> b = op_add(gated, bias); // !20:5
        return {b};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.b + row * 56ll + col, left, e.b); // !20:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k9_b::args, gated, 0);
TF_LAYOUT(k9_b::args, bias, 8);
TF_LAYOUT(k9_b::args, b, 16);
TF_LAYOUT(k9_b::args, M, 24);
static_assert(sizeof(k9_b::args) == 32, "size of args");

// Written by tfgen: long_chains_c of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k10_c {
    struct args {
        const bf16 *b;
        bf16 *c_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c_;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b = load<V>(p.b + row * 56ll + col, left); // !20:5
        const vec<float, V> c_ = op_cos(b); // !21:5
        return {c_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c_ + row * 56ll + col, left, e.c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_c::args, b, 0);
TF_LAYOUT(k10_c::args, c_, 8);
TF_LAYOUT(k10_c::args, M, 16);
static_assert(sizeof(k10_c::args) == 24, "size of args");

// Written by tfgen: long_chains_scaled of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k11_scaled {
    struct args {
        const bf16 *r;
        const bf16 *c_;
        bf16 *scaled;
        int M;
    };
    struct context {
        float r;
    };
    template <int V> struct element {
        vec<float, V> c_;
    };
    static constexpr int N = 56, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !8:21
        c.r = r;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c_ = load<V>(p.c_ + row * 56ll + col, left); // !21:5
        return {c_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> scaled = op_div(e.c_, c.r); // !22:5
        store<V>(p.scaled + row * 56ll + col, left, scaled); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k11_scaled::args, r, 0);
TF_LAYOUT(k11_scaled::args, c_, 8);
TF_LAYOUT(k11_scaled::args, scaled, 16);
TF_LAYOUT(k11_scaled::args, M, 24);
static_assert(sizeof(k11_scaled::args) == 32, "size of args");

// Written by tfgen: long_chains_q of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k12_q {
    struct args {
        const bf16 *x;
        bf16 *q;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> q;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 40ll + col, left); // !8:10
        const vec<float, V> q = op_silu(x); // !24:5
        return {q};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.q + row * 40ll + col, left, e.q); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k12_q::args, x, 0);
TF_LAYOUT(k12_q::args, q, 8);
TF_LAYOUT(k12_q::args, M, 16);
static_assert(sizeof(k12_q::args) == 24, "size of args");

// Written by tfgen: long_chains_a of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k13_a {
    struct args {
        const bf16 *q;
        bf16 *a;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load<V>(p.q + row * 40ll + col, left); // !24:5
        const vec<float, V> a = op_sigmoid(q); // !25:5
        return {a};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.a + row * 40ll + col, left, e.a); // !25:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k13_a::args, q, 0);
TF_LAYOUT(k13_a::args, a, 8);
TF_LAYOUT(k13_a::args, M, 16);
static_assert(sizeof(k13_a::args) == 24, "size of args");

// Written by tfgen: long_chains_m of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k14_m {
    struct args {
        const bf16 *a;
        bf16 *m;
        int M;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> a;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load<V>(p.a + row * 40ll + col, left); // !25:5
        return {a};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a; // !26:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float m = op_div(total, 40.0f); // !26:5
        c.m = m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.m + row, c.m); // !26:5
    }
};
TF_LAYOUT(k14_m::args, a, 0);
TF_LAYOUT(k14_m::args, m, 8);
TF_LAYOUT(k14_m::args, M, 16);
static_assert(sizeof(k14_m::args) == 24, "size of args");

// Written by tfgen: long_chains_d of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k15_d {
    struct args {
        const bf16 *m;
        const bf16 *a;
        bf16 *d;
        int M;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> a;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float m = load_one(p.m + row); // !26:5
        c.m = m;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load<V>(p.a + row * 40ll + col, left); // !25:5
        return {a};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> d = op_sub(e.a, c.m); // !27:5
        store<V>(p.d + row * 40ll + col, left, d); // !27:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k15_d::args, m, 0);
TF_LAYOUT(k15_d::args, a, 8);
TF_LAYOUT(k15_d::args, d, 16);
TF_LAYOUT(k15_d::args, M, 24);
static_assert(sizeof(k15_d::args) == 32, "size of args");

// Written by tfgen: long_chains_i of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k16_i {
    struct args {
        const bf16 *d;
        bf16 *i_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> i_;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> d = load<V>(p.d + row * 40ll + col, left); // !27:5
        const vec<float, V> i_ = op_sin(d); // !28:5
        return {i_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.i_ + row * 40ll + col, left, e.i_); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k16_i::args, d, 0);
TF_LAYOUT(k16_i::args, i_, 8);
TF_LAYOUT(k16_i::args, M, 16);
static_assert(sizeof(k16_i::args) == 24, "size of args");

// Written by tfgen: long_chains_j of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k17_j {
    struct args {
        const bf16 *a;
        bf16 *j;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> j;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load<V>(p.a + row * 40ll + col, left); // !25:5
        const vec<float, V> j = op_log(a); // !29:5
        return {j};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.j + row * 40ll + col, left, e.j); // !29:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k17_j::args, a, 0);
TF_LAYOUT(k17_j::args, j, 8);
TF_LAYOUT(k17_j::args, M, 16);
static_assert(sizeof(k17_j::args) == 24, "size of args");

// Written by tfgen: long_chains_n of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k18_n {
    struct args {
        const bf16 *i_;
        const bf16 *j;
        bf16 *n_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> n_;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> i_ = load<V>(p.i_ + row * 40ll + col, left); // !28:5
        const vec<float, V> j = load<V>(p.j + row * 40ll + col, left); // !29:5
        const vec<float, V> n_ = op_mul(i_, j); // !30:5
        return {n_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.n_ + row * 40ll + col, left, e.n_); // !30:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k18_n::args, i_, 0);
TF_LAYOUT(k18_n::args, j, 8);
TF_LAYOUT(k18_n::args, n_, 16);
TF_LAYOUT(k18_n::args, M, 24);
static_assert(sizeof(k18_n::args) == 32, "size of args");

// Written by tfgen: long_chains_o of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k19_o {
    struct args {
        const bf16 *n_;
        bf16 *o_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> o_;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> n_ = load<V>(p.n_ + row * 40ll + col, left); // !30:5
        const vec<float, V> o_ = op_cos(n_); // !31:5
        return {o_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.o_ + row * 40ll + col, left, e.o_); // !31:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k19_o::args, n_, 0);
TF_LAYOUT(k19_o::args, o_, 8);
TF_LAYOUT(k19_o::args, M, 16);
static_assert(sizeof(k19_o::args) == 24, "size of args");

// Written by tfgen: long_chains_f of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k20_f {
    struct args {
        const bf16 *o_;
        bf16 *f;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> f;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> o_ = load<V>(p.o_ + row * 40ll + col, left); // !31:5
        const vec<float, V> f = op_gelu_tanh(o_); // !32:5
        return {f};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.f + row * 40ll + col, left, e.f); // !32:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k20_f::args, o_, 0);
TF_LAYOUT(k20_f::args, f, 8);
TF_LAYOUT(k20_f::args, M, 16);
static_assert(sizeof(k20_f::args) == 24, "size of args");

// Written by tfgen: long_chains_h of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k21_h {
    struct args {
        const bf16 *f;
        bf16 *h;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> h;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> f = load<V>(p.f + row * 40ll + col, left); // !32:5
        const vec<float, V> h = op_tanh(f); // !33:5
        return {h};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.h + row * 40ll + col, left, e.h); // !33:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k21_h::args, f, 0);
TF_LAYOUT(k21_h::args, h, 8);
TF_LAYOUT(k21_h::args, M, 16);
static_assert(sizeof(k21_h::args) == 24, "size of args");

// Written by tfgen: long_chains_k of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k22_k {
    struct args {
        const bf16 *h;
        bf16 *k_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> h = load<V>(p.h + row * 40ll + col, left); // !33:5
        const vec<float, V> k_ = op_gelu_erf(h); // !34:5
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.k_ + row * 40ll + col, left, e.k_); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k22_k::args, h, 0);
TF_LAYOUT(k22_k::args, k_, 8);
TF_LAYOUT(k22_k::args, M, 16);
static_assert(sizeof(k22_k::args) == 24, "size of args");

// Written by tfgen: long_chains_z of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k23_z {
    struct args {
        const bf16 *k_;
        const bf16 *d;
        bf16 *z;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> z;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load<V>(p.k_ + row * 40ll + col, left); // !34:5
        const vec<float, V> d = load<V>(p.d + row * 40ll + col, left); // !27:5
        const vec<float, V> z = op_mul(k_, d); // !35:5
        return {z};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.z + row * 40ll + col, left, e.z); // !35:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k23_z::args, k_, 0);
TF_LAYOUT(k23_z::args, d, 8);
TF_LAYOUT(k23_z::args, z, 16);
TF_LAYOUT(k23_z::args, M, 24);
static_assert(sizeof(k23_z::args) == 32, "size of args");

// Written by tfgen: long_chains_ex of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k24_ex {
    struct args {
        const bf16 *z;
        bf16 *ex;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> ex;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z = load<V>(p.z + row * 40ll + col, left); // !35:5
        const vec<float, V> ex = op_exp(z); // !36:5
        return {ex};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.ex + row * 40ll + col, left, e.ex); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k24_ex::args, z, 0);
TF_LAYOUT(k24_ex::args, ex, 8);
TF_LAYOUT(k24_ex::args, M, 16);
static_assert(sizeof(k24_ex::args) == 24, "size of args");

// Written by tfgen: long_chains_si of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k25_si {
    struct args {
        const bf16 *ex;
        bf16 *si;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> si;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> ex = load<V>(p.ex + row * 40ll + col, left); // !36:5
        const vec<float, V> si = op_silu(ex); // !37:5
        return {si};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.si + row * 40ll + col, left, e.si); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k25_si::args, ex, 0);
TF_LAYOUT(k25_si::args, si, 8);
TF_LAYOUT(k25_si::args, M, 16);
static_assert(sizeof(k25_si::args) == 24, "size of args");

// Written by tfgen: long_chains_y of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k26_y {
    struct args {
        const bf16 *si;
        bf16 *y;
        int M;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> y;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> si = load<V>(p.si + row * 40ll + col, left); // !37:5
        const vec<float, V> y = op_sin(si); // !38:5
        return {y};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.y + row * 40ll + col, left, e.y); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k26_y::args, si, 0);
TF_LAYOUT(k26_y::args, y, 8);
TF_LAYOUT(k26_y::args, M, 16);
static_assert(sizeof(k26_y::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: long_chains_gate_up of tests/specs/long-chains.yaml for host; read it beside templates/gemm/gemm.h.
struct k0_gate_up {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *one;
        const bf16 *r;
        bf16 *mish;
        const bf16 *bias;
        bf16 *scaled;
        int M;
    };
    static constexpr int K = 40, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, a_plain = true, b_plain = true;
    using a_type = bf16;
    using b_type = bf16;
    struct context {
        float one, r;
    };
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 40ll + k); // !8:10
        return x;
    }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float one = load_one(p.one); // !9:43
        c.one = one;
        const float r = load_one(p.r + row); // !8:21
        c.r = r;
        return c;
    }
    template <int W, class Out> DEV static void pairs_l(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int col = pair;
        const int left = 56 - pair;
        if (left <= 0) return;
        const vec<float, W> e_ = op_exp(lo); // !12:5
        const vec<float, W> p_ = op_add(e_, c.one); // !13:5
        const vec<float, W> s = op_log(p_); // !14:5
        const vec<float, W> t = op_tanh(s); // !15:5
        const vec<float, W> mish = op_cast<bf16>(op_mul(lo, t)); // !16:5
        out.template put_some<0, W>(p.mish + row * 56ll + col, left, mish); // !16:5
        const vec<float, W> g = op_gelu_tanh(mish); // !18:5
        const vec<float, W> gated = op_mul(g, hi); // !19:5
        const vec<float, W> bias = load<W>(p.bias + col, left); // !9:32
        const vec<float, W> b = op_add(gated, bias); // !20:5
        const vec<float, W> c_ = op_cos(b); // !21:5
        const vec<float, W> scaled = op_div(c_, c.r); // !22:5
        out.template put_some<0, W>(p.scaled + row * 56ll + col, left, scaled); // !22:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        pairs_l<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k0_gate_up::args, x, 0);
TF_LAYOUT(k0_gate_up::args, packed, 8);
TF_LAYOUT(k0_gate_up::args, one, 16);
TF_LAYOUT(k0_gate_up::args, r, 24);
TF_LAYOUT(k0_gate_up::args, mish, 32);
TF_LAYOUT(k0_gate_up::args, bias, 40);
TF_LAYOUT(k0_gate_up::args, scaled, 48);
TF_LAYOUT(k0_gate_up::args, M, 56);
static_assert(sizeof(k0_gate_up::args) == 64, "size of args");

// Written by tfgen: long_chains_y of tests/specs/long-chains.yaml for host; read it beside templates/rows/rows.h.
struct k1_y {
    struct args {
        const bf16 *x;
        bf16 *k_;
        bf16 *y;
        int M;
    };
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> a, j;
    };
    static constexpr int N = 40, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load<V>(p.x + row * 40ll + col, left); // !8:10
        const vec<float, V> q = op_silu(x); // !24:5
        const vec<float, V> a = op_sigmoid(q); // !25:5
        const vec<float, V> j = op_log(a); // !29:5
        return {a, j};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a; // !26:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float m = op_div(total, 40.0f); // !26:5
        c.m = m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> d = op_sub(e.a, c.m); // !27:5
        const vec<float, V> i_ = op_sin(d); // !28:5
        const vec<float, V> n_ = op_mul(i_, e.j); // !30:5
        const vec<float, V> o_ = op_cos(n_); // !31:5
        const vec<float, V> f = op_gelu_tanh(o_); // !32:5
        const vec<float, V> h = op_tanh(f); // !33:5
        const vec<float, V> k_ = op_cast<bf16>(op_gelu_erf(h)); // !34:5
        store<V>(p.k_ + row * 40ll + col, left, k_); // !34:5
        const vec<float, V> z = op_mul(k_, d); // !35:5
        const vec<float, V> ex = op_exp(z); // !36:5
        const vec<float, V> si = op_silu(ex); // !37:5
        const vec<float, V> y = op_sin(si); // !38:5
        store<V>(p.y + row * 40ll + col, left, y); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_y::args, x, 0);
TF_LAYOUT(k1_y::args, k_, 8);
TF_LAYOUT(k1_y::args, y, 16);
TF_LAYOUT(k1_y::args, M, 24);
static_assert(sizeof(k1_y::args) == 32, "size of args");

// ---- level tile: as the one before
