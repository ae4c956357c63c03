// ---- level none
// Written by tfgen: gpt2_h of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *ln_1_w;
        const bf16 *ln_1_b;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_mu, h_r;
    };
    template <int V> struct element {
        packed<V> x, ln_1_w, ln_1_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !11:10
        const vec<float, V> ln_1_w = load_aligned<V>(p.ln_1_w + col); // !13:3
        const vec<float, V> ln_1_b = load_aligned<V>(p.ln_1_b + col); // !14:3
        return {pack(x), pack(ln_1_w), pack(ln_1_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x); // !28:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu = op_div(total, 128.0f); // !28:5
        c.h_mu = h_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !28:5
        return op_square(h_c); // !28:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm = op_div(total, 128.0f); // !28:5
        const float h_ve = op_add(h_vm, 1e-05f); // !28:5
        const float h_r = op_rsqrt(h_ve); // !28:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !28:5
        const vec<float, V> h_n = op_mul(h_c, c.h_r); // !28:5
        const vec<float, V> h_t = op_mul(h_n, unpack(e.ln_1_w)); // !28:5
        const vec<float, V> h = op_add(h_t, unpack(e.ln_1_b)); // !28:5
        store_aligned<V>(p.h + row * 128ll + col, h); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, ln_1_w, 8);
TF_LAYOUT(k0_h::args, ln_1_b, 16);
TF_LAYOUT(k0_h::args, h, 24);
TF_LAYOUT(k0_h::args, B, 32);
TF_LAYOUT(k0_h::args, S, 36);
static_assert(sizeof(k0_h::args) == 40, "size of args");

// Written by tfgen: gpt2_qkv of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        const bf16 *b_qkv;
        bf16 *qkv;
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
        return p.h + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_qkv_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_qkv = load_aligned<W>(p.b_qkv + col); // !17:3
        const vec<float, W> qkv = op_add(product, b_qkv); // !29:5
        out.template put<Slot, W>(p.qkv + row * 384ll + col, qkv); // !29:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_qkv_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_qkv_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, h, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, b_qkv, 16);
TF_LAYOUT(k1_qkv::args, qkv, 24);
TF_LAYOUT(k1_qkv::args, B, 32);
TF_LAYOUT(k1_qkv::args, S, 36);
static_assert(sizeof(k1_qkv::args) == 40, "size of args");

// Written by tfgen: gpt2_v of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_v {
    struct args {
        const bf16 *qkv;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> qkv;
    };
    static constexpr int N = 384, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> qkv = load_aligned<V>(p.qkv + row * 384ll + col); // !29:5
        return {pack(qkv)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> q = unpack(e.qkv); // !30:5
        if (col < 128) store_aligned<V>(p.q + row * 128ll + col, q); // !30:5
        const vec<float, V> k__from128 = unpack(e.qkv); // !30:5
        if (col >= 128 && col < 256) store_aligned<V>(p.k_ + row * 128ll + col - 128, k__from128); // !30:5
        const vec<float, V> v_from256 = unpack(e.qkv); // !30:5
        if (col >= 256 && col < 384) store_aligned<V>(p.v + row * 128ll + col - 256, v_from256); // !30:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_v::args, qkv, 0);
TF_LAYOUT(k2_v::args, q, 8);
TF_LAYOUT(k2_v::args, k_, 16);
TF_LAYOUT(k2_v::args, v, 24);
TF_LAYOUT(k2_v::args, B, 32);
TF_LAYOUT(k2_v::args, S, 36);
static_assert(sizeof(k2_v::args) == 40, "size of args");

// Written by tfgen: gpt2_attention of specs/gpt2-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
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
    static constexpr bool causal = true;
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
        return p.q + (batch * p.S + token) * 128ll + head * 32; // !31:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 128ll + head * 32; // !31:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 128ll + head * 32; // !31:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 128ll + head * 32 + col, o); // !31:5
    }
};
TF_LAYOUT(k3_attention::args, q, 0);
TF_LAYOUT(k3_attention::args, k_, 8);
TF_LAYOUT(k3_attention::args, v, 16);
TF_LAYOUT(k3_attention::args, a, 24);
TF_LAYOUT(k3_attention::args, B, 32);
TF_LAYOUT(k3_attention::args, S, 36);
static_assert(sizeof(k3_attention::args) == 40, "size of args");

// Written by tfgen: gpt2_o of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *b_proj;
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
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !20:3
        const vec<float, W> o_ = op_add(product, b_proj); // !32:5
        out.template put<Slot, W>(p.o_ + row * 128ll + col, o_); // !32:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_o::args, a, 0);
TF_LAYOUT(k4_o::args, packed, 8);
TF_LAYOUT(k4_o::args, b_proj, 16);
TF_LAYOUT(k4_o::args, o_, 24);
TF_LAYOUT(k4_o::args, B, 32);
TF_LAYOUT(k4_o::args, S, 36);
static_assert(sizeof(k4_o::args) == 40, "size of args");

// Written by tfgen: gpt2_x1 of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_x1 {
    struct args {
        const bf16 *x;
        const bf16 *o_;
        bf16 *x1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x, o_;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !11:10
        const vec<float, V> o_ = load_aligned<V>(p.o_ + row * 128ll + col); // !32:5
        return {pack(x), pack(o_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1 = op_add(unpack(e.x), unpack(e.o_)); // !33:5
        store_aligned<V>(p.x1 + row * 128ll + col, x1); // !33:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_x1::args, x, 0);
TF_LAYOUT(k5_x1::args, o_, 8);
TF_LAYOUT(k5_x1::args, x1, 16);
TF_LAYOUT(k5_x1::args, B, 24);
TF_LAYOUT(k5_x1::args, S, 28);
static_assert(sizeof(k5_x1::args) == 32, "size of args");

// Written by tfgen: gpt2_h2 of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B, S;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        packed<V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !21:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !22:3
        return {pack(x1), pack(ln_2_w), pack(ln_2_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x1); // !34:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !34:5
        c.h2_mu = h2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !34:5
        return op_square(h2_c); // !34:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !34:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !34:5
        const float h2_r = op_rsqrt(h2_ve); // !34:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !34:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !34:5
        const vec<float, V> h2_t = op_mul(h2_n, unpack(e.ln_2_w)); // !34:5
        const vec<float, V> h2 = op_add(h2_t, unpack(e.ln_2_b)); // !34:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_h2::args, x1, 0);
TF_LAYOUT(k6_h2::args, ln_2_w, 8);
TF_LAYOUT(k6_h2::args, ln_2_b, 16);
TF_LAYOUT(k6_h2::args, h2, 24);
TF_LAYOUT(k6_h2::args, B, 32);
TF_LAYOUT(k6_h2::args, S, 36);
static_assert(sizeof(k6_h2::args) == 40, "size of args");

// Written by tfgen: gpt2_fc of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
        bf16 *fc;
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
        return p.h2 + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_fc_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !24:3
        const vec<float, W> fc = op_add(product, b_fc); // !35:5
        out.template put<Slot, W>(p.fc + row * 512ll + col, fc); // !35:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_fc_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_fc_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k7_fc::args, h2, 0);
TF_LAYOUT(k7_fc::args, packed, 8);
TF_LAYOUT(k7_fc::args, b_fc, 16);
TF_LAYOUT(k7_fc::args, fc, 24);
TF_LAYOUT(k7_fc::args, B, 32);
TF_LAYOUT(k7_fc::args, S, 36);
static_assert(sizeof(k7_fc::args) == 40, "size of args");

// Written by tfgen: gpt2_g of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_g {
    struct args {
        const bf16 *fc;
        bf16 *g;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> fc;
    };
    static constexpr int N = 512, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> fc = load_aligned<V>(p.fc + row * 512ll + col); // !35:5
        return {pack(fc)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> g = op_gelu_tanh(unpack(e.fc)); // !36:5
        store_aligned<V>(p.g + row * 512ll + col, g); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_g::args, fc, 0);
TF_LAYOUT(k8_g::args, g, 8);
TF_LAYOUT(k8_g::args, B, 16);
TF_LAYOUT(k8_g::args, S, 20);
static_assert(sizeof(k8_g::args) == 24, "size of args");

// Written by tfgen: gpt2_m of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
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
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !26:3
        const vec<float, W> m = op_add(product, b_out); // !37:5
        out.template put<Slot, W>(p.m + row * 128ll + col, m); // !37:5
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

// Written by tfgen: gpt2_x2 of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_x2 {
    struct args {
        const bf16 *x1;
        const bf16 *m;
        bf16 *x2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x1, m;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, V> m = load_aligned<V>(p.m + row * 128ll + col); // !37:5
        return {pack(x1), pack(m)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2 = op_add(unpack(e.x1), unpack(e.m)); // !38:5
        store_aligned<V>(p.x2 + row * 128ll + col, x2); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_x2::args, x1, 0);
TF_LAYOUT(k10_x2::args, m, 8);
TF_LAYOUT(k10_x2::args, x2, 16);
TF_LAYOUT(k10_x2::args, B, 24);
TF_LAYOUT(k10_x2::args, S, 28);
static_assert(sizeof(k10_x2::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: gpt2_h of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *ln_1_w;
        const bf16 *ln_1_b;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_mu, h_r;
    };
    template <int V> struct element {
        packed<V> x, ln_1_w, ln_1_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !11:10
        const vec<float, V> ln_1_w = load_aligned<V>(p.ln_1_w + col); // !13:3
        const vec<float, V> ln_1_b = load_aligned<V>(p.ln_1_b + col); // !14:3
        return {pack(x), pack(ln_1_w), pack(ln_1_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x); // !28:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu = op_div(total, 128.0f); // !28:5
        c.h_mu = h_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !28:5
        return op_square(h_c); // !28:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm = op_div(total, 128.0f); // !28:5
        const float h_ve = op_add(h_vm, 1e-05f); // !28:5
        const float h_r = op_rsqrt(h_ve); // !28:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !28:5
        const vec<float, V> h_n = op_mul(h_c, c.h_r); // !28:5
        const vec<float, V> h_t = op_mul(h_n, unpack(e.ln_1_w)); // !28:5
        const vec<float, V> h = op_add(h_t, unpack(e.ln_1_b)); // !28:5
        store_aligned<V>(p.h + row * 128ll + col, h); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, ln_1_w, 8);
TF_LAYOUT(k0_h::args, ln_1_b, 16);
TF_LAYOUT(k0_h::args, h, 24);
TF_LAYOUT(k0_h::args, B, 32);
TF_LAYOUT(k0_h::args, S, 36);
static_assert(sizeof(k0_h::args) == 40, "size of args");

// Written by tfgen: gpt2_qkv of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        const bf16 *b_qkv;
        bf16 *qkv;
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
        return p.h + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_qkv_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_qkv = load_aligned<W>(p.b_qkv + col); // !17:3
        const vec<float, W> qkv = op_add(product, b_qkv); // !29:5
        out.template put<Slot, W>(p.qkv + row * 384ll + col, qkv); // !29:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_qkv_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_qkv_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, h, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, b_qkv, 16);
TF_LAYOUT(k1_qkv::args, qkv, 24);
TF_LAYOUT(k1_qkv::args, B, 32);
TF_LAYOUT(k1_qkv::args, S, 36);
static_assert(sizeof(k1_qkv::args) == 40, "size of args");

// Written by tfgen: gpt2_v of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_v {
    struct args {
        const bf16 *qkv;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> qkv;
    };
    static constexpr int N = 384, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> qkv = load_aligned<V>(p.qkv + row * 384ll + col); // !29:5
        return {pack(qkv)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> q = unpack(e.qkv); // !30:5
        if (col < 128) store_aligned<V>(p.q + row * 128ll + col, q); // !30:5
        const vec<float, V> k__from128 = unpack(e.qkv); // !30:5
        if (col >= 128 && col < 256) store_aligned<V>(p.k_ + row * 128ll + col - 128, k__from128); // !30:5
        const vec<float, V> v_from256 = unpack(e.qkv); // !30:5
        if (col >= 256 && col < 384) store_aligned<V>(p.v + row * 128ll + col - 256, v_from256); // !30:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_v::args, qkv, 0);
TF_LAYOUT(k2_v::args, q, 8);
TF_LAYOUT(k2_v::args, k_, 16);
TF_LAYOUT(k2_v::args, v, 24);
TF_LAYOUT(k2_v::args, B, 32);
TF_LAYOUT(k2_v::args, S, 36);
static_assert(sizeof(k2_v::args) == 40, "size of args");

// Written by tfgen: gpt2_attention of specs/gpt2-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
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
    static constexpr bool causal = true;
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
        return p.q + (batch * p.S + token) * 128ll + head * 32; // !31:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 128ll + head * 32; // !31:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 128ll + head * 32; // !31:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 128ll + head * 32 + col, o); // !31:5
    }
};
TF_LAYOUT(k3_attention::args, q, 0);
TF_LAYOUT(k3_attention::args, k_, 8);
TF_LAYOUT(k3_attention::args, v, 16);
TF_LAYOUT(k3_attention::args, a, 24);
TF_LAYOUT(k3_attention::args, B, 32);
TF_LAYOUT(k3_attention::args, S, 36);
static_assert(sizeof(k3_attention::args) == 40, "size of args");

// Written by tfgen: gpt2_o of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        const bf16 *b_proj;
        bf16 *x1;
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
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !11:10
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !20:3
        const vec<float, W> o_ = op_add(product, b_proj); // !32:5
        const vec<float, W> x1 = op_add(x, o_); // !33:5
        out.template put<Slot, W>(p.x1 + row * 128ll + col, x1); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_o::args, a, 0);
TF_LAYOUT(k4_o::args, packed, 8);
TF_LAYOUT(k4_o::args, x, 16);
TF_LAYOUT(k4_o::args, b_proj, 24);
TF_LAYOUT(k4_o::args, x1, 32);
TF_LAYOUT(k4_o::args, B, 40);
TF_LAYOUT(k4_o::args, S, 44);
static_assert(sizeof(k4_o::args) == 48, "size of args");

// Written by tfgen: gpt2_h2 of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B, S;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        packed<V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !21:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !22:3
        return {pack(x1), pack(ln_2_w), pack(ln_2_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x1); // !34:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !34:5
        c.h2_mu = h2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !34:5
        return op_square(h2_c); // !34:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !34:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !34:5
        const float h2_r = op_rsqrt(h2_ve); // !34:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !34:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !34:5
        const vec<float, V> h2_t = op_mul(h2_n, unpack(e.ln_2_w)); // !34:5
        const vec<float, V> h2 = op_add(h2_t, unpack(e.ln_2_b)); // !34:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_h2::args, x1, 0);
TF_LAYOUT(k5_h2::args, ln_2_w, 8);
TF_LAYOUT(k5_h2::args, ln_2_b, 16);
TF_LAYOUT(k5_h2::args, h2, 24);
TF_LAYOUT(k5_h2::args, B, 32);
TF_LAYOUT(k5_h2::args, S, 36);
static_assert(sizeof(k5_h2::args) == 40, "size of args");

// Written by tfgen: gpt2_fc of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
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
        return p.h2 + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_fc_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !24:3
        const vec<float, W> fc = op_add(product, b_fc); // !35:5
        const vec<float, W> g = op_gelu_tanh(fc); // !36:5
        out.template put<Slot, W>(p.g + row * 512ll + col, g); // !36:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_fc_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_fc_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_fc::args, h2, 0);
TF_LAYOUT(k6_fc::args, packed, 8);
TF_LAYOUT(k6_fc::args, b_fc, 16);
TF_LAYOUT(k6_fc::args, g, 24);
TF_LAYOUT(k6_fc::args, B, 32);
TF_LAYOUT(k6_fc::args, S, 36);
static_assert(sizeof(k6_fc::args) == 40, "size of args");

// Written by tfgen: gpt2_m of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *x1;
        const bf16 *b_out;
        bf16 *x2;
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
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !26:3
        const vec<float, W> m = op_add(product, b_out); // !37:5
        const vec<float, W> x2 = op_add(x1, m); // !38:5
        out.template put<Slot, W>(p.x2 + row * 128ll + col, x2); // !38:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k7_m::args, g, 0);
TF_LAYOUT(k7_m::args, packed, 8);
TF_LAYOUT(k7_m::args, x1, 16);
TF_LAYOUT(k7_m::args, b_out, 24);
TF_LAYOUT(k7_m::args, x2, 32);
TF_LAYOUT(k7_m::args, B, 40);
TF_LAYOUT(k7_m::args, S, 44);
static_assert(sizeof(k7_m::args) == 48, "size of args");

// ---- level tile
// Written by tfgen: gpt2_h of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *ln_1_w;
        const bf16 *ln_1_b;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_mu, h_r;
    };
    template <int V> struct element {
        packed<V> x, ln_1_w, ln_1_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !11:10
        const vec<float, V> ln_1_w = load_aligned<V>(p.ln_1_w + col); // !13:3
        const vec<float, V> ln_1_b = load_aligned<V>(p.ln_1_b + col); // !14:3
        return {pack(x), pack(ln_1_w), pack(ln_1_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x); // !28:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu = op_div(total, 128.0f); // !28:5
        c.h_mu = h_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !28:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !28:5
        return op_square(h_c); // !28:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm = op_div(total, 128.0f); // !28:5
        const float h_ve = op_add(h_vm, 1e-05f); // !28:5
        const float h_r = op_rsqrt(h_ve); // !28:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !28:5
        const vec<float, V> h_n = op_mul(h_c, c.h_r); // !28:5
        const vec<float, V> h_t = op_mul(h_n, unpack(e.ln_1_w)); // !28:5
        const vec<float, V> h = op_add(h_t, unpack(e.ln_1_b)); // !28:5
        store_aligned<V>(p.h + row * 128ll + col, h); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, ln_1_w, 8);
TF_LAYOUT(k0_h::args, ln_1_b, 16);
TF_LAYOUT(k0_h::args, h, 24);
TF_LAYOUT(k0_h::args, B, 32);
TF_LAYOUT(k0_h::args, S, 36);
static_assert(sizeof(k0_h::args) == 40, "size of args");

// Written by tfgen: gpt2_qkv of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        const bf16 *b_qkv;
        bf16 *qkv;
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
        return p.h + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_qkv_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_qkv = load_aligned<W>(p.b_qkv + col); // !17:3
        const vec<float, W> qkv = op_add(product, b_qkv); // !29:5
        out.template put<Slot, W>(p.qkv + row * 384ll + col, qkv); // !29:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_qkv_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_qkv_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, h, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, b_qkv, 16);
TF_LAYOUT(k1_qkv::args, qkv, 24);
TF_LAYOUT(k1_qkv::args, B, 32);
TF_LAYOUT(k1_qkv::args, S, 36);
static_assert(sizeof(k1_qkv::args) == 40, "size of args");

// Written by tfgen: gpt2_attention of specs/gpt2-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
struct k2_attention {
    struct args {
        const bf16 *qkv;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
    static constexpr int block_q = 64, block_k = 64, threads = 128, chiplets = 8;
    static constexpr bool causal = true;
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
        return p.qkv + (batch * p.S + token) * 384ll + head * 32; // !31:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.qkv + (batch * p.S + key) * 384ll + head * 32 + 128; // !31:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.qkv + (batch * p.S + key) * 384ll + head * 32 + 256; // !31:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 128ll + head * 32 + col, o); // !31:5
    }
};
TF_LAYOUT(k2_attention::args, qkv, 0);
TF_LAYOUT(k2_attention::args, a, 8);
TF_LAYOUT(k2_attention::args, B, 16);
TF_LAYOUT(k2_attention::args, S, 20);
static_assert(sizeof(k2_attention::args) == 24, "size of args");

// Written by tfgen: gpt2_o of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        const bf16 *b_proj;
        bf16 *x1;
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
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !11:10
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !20:3
        const vec<float, W> o_ = op_add(product, b_proj); // !32:5
        const vec<float, W> x1 = op_add(x, o_); // !33:5
        out.template put<Slot, W>(p.x1 + row * 128ll + col, x1); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_o::args, a, 0);
TF_LAYOUT(k3_o::args, packed, 8);
TF_LAYOUT(k3_o::args, x, 16);
TF_LAYOUT(k3_o::args, b_proj, 24);
TF_LAYOUT(k3_o::args, x1, 32);
TF_LAYOUT(k3_o::args, B, 40);
TF_LAYOUT(k3_o::args, S, 44);
static_assert(sizeof(k3_o::args) == 48, "size of args");

// Written by tfgen: gpt2_h2 of specs/gpt2-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B, S;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        packed<V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !21:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !22:3
        return {pack(x1), pack(ln_2_w), pack(ln_2_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x1); // !34:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !34:5
        c.h2_mu = h2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !34:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !34:5
        return op_square(h2_c); // !34:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !34:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !34:5
        const float h2_r = op_rsqrt(h2_ve); // !34:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !34:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !34:5
        const vec<float, V> h2_t = op_mul(h2_n, unpack(e.ln_2_w)); // !34:5
        const vec<float, V> h2 = op_add(h2_t, unpack(e.ln_2_b)); // !34:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_h2::args, x1, 0);
TF_LAYOUT(k4_h2::args, ln_2_w, 8);
TF_LAYOUT(k4_h2::args, ln_2_b, 16);
TF_LAYOUT(k4_h2::args, h2, 24);
TF_LAYOUT(k4_h2::args, B, 32);
TF_LAYOUT(k4_h2::args, S, 36);
static_assert(sizeof(k4_h2::args) == 40, "size of args");

// Written by tfgen: gpt2_fc of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k5_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
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
        return p.h2 + row * 128ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_fc_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !24:3
        const vec<float, W> fc = op_add(product, b_fc); // !35:5
        const vec<float, W> g = op_gelu_tanh(fc); // !36:5
        out.template put<Slot, W>(p.g + row * 512ll + col, g); // !36:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_fc_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_fc_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_fc::args, h2, 0);
TF_LAYOUT(k5_fc::args, packed, 8);
TF_LAYOUT(k5_fc::args, b_fc, 16);
TF_LAYOUT(k5_fc::args, g, 24);
TF_LAYOUT(k5_fc::args, B, 32);
TF_LAYOUT(k5_fc::args, S, 36);
static_assert(sizeof(k5_fc::args) == 40, "size of args");

// Written by tfgen: gpt2_m of specs/gpt2-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *x1;
        const bf16 *b_out;
        bf16 *x2;
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
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 128ll + col); // !33:5
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !26:3
        const vec<float, W> m = op_add(product, b_out); // !37:5
        const vec<float, W> x2 = op_add(x1, m); // !38:5
        out.template put<Slot, W>(p.x2 + row * 128ll + col, x2); // !38:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k6_m::args, g, 0);
TF_LAYOUT(k6_m::args, packed, 8);
TF_LAYOUT(k6_m::args, x1, 16);
TF_LAYOUT(k6_m::args, b_out, 24);
TF_LAYOUT(k6_m::args, x2, 32);
TF_LAYOUT(k6_m::args, B, 40);
TF_LAYOUT(k6_m::args, S, 44);
static_assert(sizeof(k6_m::args) == 48, "size of args");

