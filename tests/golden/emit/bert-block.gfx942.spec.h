// ---- level none
// Written by tfgen: bert_q of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_q {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *bq;
        bf16 *q;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bq = load_aligned<W>(p.bq + col); // !15:3
        const vec<float, W> q = op_add(product, bq); // !31:5
        out.template put<Slot, W>(p.q + row * 128ll + col, q); // !31:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_q_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_q_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_q::args, x, 0);
TF_LAYOUT(k0_q::args, packed, 8);
TF_LAYOUT(k0_q::args, bq, 16);
TF_LAYOUT(k0_q::args, q, 24);
TF_LAYOUT(k0_q::args, B, 32);
TF_LAYOUT(k0_q::args, S, 36);
static_assert(sizeof(k0_q::args) == 40, "size of args");

// Written by tfgen: bert_k of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_k {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *bk;
        bf16 *k_;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_k_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bk = load_aligned<W>(p.bk + col); // !17:3
        const vec<float, W> k_ = op_add(product, bk); // !32:5
        out.template put<Slot, W>(p.k_ + row * 128ll + col, k_); // !32:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_k_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_k_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_k::args, x, 0);
TF_LAYOUT(k1_k::args, packed, 8);
TF_LAYOUT(k1_k::args, bk, 16);
TF_LAYOUT(k1_k::args, k_, 24);
TF_LAYOUT(k1_k::args, B, 32);
TF_LAYOUT(k1_k::args, S, 36);
static_assert(sizeof(k1_k::args) == 40, "size of args");

// Written by tfgen: bert_v of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_v {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *bv;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_v_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bv = load_aligned<W>(p.bv + col); // !19:3
        const vec<float, W> v = op_add(product, bv); // !33:5
        out.template put<Slot, W>(p.v + row * 128ll + col, v); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_v_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_v_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_v::args, x, 0);
TF_LAYOUT(k2_v::args, packed, 8);
TF_LAYOUT(k2_v::args, bv, 16);
TF_LAYOUT(k2_v::args, v, 24);
TF_LAYOUT(k2_v::args, B, 32);
TF_LAYOUT(k2_v::args, S, 36);
static_assert(sizeof(k2_v::args) == 40, "size of args");

// Written by tfgen: bert_attention of specs/bert-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
struct k3_attention {
    struct args {
        const bf16 *q;
        const bf16 *k_;
        const bf16 *v;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
    static constexpr int block_q = 64, block_k = 64, threads = 128, chiplets = 8;
    static constexpr bool causal = false;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        return p.S;
    }
    DEV static int position(const args &p, int batch, int token) { return token; }
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * p.S + token) * 128ll + head * 32; // !34:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 128ll + head * 32; // !34:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 128ll + head * 32; // !34:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 128ll + head * 32 + col, o); // !34:5
    }
};
TF_LAYOUT(k3_attention::args, q, 0);
TF_LAYOUT(k3_attention::args, k_, 8);
TF_LAYOUT(k3_attention::args, v, 16);
TF_LAYOUT(k3_attention::args, a, 24);
TF_LAYOUT(k3_attention::args, B, 32);
TF_LAYOUT(k3_attention::args, S, 36);
static_assert(sizeof(k3_attention::args) == 40, "size of args");

// Written by tfgen: bert_o of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *bo;
        bf16 *o_;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_o_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bo = load_aligned<W>(p.bo + col); // !21:3
        const vec<float, W> o_ = op_add(product, bo); // !35:5
        out.template put<Slot, W>(p.o_ + row * 128ll + col, o_); // !35:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_o::args, a, 0);
TF_LAYOUT(k4_o::args, packed, 8);
TF_LAYOUT(k4_o::args, bo, 16);
TF_LAYOUT(k4_o::args, o_, 24);
TF_LAYOUT(k4_o::args, B, 32);
TF_LAYOUT(k4_o::args, S, 36);
static_assert(sizeof(k4_o::args) == 40, "size of args");

// Written by tfgen: bert_s1 of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_s1 {
    struct args {
        const bf16 *o_;
        const bf16 *x;
        bf16 *s1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> o_, x;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> o_ = load_aligned<V>(p.o_ + row * 128ll + col); // !35:5
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !12:10
        return {pack(o_), pack(x)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s1 = op_add(unpack(e.o_), unpack(e.x)); // !36:5
        store_aligned<V>(p.s1 + row * 128ll + col, s1); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_s1::args, o_, 0);
TF_LAYOUT(k5_s1::args, x, 8);
TF_LAYOUT(k5_s1::args, s1, 16);
TF_LAYOUT(k5_s1::args, B, 24);
TF_LAYOUT(k5_s1::args, S, 28);
static_assert(sizeof(k5_s1::args) == 32, "size of args");

// Written by tfgen: bert_x1 of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_x1 {
    struct args {
        const bf16 *s1;
        const bf16 *norm_w;
        const bf16 *norm_b;
        bf16 *x1;
        int B, S;
    };
    struct context {
        float x1_mu, x1_r;
    };
    template <int V> struct element {
        packed<V> s1, norm_w, norm_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s1 = load_aligned<V>(p.s1 + row * 128ll + col); // !36:5
        const vec<float, V> norm_w = load_aligned<V>(p.norm_w + col); // !22:3
        const vec<float, V> norm_b = load_aligned<V>(p.norm_b + col); // !23:3
        return {pack(s1), pack(norm_w), pack(norm_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.s1); // !37:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float x1_mu = op_div(total, 128.0f); // !37:5
        c.x1_mu = x1_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x1_c = op_sub(unpack(e.s1), c.x1_mu); // !37:5
        return op_square(x1_c); // !37:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float x1_vm = op_div(total, 128.0f); // !37:5
        const float x1_ve = op_add(x1_vm, 1e-12f); // !37:5
        const float x1_r = op_rsqrt(x1_ve); // !37:5
        c.x1_r = x1_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1_c = op_sub(unpack(e.s1), c.x1_mu); // !37:5
        const vec<float, V> x1_n = op_mul(x1_c, c.x1_r); // !37:5
        const vec<float, V> x1_t = op_mul(x1_n, unpack(e.norm_w)); // !37:5
        const vec<float, V> x1 = op_add(x1_t, unpack(e.norm_b)); // !37:5
        store_aligned<V>(p.x1 + row * 128ll + col, x1); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_x1::args, s1, 0);
TF_LAYOUT(k6_x1::args, norm_w, 8);
TF_LAYOUT(k6_x1::args, norm_b, 16);
TF_LAYOUT(k6_x1::args, x1, 24);
TF_LAYOUT(k6_x1::args, B, 32);
TF_LAYOUT(k6_x1::args, S, 36);
static_assert(sizeof(k6_x1::args) == 40, "size of args");

// Written by tfgen: bert_i of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_i {
    struct args {
        const bf16 *x1;
        const bf16 *packed;
        const bf16 *b_in;
        bf16 *i_;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x1 + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_i_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_in = load_aligned<W>(p.b_in + col); // !25:3
        const vec<float, W> i_ = op_add(product, b_in); // !38:5
        out.template put<Slot, W>(p.i_ + row * 512ll + col, i_); // !38:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_i_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_i_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k7_i::args, x1, 0);
TF_LAYOUT(k7_i::args, packed, 8);
TF_LAYOUT(k7_i::args, b_in, 16);
TF_LAYOUT(k7_i::args, i_, 24);
TF_LAYOUT(k7_i::args, B, 32);
TF_LAYOUT(k7_i::args, S, 36);
static_assert(sizeof(k7_i::args) == 40, "size of args");

// Written by tfgen: bert_g of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_g {
    struct args {
        const bf16 *i_;
        bf16 *g;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> i_;
    };
    static constexpr int N = 512, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> i_ = load_aligned<V>(p.i_ + row * 512ll + col); // !38:5
        return {pack(i_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> g = near_gelu_erf(unpack(e.i_)); // !39:5
        store_aligned<V>(p.g + row * 512ll + col, g); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_g::args, i_, 0);
TF_LAYOUT(k8_g::args, g, 8);
TF_LAYOUT(k8_g::args, B, 16);
TF_LAYOUT(k8_g::args, S, 20);
static_assert(sizeof(k8_g::args) == 24, "size of args");

// Written by tfgen: bert_m of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k9_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *b_out;
        bf16 *m;
        int B, S;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 48, tile_n = 16, threads = 1024, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 512;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.g + row * 512ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_m_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !27:3
        const vec<float, W> m = op_add(product, b_out); // !40:5
        out.template put<Slot, W>(p.m + row * 128ll + col, m); // !40:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k9_m::args, g, 0);
TF_LAYOUT(k9_m::args, packed, 8);
TF_LAYOUT(k9_m::args, b_out, 16);
TF_LAYOUT(k9_m::args, m, 24);
TF_LAYOUT(k9_m::args, B, 32);
TF_LAYOUT(k9_m::args, S, 36);
static_assert(sizeof(k9_m::args) == 40, "size of args");

// Written by tfgen: bert_s2 of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_s2 {
    struct args {
        const bf16 *m;
        const bf16 *x1;
        bf16 *s2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> m, x1;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> m = load_aligned<V>(p.m + row * 128ll + col); // !40:5
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !37:5
        return {pack(m), pack(x1)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s2 = op_add(unpack(e.m), unpack(e.x1)); // !41:5
        store_aligned<V>(p.s2 + row * 128ll + col, s2); // !41:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_s2::args, m, 0);
TF_LAYOUT(k10_s2::args, x1, 8);
TF_LAYOUT(k10_s2::args, s2, 16);
TF_LAYOUT(k10_s2::args, B, 24);
TF_LAYOUT(k10_s2::args, S, 28);
static_assert(sizeof(k10_s2::args) == 32, "size of args");

// Written by tfgen: bert_x2 of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k11_x2 {
    struct args {
        const bf16 *s2;
        const bf16 *last_w;
        const bf16 *last_b;
        bf16 *x2;
        int B, S;
    };
    struct context {
        float x2_mu, x2_r;
    };
    template <int V> struct element {
        packed<V> s2, last_w, last_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s2 = load_aligned<V>(p.s2 + row * 128ll + col); // !41:5
        const vec<float, V> last_w = load_aligned<V>(p.last_w + col); // !28:3
        const vec<float, V> last_b = load_aligned<V>(p.last_b + col); // !29:3
        return {pack(s2), pack(last_w), pack(last_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.s2); // !42:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float x2_mu = op_div(total, 128.0f); // !42:5
        c.x2_mu = x2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x2_c = op_sub(unpack(e.s2), c.x2_mu); // !42:5
        return op_square(x2_c); // !42:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float x2_vm = op_div(total, 128.0f); // !42:5
        const float x2_ve = op_add(x2_vm, 1e-12f); // !42:5
        const float x2_r = op_rsqrt(x2_ve); // !42:5
        c.x2_r = x2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2_c = op_sub(unpack(e.s2), c.x2_mu); // !42:5
        const vec<float, V> x2_n = op_mul(x2_c, c.x2_r); // !42:5
        const vec<float, V> x2_t = op_mul(x2_n, unpack(e.last_w)); // !42:5
        const vec<float, V> x2 = op_add(x2_t, unpack(e.last_b)); // !42:5
        store_aligned<V>(p.x2 + row * 128ll + col, x2); // !42:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k11_x2::args, s2, 0);
TF_LAYOUT(k11_x2::args, last_w, 8);
TF_LAYOUT(k11_x2::args, last_b, 16);
TF_LAYOUT(k11_x2::args, x2, 24);
TF_LAYOUT(k11_x2::args, B, 32);
TF_LAYOUT(k11_x2::args, S, 36);
static_assert(sizeof(k11_x2::args) == 40, "size of args");

// ---- level ops
// Written by tfgen: bert_qkv of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *bq;
        bf16 *q;
        const bf16 *bk;
        bf16 *k_;
        const bf16 *bv;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 384, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bq = load_aligned<W>(p.bq + col); // !15:3
        const vec<float, W> q = op_add(product, bq); // !31:5
        out.template put<Slot, W>(p.q + row * 128ll + col, q); // !31:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bk = load_aligned<W>(p.bk + col); // !17:3
        const vec<float, W> k_ = op_add(product, bk); // !32:5
        out.template put<Slot, W>(p.k_ + row * 128ll + col, k_); // !32:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bv = load_aligned<W>(p.bv + col); // !19:3
        const vec<float, W> v = op_add(product, bv); // !33:5
        out.template put<Slot, W>(p.v + row * 128ll + col, v); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 128) {
            columns_q_l<W, 0>(p, c, row, n, lo, sum, out);
            columns_q_l<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        if (n < 256) {
            columns_k_l<W, 0>(p, c, row, n - 128, lo, sum, out);
            columns_k_l<W, 1>(p, c, row, n - 128 + granule, hi, sum, out);
            return;
        }
        columns_v_l<W, 0>(p, c, row, n - 256, lo, sum, out);
        columns_v_l<W, 1>(p, c, row, n - 256 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_qkv::args, x, 0);
TF_LAYOUT(k0_qkv::args, packed, 8);
TF_LAYOUT(k0_qkv::args, bq, 16);
TF_LAYOUT(k0_qkv::args, q, 24);
TF_LAYOUT(k0_qkv::args, bk, 32);
TF_LAYOUT(k0_qkv::args, k_, 40);
TF_LAYOUT(k0_qkv::args, bv, 48);
TF_LAYOUT(k0_qkv::args, v, 56);
TF_LAYOUT(k0_qkv::args, B, 64);
TF_LAYOUT(k0_qkv::args, S, 68);
static_assert(sizeof(k0_qkv::args) == 72, "size of args");

// Written by tfgen: bert_attention of specs/bert-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
struct k1_attention {
    struct args {
        const bf16 *q;
        const bf16 *k_;
        const bf16 *v;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
    static constexpr int block_q = 64, block_k = 64, threads = 128, chiplets = 8;
    static constexpr bool causal = false;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        return p.S;
    }
    DEV static int position(const args &p, int batch, int token) { return token; }
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * p.S + token) * 128ll + head * 32; // !34:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 128ll + head * 32; // !34:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 128ll + head * 32; // !34:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 128ll + head * 32 + col, o); // !34:5
    }
};
TF_LAYOUT(k1_attention::args, q, 0);
TF_LAYOUT(k1_attention::args, k_, 8);
TF_LAYOUT(k1_attention::args, v, 16);
TF_LAYOUT(k1_attention::args, a, 24);
TF_LAYOUT(k1_attention::args, B, 32);
TF_LAYOUT(k1_attention::args, S, 36);
static_assert(sizeof(k1_attention::args) == 40, "size of args");

// Written by tfgen: bert_o of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *bo;
        const bf16 *x;
        bf16 *s1;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_o_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bo = load_aligned<W>(p.bo + col); // !21:3
        const vec<float, W> o_ = op_add(product, bo); // !35:5
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !12:10
        const vec<float, W> s1 = op_add(o_, x); // !36:5
        out.template put<Slot, W>(p.s1 + row * 128ll + col, s1); // !36:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_o::args, a, 0);
TF_LAYOUT(k2_o::args, packed, 8);
TF_LAYOUT(k2_o::args, bo, 16);
TF_LAYOUT(k2_o::args, x, 24);
TF_LAYOUT(k2_o::args, s1, 32);
TF_LAYOUT(k2_o::args, B, 40);
TF_LAYOUT(k2_o::args, S, 44);
static_assert(sizeof(k2_o::args) == 48, "size of args");

// Written by tfgen: bert_x1 of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_x1 {
    struct args {
        const bf16 *s1;
        const bf16 *norm_w;
        const bf16 *norm_b;
        bf16 *x1;
        int B, S;
    };
    struct context {
        float x1_mu, x1_r;
    };
    template <int V> struct element {
        packed<V> s1, norm_w, norm_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s1 = load_aligned<V>(p.s1 + row * 128ll + col); // !36:5
        const vec<float, V> norm_w = load_aligned<V>(p.norm_w + col); // !22:3
        const vec<float, V> norm_b = load_aligned<V>(p.norm_b + col); // !23:3
        return {pack(s1), pack(norm_w), pack(norm_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.s1); // !37:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float x1_mu = op_div(total, 128.0f); // !37:5
        c.x1_mu = x1_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !37:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x1_c = op_sub(unpack(e.s1), c.x1_mu); // !37:5
        return op_square(x1_c); // !37:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float x1_vm = op_div(total, 128.0f); // !37:5
        const float x1_ve = op_add(x1_vm, 1e-12f); // !37:5
        const float x1_r = op_rsqrt(x1_ve); // !37:5
        c.x1_r = x1_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1_c = op_sub(unpack(e.s1), c.x1_mu); // !37:5
        const vec<float, V> x1_n = op_mul(x1_c, c.x1_r); // !37:5
        const vec<float, V> x1_t = op_mul(x1_n, unpack(e.norm_w)); // !37:5
        const vec<float, V> x1 = op_add(x1_t, unpack(e.norm_b)); // !37:5
        store_aligned<V>(p.x1 + row * 128ll + col, x1); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_x1::args, s1, 0);
TF_LAYOUT(k3_x1::args, norm_w, 8);
TF_LAYOUT(k3_x1::args, norm_b, 16);
TF_LAYOUT(k3_x1::args, x1, 24);
TF_LAYOUT(k3_x1::args, B, 32);
TF_LAYOUT(k3_x1::args, S, 36);
static_assert(sizeof(k3_x1::args) == 40, "size of args");

// Written by tfgen: bert_i of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_i {
    struct args {
        const bf16 *x1;
        const bf16 *packed;
        const bf16 *b_in;
        bf16 *g;
        int B, S;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 256, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x1 + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_i_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_in = load_aligned<W>(p.b_in + col); // !25:3
        const vec<float, W> i_ = op_add(product, b_in); // !38:5
        const vec<float, W> g = op_gelu_erf(i_); // !39:5
        out.template put<Slot, W>(p.g + row * 512ll + col, g); // !39:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_i_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_i_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_i::args, x1, 0);
TF_LAYOUT(k4_i::args, packed, 8);
TF_LAYOUT(k4_i::args, b_in, 16);
TF_LAYOUT(k4_i::args, g, 24);
TF_LAYOUT(k4_i::args, B, 32);
TF_LAYOUT(k4_i::args, S, 36);
static_assert(sizeof(k4_i::args) == 40, "size of args");

// Written by tfgen: bert_m of specs/bert-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k5_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *b_out;
        const bf16 *x1;
        bf16 *s2;
        int B, S;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 48, tile_n = 16, threads = 1024, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 512;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.g + row * 512ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_m_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !27:3
        const vec<float, W> m = op_add(product, b_out); // !40:5
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 128ll + col); // !37:5
        const vec<float, W> s2 = op_add(m, x1); // !41:5
        out.template put<Slot, W>(p.s2 + row * 128ll + col, s2); // !41:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k5_m::args, g, 0);
TF_LAYOUT(k5_m::args, packed, 8);
TF_LAYOUT(k5_m::args, b_out, 16);
TF_LAYOUT(k5_m::args, x1, 24);
TF_LAYOUT(k5_m::args, s2, 32);
TF_LAYOUT(k5_m::args, B, 40);
TF_LAYOUT(k5_m::args, S, 44);
static_assert(sizeof(k5_m::args) == 48, "size of args");

// Written by tfgen: bert_x2 of specs/bert-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_x2 {
    struct args {
        const bf16 *s2;
        const bf16 *last_w;
        const bf16 *last_b;
        bf16 *x2;
        int B, S;
    };
    struct context {
        float x2_mu, x2_r;
    };
    template <int V> struct element {
        packed<V> s2, last_w, last_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> s2 = load_aligned<V>(p.s2 + row * 128ll + col); // !41:5
        const vec<float, V> last_w = load_aligned<V>(p.last_w + col); // !28:3
        const vec<float, V> last_b = load_aligned<V>(p.last_b + col); // !29:3
        return {pack(s2), pack(last_w), pack(last_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.s2); // !42:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float x2_mu = op_div(total, 128.0f); // !42:5
        c.x2_mu = x2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !42:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> x2_c = op_sub(unpack(e.s2), c.x2_mu); // !42:5
        return op_square(x2_c); // !42:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float x2_vm = op_div(total, 128.0f); // !42:5
        const float x2_ve = op_add(x2_vm, 1e-12f); // !42:5
        const float x2_r = op_rsqrt(x2_ve); // !42:5
        c.x2_r = x2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2_c = op_sub(unpack(e.s2), c.x2_mu); // !42:5
        const vec<float, V> x2_n = op_mul(x2_c, c.x2_r); // !42:5
        const vec<float, V> x2_t = op_mul(x2_n, unpack(e.last_w)); // !42:5
        const vec<float, V> x2 = op_add(x2_t, unpack(e.last_b)); // !42:5
        store_aligned<V>(p.x2 + row * 128ll + col, x2); // !42:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_x2::args, s2, 0);
TF_LAYOUT(k6_x2::args, last_w, 8);
TF_LAYOUT(k6_x2::args, last_b, 16);
TF_LAYOUT(k6_x2::args, x2, 24);
TF_LAYOUT(k6_x2::args, B, 32);
TF_LAYOUT(k6_x2::args, S, 36);
static_assert(sizeof(k6_x2::args) == 40, "size of args");

// ---- level tile: as the one before
