// ---- level none
// Written by tfgen: ropes_h of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *n_;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_r;
    };
    template <int V> struct element {
        vec<float, V> h_w1;
        packed<V> x;
    };
    static constexpr int N = 24, threads = 128, team = 4, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 24ll + col); // !6:10
        const vec<float, V> n_ = load_aligned<V>(p.n_ + col); // !7:55
        const vec<float, V> h_w1 = op_add(n_, 1.0f); // !10:5
        return {h_w1, pack(x)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !10:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x)); // !10:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_ms = op_div(total, 24.0f); // !10:5
        const float h_me = op_add(h_ms, 1e-05f); // !10:5
        const float h_r = op_rsqrt(h_me); // !10:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_n = op_mul(unpack(e.x), c.h_r); // !10:5
        const vec<float, V> h = op_mul(h_n, e.h_w1); // !10:5
        store_aligned<V>(p.h + row * 24ll + col, h); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, n_, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, B, 24);
TF_LAYOUT(k0_h::args, S, 28);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: ropes_q of tests/specs/ropes.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_q {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *q;
        int B, S;
    };
    static constexpr int K = 24, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 2;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.q + row * 30ll + col, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_q<W, 0>(p, c, row, n, lo, sum, out);
        columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_q::args, h, 0);
TF_LAYOUT(k1_q::args, packed, 8);
TF_LAYOUT(k1_q::args, q, 16);
TF_LAYOUT(k1_q::args, B, 24);
TF_LAYOUT(k1_q::args, S, 28);
static_assert(sizeof(k1_q::args) == 32, "size of args");

// Written by tfgen: ropes_k of tests/specs/ropes.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_k {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *k_;
        int B, S;
    };
    static constexpr int K = 24, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 2;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.k_ + row * 30ll + col, product); // !12:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_k_<W, 0>(p, c, row, n, lo, sum, out);
        columns_k_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_k::args, h, 0);
TF_LAYOUT(k2_k::args, packed, 8);
TF_LAYOUT(k2_k::args, k_, 16);
TF_LAYOUT(k2_k::args, B, 24);
TF_LAYOUT(k2_k::args, S, 28);
static_assert(sizeof(k2_k::args) == 32, "size of args");

// Written by tfgen: ropes_v of tests/specs/ropes.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_v {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 24, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 2;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.v + row * 30ll + col, product); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_v<W, 0>(p, c, row, n, lo, sum, out);
        columns_v<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_v::args, h, 0);
TF_LAYOUT(k3_v::args, packed, 8);
TF_LAYOUT(k3_v::args, v, 16);
TF_LAYOUT(k3_v::args, B, 24);
TF_LAYOUT(k3_v::args, S, 28);
static_assert(sizeof(k3_v::args) == 32, "size of args");

// Written by tfgen: ropes_qr of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k4_qr_qr_turns[5] = {0x28be60db93910600ull, 0x6751a832fb73300ull, 0x105ffcf68600a30ull, 0x29862a60a2c308ull, 0x694c487f352e4ull}; // !14:5
struct k4_qr {
    struct args {
        const int *pos;
        const bf16 *q;
        bf16 *qr;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> q;
    };
    static constexpr int N = 30, threads = 128, team = 16, V = 2, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !14:5
        c.position = (p.pos[c.sequence] + row % p.S); // !14:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 30ll + col); // !11:5
        return {pack(q)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_interleaved<10, 10>(unpack(e.q), col, c.position, k4_qr_qr_turns); // !14:5
        store_aligned<V>(p.qr + row * 30ll + col, qr); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_qr::args, pos, 0);
TF_LAYOUT(k4_qr::args, q, 8);
TF_LAYOUT(k4_qr::args, qr, 16);
TF_LAYOUT(k4_qr::args, B, 24);
TF_LAYOUT(k4_qr::args, S, 28);
static_assert(sizeof(k4_qr::args) == 32, "size of args");

// Written by tfgen: ropes_kr of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k5_kr_kr_turns[3] = {0x28be60db93910600ull, 0x1e422a180698490ull, 0xeaa47914d906dull}; // !15:5
struct k5_kr {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kr;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k__far;
    };
    static constexpr int N = 30, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !15:5
        c.position = (p.pos[c.sequence] + row % p.S); // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 30ll + col); // !12:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 30ll + rope_partner<10, 6>(col)); // !12:5
        return {k_, k__far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<10, 6>(e.k_, e.k__far, col, c.position, k5_kr_kr_turns); // !15:5
        store_aligned<V>(p.kr + row * 30ll + col, kr); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_kr::args, pos, 0);
TF_LAYOUT(k5_kr::args, k_, 8);
TF_LAYOUT(k5_kr::args, kr, 16);
TF_LAYOUT(k5_kr::args, B, 24);
TF_LAYOUT(k5_kr::args, S, 28);
static_assert(sizeof(k5_kr::args) == 32, "size of args");

// Written by tfgen: ropes_ks of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_ks {
    struct args {
        const int *pos;
        const bf16 *kr;
        bf16 *kc;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> kr;
    };
    static constexpr int N = 30, threads = 128, team = 16, V = 2, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !16:5
        c.position = (p.pos[c.sequence] + row % p.S); // !16:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> kr = load_aligned<V>(p.kr + row * 30ll + col); // !15:5
        return {pack(kr)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 33) store_aligned<V>(p.kc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, unpack(e.kr)); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_ks::args, pos, 0);
TF_LAYOUT(k6_ks::args, kr, 8);
TF_LAYOUT(k6_ks::args, kc, 16);
TF_LAYOUT(k6_ks::args, B, 24);
TF_LAYOUT(k6_ks::args, S, 28);
static_assert(sizeof(k6_ks::args) == 32, "size of args");

// Written by tfgen: ropes_vs of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_vs {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *vc;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 30, threads = 128, team = 16, V = 2, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !17:5
        c.position = (p.pos[c.sequence] + row % p.S); // !17:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 30ll + col); // !13:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 33) store_aligned<V>(p.vc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, unpack(e.v)); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_vs::args, pos, 0);
TF_LAYOUT(k7_vs::args, v, 8);
TF_LAYOUT(k7_vs::args, vc, 16);
TF_LAYOUT(k7_vs::args, B, 24);
TF_LAYOUT(k7_vs::args, S, 28);
static_assert(sizeof(k7_vs::args) == 32, "size of args");

// Written by tfgen: ropes_decode of tests/specs/ropes.yaml for cdna; read it beside templates/attention/decode.h.
struct k8_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *kc;
        const bf16 *vc;
        float *a_part;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, kv_heads = 3;
    static constexpr int team = 2, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 7;
    static constexpr float softcap = 30.0f, scale = 0.31622776f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + p.S, most = 33; // !18:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * p.S + token) * 30ll + head * 10; // !18:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kc + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.vc + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
};
TF_LAYOUT(k8_decode::args, pos, 0);
TF_LAYOUT(k8_decode::args, qr, 8);
TF_LAYOUT(k8_decode::args, kc, 16);
TF_LAYOUT(k8_decode::args, vc, 24);
TF_LAYOUT(k8_decode::args, a_part, 32);
TF_LAYOUT(k8_decode::args, B, 40);
TF_LAYOUT(k8_decode::args, S, 44);
static_assert(sizeof(k8_decode::args) == 48, "size of args");

// Written by tfgen: ropes_combine of tests/specs/ropes.yaml for cdna; read it beside templates/attention/decode.h.
struct k8_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, splits = 1;
    static constexpr int threads = 16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * p.S + token) * 30ll + head * 10 + col, left, o); // !18:5
    }
};
TF_LAYOUT(k8_join_combine::args, a_part, 0);
TF_LAYOUT(k8_join_combine::args, a, 8);
TF_LAYOUT(k8_join_combine::args, B, 16);
TF_LAYOUT(k8_join_combine::args, S, 20);
static_assert(sizeof(k8_join_combine::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: ropes_h of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *n_;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_r;
    };
    template <int V> struct element {
        vec<float, V> h_w1;
        packed<V> x;
    };
    static constexpr int N = 24, threads = 128, team = 4, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 24ll + col); // !6:10
        const vec<float, V> n_ = load_aligned<V>(p.n_ + col); // !7:55
        const vec<float, V> h_w1 = op_add(n_, 1.0f); // !10:5
        return {h_w1, pack(x)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !10:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x)); // !10:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_ms = op_div(total, 24.0f); // !10:5
        const float h_me = op_add(h_ms, 1e-05f); // !10:5
        const float h_r = op_rsqrt(h_me); // !10:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_n = op_mul(unpack(e.x), c.h_r); // !10:5
        const vec<float, V> h = op_mul(h_n, e.h_w1); // !10:5
        store_aligned<V>(p.h + row * 24ll + col, h); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, n_, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, B, 24);
TF_LAYOUT(k0_h::args, S, 28);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: ropes_qkv of tests/specs/ropes.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 24, packed_n = 96, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 2;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.q + row * 30ll + col, product); // !11:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.k_ + row * 30ll + col, product); // !12:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.v + row * 30ll + col, product); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 32) {
            columns_q<W, 0>(p, c, row, n, lo, sum, out);
            columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        if (n < 64) {
            columns_k_<W, 0>(p, c, row, n - 32, lo, sum, out);
            columns_k_<W, 1>(p, c, row, n - 32 + granule, hi, sum, out);
            return;
        }
        columns_v<W, 0>(p, c, row, n - 64, lo, sum, out);
        columns_v<W, 1>(p, c, row, n - 64 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, h, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, q, 16);
TF_LAYOUT(k1_qkv::args, k_, 24);
TF_LAYOUT(k1_qkv::args, v, 32);
TF_LAYOUT(k1_qkv::args, B, 40);
TF_LAYOUT(k1_qkv::args, S, 44);
static_assert(sizeof(k1_qkv::args) == 48, "size of args");

// Written by tfgen: ropes_qr of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k2_qr_qr_turns[5] = {0x28be60db93910600ull, 0x6751a832fb73300ull, 0x105ffcf68600a30ull, 0x29862a60a2c308ull, 0x694c487f352e4ull}; // !14:5
struct k2_qr {
    struct args {
        const int *pos;
        const bf16 *q;
        bf16 *qr;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> q;
    };
    static constexpr int N = 30, threads = 128, team = 16, V = 2, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !14:5
        c.position = (p.pos[c.sequence] + row % p.S); // !14:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 30ll + col); // !11:5
        return {pack(q)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_interleaved<10, 10>(unpack(e.q), col, c.position, k2_qr_qr_turns); // !14:5
        store_aligned<V>(p.qr + row * 30ll + col, qr); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_qr::args, pos, 0);
TF_LAYOUT(k2_qr::args, q, 8);
TF_LAYOUT(k2_qr::args, qr, 16);
TF_LAYOUT(k2_qr::args, B, 24);
TF_LAYOUT(k2_qr::args, S, 28);
static_assert(sizeof(k2_qr::args) == 32, "size of args");

// Written by tfgen: ropes_kr of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k3_kr_kr_turns[3] = {0x28be60db93910600ull, 0x1e422a180698490ull, 0xeaa47914d906dull}; // !15:5
struct k3_kr {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kr;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k__far;
    };
    static constexpr int N = 30, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !15:5
        c.position = (p.pos[c.sequence] + row % p.S); // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 30ll + col); // !12:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 30ll + rope_partner<10, 6>(col)); // !12:5
        return {k_, k__far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<10, 6>(e.k_, e.k__far, col, c.position, k3_kr_kr_turns); // !15:5
        store_aligned<V>(p.kr + row * 30ll + col, kr); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_kr::args, pos, 0);
TF_LAYOUT(k3_kr::args, k_, 8);
TF_LAYOUT(k3_kr::args, kr, 16);
TF_LAYOUT(k3_kr::args, B, 24);
TF_LAYOUT(k3_kr::args, S, 28);
static_assert(sizeof(k3_kr::args) == 32, "size of args");

// Written by tfgen: ropes_ks of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_ks {
    struct args {
        const int *pos;
        const bf16 *kr;
        bf16 *kc;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> kr;
    };
    static constexpr int N = 30, threads = 128, team = 16, V = 2, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !16:5
        c.position = (p.pos[c.sequence] + row % p.S); // !16:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> kr = load_aligned<V>(p.kr + row * 30ll + col); // !15:5
        return {pack(kr)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 33) store_aligned<V>(p.kc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, unpack(e.kr)); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_ks::args, pos, 0);
TF_LAYOUT(k4_ks::args, kr, 8);
TF_LAYOUT(k4_ks::args, kc, 16);
TF_LAYOUT(k4_ks::args, B, 24);
TF_LAYOUT(k4_ks::args, S, 28);
static_assert(sizeof(k4_ks::args) == 32, "size of args");

// Written by tfgen: ropes_vs of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_vs {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *vc;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 30, threads = 128, team = 16, V = 2, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !17:5
        c.position = (p.pos[c.sequence] + row % p.S); // !17:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 30ll + col); // !13:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 33) store_aligned<V>(p.vc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, unpack(e.v)); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_vs::args, pos, 0);
TF_LAYOUT(k5_vs::args, v, 8);
TF_LAYOUT(k5_vs::args, vc, 16);
TF_LAYOUT(k5_vs::args, B, 24);
TF_LAYOUT(k5_vs::args, S, 28);
static_assert(sizeof(k5_vs::args) == 32, "size of args");

// Written by tfgen: ropes_decode of tests/specs/ropes.yaml for cdna; read it beside templates/attention/decode.h.
struct k6_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *kc;
        const bf16 *vc;
        float *a_part;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, kv_heads = 3;
    static constexpr int team = 2, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 7;
    static constexpr float softcap = 30.0f, scale = 0.31622776f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + p.S, most = 33; // !18:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * p.S + token) * 30ll + head * 10; // !18:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kc + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.vc + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
};
TF_LAYOUT(k6_decode::args, pos, 0);
TF_LAYOUT(k6_decode::args, qr, 8);
TF_LAYOUT(k6_decode::args, kc, 16);
TF_LAYOUT(k6_decode::args, vc, 24);
TF_LAYOUT(k6_decode::args, a_part, 32);
TF_LAYOUT(k6_decode::args, B, 40);
TF_LAYOUT(k6_decode::args, S, 44);
static_assert(sizeof(k6_decode::args) == 48, "size of args");

// Written by tfgen: ropes_combine of tests/specs/ropes.yaml for cdna; read it beside templates/attention/decode.h.
struct k6_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, splits = 1;
    static constexpr int threads = 16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * p.S + token) * 30ll + head * 10 + col, left, o); // !18:5
    }
};
TF_LAYOUT(k6_join_combine::args, a_part, 0);
TF_LAYOUT(k6_join_combine::args, a, 8);
TF_LAYOUT(k6_join_combine::args, B, 16);
TF_LAYOUT(k6_join_combine::args, S, 20);
static_assert(sizeof(k6_join_combine::args) == 24, "size of args");

// ---- level tile
// Written by tfgen: ropes_qkv of tests/specs/ropes.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
TF_TABLE unsigned long long k1_qkv_qr_turns[5] = {0x28be60db93910600ull, 0x6751a832fb73300ull, 0x105ffcf68600a30ull, 0x29862a60a2c308ull, 0x694c487f352e4ull}; // !14:5
struct k1_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const int *pos;
        bf16 *qr;
        bf16 *k_;
        bf16 *vc;
        int B, S;
    };
    static constexpr int K = 24, packed_n = 96, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 2;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = true;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float q_r;
        int position, sequence;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c = {};
        c.sequence = (row / p.S); // !14:5
        c.position = (p.pos[c.sequence] + row % p.S); // !14:5
        return c;
    }
    DEV static void summed(const args &p, context &c, int batch, int row, float squares)
    {
        const float q_ms = op_div(squares, 24.0f); // !10:5
        const float q_me = op_add(q_ms, 1e-05f); // !10:5
        const float q_r = op_rsqrt(q_me); // !10:5
        c.q_r = q_r;
    }
    template <int W, int Slot, class Out> DEV static void columns_q_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        const vec<float, W> q = op_mul(product, c.q_r); // !10:5
        const vec<float, W> qr = rope_interleaved<10, 10>(q, col, c.position, k1_qkv_qr_turns); // !14:5
        out.template put<Slot, W>(p.qr + row * 30ll + col, qr); // !14:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        const vec<float, W> k_ = op_mul(product, c.q_r); // !10:5
        out.template put<Slot, W>(p.k_ + row * 30ll + col, k_); // !10:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        const vec<float, W> v = op_mul(product, c.q_r); // !10:5
        if (c.position >= 0 && c.position < 33) out.template put<Slot, W>(p.vc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, v); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 32) {
            columns_q_raw<W, 0>(p, c, row, n, lo, sum, out);
            columns_q_raw<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        if (n < 64) {
            columns_k_raw<W, 0>(p, c, row, n - 32, lo, sum, out);
            columns_k_raw<W, 1>(p, c, row, n - 32 + granule, hi, sum, out);
            return;
        }
        columns_v_raw<W, 0>(p, c, row, n - 64, lo, sum, out);
        columns_v_raw<W, 1>(p, c, row, n - 64 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, x, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, pos, 16);
TF_LAYOUT(k1_qkv::args, qr, 24);
TF_LAYOUT(k1_qkv::args, k_, 32);
TF_LAYOUT(k1_qkv::args, vc, 40);
TF_LAYOUT(k1_qkv::args, B, 48);
TF_LAYOUT(k1_qkv::args, S, 52);
static_assert(sizeof(k1_qkv::args) == 56, "size of args");

// Written by tfgen: ropes_ks of tests/specs/ropes.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k2_ks_kr_turns[3] = {0x28be60db93910600ull, 0x1e422a180698490ull, 0xeaa47914d906dull}; // !15:5
struct k2_ks {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kc;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k__far;
    };
    static constexpr int N = 30, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !15:5
        c.position = (p.pos[c.sequence] + row % p.S); // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 30ll + col); // !10:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 30ll + rope_partner<10, 6>(col)); // !10:5
        return {k_, k__far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<10, 6>(e.k_, e.k__far, col, c.position, k2_ks_kr_turns); // !15:5
        if (c.position >= 0 && c.position < 33) store_aligned<V>(p.kc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, kr); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_ks::args, pos, 0);
TF_LAYOUT(k2_ks::args, k_, 8);
TF_LAYOUT(k2_ks::args, kc, 16);
TF_LAYOUT(k2_ks::args, B, 24);
TF_LAYOUT(k2_ks::args, S, 28);
static_assert(sizeof(k2_ks::args) == 32, "size of args");

// Written by tfgen: ropes_decode of tests/specs/ropes.yaml for cdna; read it beside templates/attention/decode.h.
struct k3_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *kc;
        const bf16 *vc;
        float *a_part;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, kv_heads = 3;
    static constexpr int team = 2, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 7;
    static constexpr float softcap = 30.0f, scale = 0.31622776f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + p.S, most = 33; // !18:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * p.S + token) * 30ll + head * 10; // !18:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kc + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.vc + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
};
TF_LAYOUT(k3_decode::args, pos, 0);
TF_LAYOUT(k3_decode::args, qr, 8);
TF_LAYOUT(k3_decode::args, kc, 16);
TF_LAYOUT(k3_decode::args, vc, 24);
TF_LAYOUT(k3_decode::args, a_part, 32);
TF_LAYOUT(k3_decode::args, B, 40);
TF_LAYOUT(k3_decode::args, S, 44);
static_assert(sizeof(k3_decode::args) == 48, "size of args");

// Written by tfgen: ropes_combine of tests/specs/ropes.yaml for cdna; read it beside templates/attention/decode.h.
struct k3_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, splits = 1;
    static constexpr int threads = 16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * p.S + token) * 30ll + head * 10 + col, left, o); // !18:5
    }
};
TF_LAYOUT(k3_join_combine::args, a_part, 0);
TF_LAYOUT(k3_join_combine::args, a, 8);
TF_LAYOUT(k3_join_combine::args, B, 16);
TF_LAYOUT(k3_join_combine::args, S, 20);
static_assert(sizeof(k3_join_combine::args) == 24, "size of args");

