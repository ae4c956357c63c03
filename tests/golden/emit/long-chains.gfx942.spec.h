// ---- level none
// Written by tfgen: long_chains_l of tests/specs/long-chains.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_l {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *l;
        int M;
    };
    static constexpr int K = 40, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 32, threads = 128, ahead = 1, resident = 6;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
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
        out.template put<Slot, W>(p.l + row * 56ll + col, product); // !11:5
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

// Written by tfgen: long_chains_e of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_e {
    struct args {
        const bf16 *l;
        bf16 *e_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> l;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> l = load_aligned<V>(p.l + row * 56ll + col); // !11:5
        return {pack(l)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e_ = near_exp(unpack(e.l)); // !12:5
        store_aligned<V>(p.e_ + row * 56ll + col, e_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_e::args, l, 0);
TF_LAYOUT(k1_e::args, e_, 8);
TF_LAYOUT(k1_e::args, M, 16);
static_assert(sizeof(k1_e::args) == 24, "size of args");

// Written by tfgen: long_chains_p of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
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
        packed<V> e_;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float one = load_one(p.one); // !9:43
        c.one = one;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> e_ = load_aligned<V>(p.e_ + row * 56ll + col); // !12:5
        return {pack(e_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> p_ = op_add(unpack(e.e_), c.one); // !13:5
        store_aligned<V>(p.p_ + row * 56ll + col, p_); // !13:5
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

// Written by tfgen: long_chains_s of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_s {
    struct args {
        const bf16 *p_;
        bf16 *s;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> p_;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> p_ = load_aligned<V>(p.p_ + row * 56ll + col); // !13:5
        return {pack(p_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s = op_log(unpack(e.p_)); // !14:5
        store_aligned<V>(p.s + row * 56ll + col, s); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_s::args, p_, 0);
TF_LAYOUT(k3_s::args, s, 8);
TF_LAYOUT(k3_s::args, M, 16);
static_assert(sizeof(k3_s::args) == 24, "size of args");

// Written by tfgen: long_chains_t of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_t {
    struct args {
        const bf16 *s;
        bf16 *t;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> s;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s = load_aligned<V>(p.s + row * 56ll + col); // !14:5
        return {pack(s)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> t = op_tanh(unpack(e.s)); // !15:5
        store_aligned<V>(p.t + row * 56ll + col, t); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_t::args, s, 0);
TF_LAYOUT(k4_t::args, t, 8);
TF_LAYOUT(k4_t::args, M, 16);
static_assert(sizeof(k4_t::args) == 24, "size of args");

// Written by tfgen: long_chains_mish of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_mish {
    struct args {
        const bf16 *l;
        const bf16 *t;
        bf16 *mish;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> l, t;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> l = load_aligned<V>(p.l + row * 56ll + col); // !11:5
        const vec<float, V> t = load_aligned<V>(p.t + row * 56ll + col); // !15:5
        return {pack(l), pack(t)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> mish = op_mul(unpack(e.l), unpack(e.t)); // !16:5
        store_aligned<V>(p.mish + row * 56ll + col, mish); // !16:5
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

// Written by tfgen: long_chains_u of tests/specs/long-chains.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_u {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *u;
        int M;
    };
    static constexpr int K = 40, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 32, threads = 128, ahead = 1, resident = 6;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
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
        out.template put<Slot, W>(p.u + row * 56ll + col, product); // !17:5
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

// Written by tfgen: long_chains_g of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_g {
    struct args {
        const bf16 *mish;
        bf16 *g;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> mish;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> mish = load_aligned<V>(p.mish + row * 56ll + col); // !16:5
        return {pack(mish)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> g = op_gelu_tanh(unpack(e.mish)); // !18:5
        store_aligned<V>(p.g + row * 56ll + col, g); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_g::args, mish, 0);
TF_LAYOUT(k7_g::args, g, 8);
TF_LAYOUT(k7_g::args, M, 16);
static_assert(sizeof(k7_g::args) == 24, "size of args");

// Written by tfgen: long_chains_gated of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_gated {
    struct args {
        const bf16 *g;
        const bf16 *u;
        bf16 *gated;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> g, u;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g = load_aligned<V>(p.g + row * 56ll + col); // !18:5
        const vec<float, V> u = load_aligned<V>(p.u + row * 56ll + col); // !17:5
        return {pack(g), pack(u)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> gated = op_mul(unpack(e.g), unpack(e.u)); // !19:5
        store_aligned<V>(p.gated + row * 56ll + col, gated); // !19:5
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

// Written by tfgen: long_chains_b of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k9_b {
    struct args {
        const bf16 *gated;
        const bf16 *bias;
        bf16 *b;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> gated, bias;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> gated = load_aligned<V>(p.gated + row * 56ll + col); // !19:5
        const vec<float, V> bias = load_aligned<V>(p.bias + col); // !9:32
        return {pack(gated), pack(bias)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> b = op_add(unpack(e.gated), unpack(e.bias)); // !20:5
        store_aligned<V>(p.b + row * 56ll + col, b); // !20:5
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

// Written by tfgen: long_chains_c of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_c {
    struct args {
        const bf16 *b;
        bf16 *c_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> b;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b = load_aligned<V>(p.b + row * 56ll + col); // !20:5
        return {pack(b)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c_ = op_cos(unpack(e.b)); // !21:5
        store_aligned<V>(p.c_ + row * 56ll + col, c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_c::args, b, 0);
TF_LAYOUT(k10_c::args, c_, 8);
TF_LAYOUT(k10_c::args, M, 16);
static_assert(sizeof(k10_c::args) == 24, "size of args");

// Written by tfgen: long_chains_scaled of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
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
        packed<V> c_;
    };
    static constexpr int N = 56, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !8:21
        c.r = r;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c_ = load_aligned<V>(p.c_ + row * 56ll + col); // !21:5
        return {pack(c_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> scaled = near_div(unpack(e.c_), c.r); // !22:5
        store_aligned<V>(p.scaled + row * 56ll + col, scaled); // !22:5
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

// Written by tfgen: long_chains_q of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k12_q {
    struct args {
        const bf16 *x;
        bf16 *q;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 40ll + col); // !8:10
        return {pack(x)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> q = op_silu(unpack(e.x)); // !24:5
        store_aligned<V>(p.q + row * 40ll + col, q); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k12_q::args, x, 0);
TF_LAYOUT(k12_q::args, q, 8);
TF_LAYOUT(k12_q::args, M, 16);
static_assert(sizeof(k12_q::args) == 24, "size of args");

// Written by tfgen: long_chains_a of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k13_a {
    struct args {
        const bf16 *q;
        bf16 *a;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> q;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 40ll + col); // !24:5
        return {pack(q)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a = op_sigmoid(unpack(e.q)); // !25:5
        store_aligned<V>(p.a + row * 40ll + col, a); // !25:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k13_a::args, q, 0);
TF_LAYOUT(k13_a::args, a, 8);
TF_LAYOUT(k13_a::args, M, 16);
static_assert(sizeof(k13_a::args) == 24, "size of args");

// Written by tfgen: long_chains_m of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
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
        packed<V> a;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 40ll + col); // !25:5
        return {pack(a)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.a); // !26:5
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

// Written by tfgen: long_chains_d of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
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
        packed<V> a;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float m = load_one(p.m + row); // !26:5
        c.m = m;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 40ll + col); // !25:5
        return {pack(a)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> d = op_sub(unpack(e.a), c.m); // !27:5
        store_aligned<V>(p.d + row * 40ll + col, d); // !27:5
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

// Written by tfgen: long_chains_i of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k16_i {
    struct args {
        const bf16 *d;
        bf16 *i_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> d;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> d = load_aligned<V>(p.d + row * 40ll + col); // !27:5
        return {pack(d)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> i_ = op_sin(unpack(e.d)); // !28:5
        store_aligned<V>(p.i_ + row * 40ll + col, i_); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k16_i::args, d, 0);
TF_LAYOUT(k16_i::args, i_, 8);
TF_LAYOUT(k16_i::args, M, 16);
static_assert(sizeof(k16_i::args) == 24, "size of args");

// Written by tfgen: long_chains_j of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k17_j {
    struct args {
        const bf16 *a;
        bf16 *j;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> a;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 40ll + col); // !25:5
        return {pack(a)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> j = op_log(unpack(e.a)); // !29:5
        store_aligned<V>(p.j + row * 40ll + col, j); // !29:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k17_j::args, a, 0);
TF_LAYOUT(k17_j::args, j, 8);
TF_LAYOUT(k17_j::args, M, 16);
static_assert(sizeof(k17_j::args) == 24, "size of args");

// Written by tfgen: long_chains_n of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k18_n {
    struct args {
        const bf16 *i_;
        const bf16 *j;
        bf16 *n_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> i_, j;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> i_ = load_aligned<V>(p.i_ + row * 40ll + col); // !28:5
        const vec<float, V> j = load_aligned<V>(p.j + row * 40ll + col); // !29:5
        return {pack(i_), pack(j)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_ = op_mul(unpack(e.i_), unpack(e.j)); // !30:5
        store_aligned<V>(p.n_ + row * 40ll + col, n_); // !30:5
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

// Written by tfgen: long_chains_o of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k19_o {
    struct args {
        const bf16 *n_;
        bf16 *o_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> n_;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> n_ = load_aligned<V>(p.n_ + row * 40ll + col); // !30:5
        return {pack(n_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> o_ = op_cos(unpack(e.n_)); // !31:5
        store_aligned<V>(p.o_ + row * 40ll + col, o_); // !31:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k19_o::args, n_, 0);
TF_LAYOUT(k19_o::args, o_, 8);
TF_LAYOUT(k19_o::args, M, 16);
static_assert(sizeof(k19_o::args) == 24, "size of args");

// Written by tfgen: long_chains_f of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k20_f {
    struct args {
        const bf16 *o_;
        bf16 *f;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> o_;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> o_ = load_aligned<V>(p.o_ + row * 40ll + col); // !31:5
        return {pack(o_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> f = op_gelu_tanh(unpack(e.o_)); // !32:5
        store_aligned<V>(p.f + row * 40ll + col, f); // !32:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k20_f::args, o_, 0);
TF_LAYOUT(k20_f::args, f, 8);
TF_LAYOUT(k20_f::args, M, 16);
static_assert(sizeof(k20_f::args) == 24, "size of args");

// Written by tfgen: long_chains_h of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k21_h {
    struct args {
        const bf16 *f;
        bf16 *h;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> f;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> f = load_aligned<V>(p.f + row * 40ll + col); // !32:5
        return {pack(f)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h = op_tanh(unpack(e.f)); // !33:5
        store_aligned<V>(p.h + row * 40ll + col, h); // !33:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k21_h::args, f, 0);
TF_LAYOUT(k21_h::args, h, 8);
TF_LAYOUT(k21_h::args, M, 16);
static_assert(sizeof(k21_h::args) == 24, "size of args");

// Written by tfgen: long_chains_k of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k22_k {
    struct args {
        const bf16 *h;
        bf16 *k_;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> h;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> h = load_aligned<V>(p.h + row * 40ll + col); // !33:5
        return {pack(h)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> k_ = near_gelu_erf(unpack(e.h)); // !34:5
        store_aligned<V>(p.k_ + row * 40ll + col, k_); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k22_k::args, h, 0);
TF_LAYOUT(k22_k::args, k_, 8);
TF_LAYOUT(k22_k::args, M, 16);
static_assert(sizeof(k22_k::args) == 24, "size of args");

// Written by tfgen: long_chains_z of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k23_z {
    struct args {
        const bf16 *k_;
        const bf16 *d;
        bf16 *z;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> k_, d;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 40ll + col); // !34:5
        const vec<float, V> d = load_aligned<V>(p.d + row * 40ll + col); // !27:5
        return {pack(k_), pack(d)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> z = op_mul(unpack(e.k_), unpack(e.d)); // !35:5
        store_aligned<V>(p.z + row * 40ll + col, z); // !35:5
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

// Written by tfgen: long_chains_ex of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k24_ex {
    struct args {
        const bf16 *z;
        bf16 *ex;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> z;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z = load_aligned<V>(p.z + row * 40ll + col); // !35:5
        return {pack(z)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> ex = near_exp(unpack(e.z)); // !36:5
        store_aligned<V>(p.ex + row * 40ll + col, ex); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k24_ex::args, z, 0);
TF_LAYOUT(k24_ex::args, ex, 8);
TF_LAYOUT(k24_ex::args, M, 16);
static_assert(sizeof(k24_ex::args) == 24, "size of args");

// Written by tfgen: long_chains_si of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k25_si {
    struct args {
        const bf16 *ex;
        bf16 *si;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> ex;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> ex = load_aligned<V>(p.ex + row * 40ll + col); // !36:5
        return {pack(ex)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> si = op_silu(unpack(e.ex)); // !37:5
        store_aligned<V>(p.si + row * 40ll + col, si); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k25_si::args, ex, 0);
TF_LAYOUT(k25_si::args, si, 8);
TF_LAYOUT(k25_si::args, M, 16);
static_assert(sizeof(k25_si::args) == 24, "size of args");

// Written by tfgen: long_chains_y of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k26_y {
    struct args {
        const bf16 *si;
        bf16 *y;
        int M;
    };
    struct context {};
    template <int V> struct element {
        packed<V> si;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> si = load_aligned<V>(p.si + row * 40ll + col); // !37:5
        return {pack(si)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y = op_sin(unpack(e.si)); // !38:5
        store_aligned<V>(p.y + row * 40ll + col, y); // !38:5
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
// Written by tfgen: long_chains_gate_up of tests/specs/long-chains.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
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
    TF_CALLED static float tf_chain1_mish(float l, float one)
    {
        const float e_ = op_exp(l); // !12:5
        const float p_ = op_add(e_, one); // !13:5
        const float s = op_log(p_); // !14:5
        const float t = op_tanh(s); // !15:5
        const float mish = op_cast<bf16>(op_mul(l, t)); // !16:5
        return mish;
    }
    TF_CALLED static float tf_chain2_scaled(float mish, float u, float bias, float r)
    {
        const float g = op_gelu_tanh(mish); // !18:5
        const float gated = op_mul(g, u); // !19:5
        const float b = op_add(gated, bias); // !20:5
        const float c_ = op_cos(b); // !21:5
        const float scaled = op_div(c_, r); // !22:5
        return scaled;
    }
    static constexpr int K = 40, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 32, threads = 128, ahead = 1, resident = 6;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float one, r;
    };
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &p) { return 1; }
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
        vec<float, W> mish = splat<W>(0.0f); // !16:5
        #pragma unroll
        for (int i = 0; i < W; i++) mish[i] = tf_chain1_mish(lo[i], c.one); // !16:5
        out.template put<0, W>(p.mish + row * 56ll + col, mish); // !16:5
        const vec<float, W> bias = load_aligned<W>(p.bias + col); // !9:32
        vec<float, W> scaled = splat<W>(0.0f); // !22:5
        #pragma unroll
        for (int i = 0; i < W; i++) scaled[i] = tf_chain2_scaled(mish[i], hi[i], bias[i], c.r); // !22:5
        out.template put<0, W>(p.scaled + row * 56ll + col, scaled); // !22:5
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

// Written by tfgen: long_chains_y of tests/specs/long-chains.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_y {
    struct args {
        const bf16 *x;
        bf16 *k_;
        bf16 *y;
        int M;
    };
    TF_CALLED static float tf_chain1_k_(float x, float m)
    {
        const float q = op_silu(x); // !24:5
        const float a = op_sigmoid(q); // !25:5
        const float d = op_sub(a, m); // !27:5
        const float i_ = op_sin(d); // !28:5
        const float j = op_log(a); // !29:5
        const float n_ = op_mul(i_, j); // !30:5
        const float o_ = op_cos(n_); // !31:5
        const float f = op_gelu_tanh(o_); // !32:5
        const float h = op_tanh(f); // !33:5
        const float k_ = op_cast<bf16>(near_gelu_erf(h)); // !34:5
        return k_;
    }
    TF_CALLED static float tf_chain2_y(float x, float m, float k_)
    {
        const float q = op_silu(x); // !24:5
        const float a = op_sigmoid(q); // !25:5
        const float d = op_sub(a, m); // !27:5
        const float z = op_mul(k_, d); // !35:5
        const float ex = near_exp(z); // !36:5
        const float si = op_silu(ex); // !37:5
        const float y = op_sin(si); // !38:5
        return y;
    }
    TF_CALLED static float tf_chain3_a(float x)
    {
        const float q = op_silu(x); // !24:5
        const float a = op_sigmoid(q); // !25:5
        return a;
    }
    TF_CALLED static float tf_chain4_k_(float a, float m)
    {
        const float d = op_sub(a, m); // !27:5
        const float i_ = op_sin(d); // !28:5
        const float j = op_log(a); // !29:5
        const float n_ = op_mul(i_, j); // !30:5
        const float o_ = op_cos(n_); // !31:5
        const float f = op_gelu_tanh(o_); // !32:5
        const float h = op_tanh(f); // !33:5
        const float k_ = op_cast<bf16>(near_gelu_erf(h)); // !34:5
        return k_;
    }
    TF_CALLED static float tf_chain5_y(float a, float m, float k_)
    {
        const float d = op_sub(a, m); // !27:5
        const float z = op_mul(k_, d); // !35:5
        const float ex = near_exp(z); // !36:5
        const float si = op_silu(ex); // !37:5
        const float y = op_sin(si); // !38:5
        return y;
    }
    struct context {
        float m;
    };
    template <int V> struct element {
        vec<float, V> a;
        packed<V> x;
    };
    static constexpr int N = 40, threads = 128, team = 8, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.M; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 40ll + col); // !8:10
        vec<float, V> a = splat<V>(0.0f); // !25:5
        #pragma unroll
        for (int i = 0; i < V; i++) a[i] = tf_chain3_a(x[i]); // !25:5
        return {a, pack(x)};
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
        vec<float, V> k_ = splat<V>(0.0f); // !34:5
        #pragma unroll
        for (int i = 0; i < V; i++) k_[i] = tf_chain4_k_(e.a[i], c.m); // !34:5
        store_aligned<V>(p.k_ + row * 40ll + col, k_); // !34:5
        vec<float, V> y = splat<V>(0.0f); // !38:5
        #pragma unroll
        for (int i = 0; i < V; i++) y[i] = tf_chain5_y(e.a[i], c.m, k_[i]); // !38:5
        store_aligned<V>(p.y + row * 40ll + col, y); // !38:5
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
