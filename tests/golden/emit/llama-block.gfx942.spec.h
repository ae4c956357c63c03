// ---- level none
// Written by tfgen: llama_h of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *attn_norm;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_r;
    };
    template <int V> struct element {
        packed<V> x, attn_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !14:10
        const vec<float, V> attn_norm = load_aligned<V>(p.attn_norm + col); // !16:3
        return {pack(x), pack(attn_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x)); // !26:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_ms = op_div(total, 256.0f); // !26:5
        const float h_me = op_add(h_ms, 1e-05f); // !26:5
        const float h_r = op_rsqrt(h_me); // !26:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_n = op_mul(unpack(e.x), c.h_r); // !26:5
        const vec<float, V> h = op_mul(h_n, unpack(e.attn_norm)); // !26:5
        store_aligned<V>(p.h + row * 256ll + col, h); // !26:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, attn_norm, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, B, 24);
TF_LAYOUT(k0_h::args, S, 28);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: llama_q of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_q {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *q;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.q + row * 256ll + col, product); // !27:5
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

// Written by tfgen: llama_k of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_k {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *k_;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 64, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.k_ + row * 64ll + col, product); // !28:5
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

// Written by tfgen: llama_v of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_v {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 64, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !29:5
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

// Written by tfgen: llama_qr of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k4_qr_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !30:5
struct k4_qr {
    struct args {
        const bf16 *q;
        bf16 *qr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> q, q_far;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !30:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 256ll + col); // !27:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 256ll + rope_partner<32, 32>(col)); // !27:5
        return {pack(q), pack(q_far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<32, 32>(unpack(e.q), unpack(e.q_far), col, c.position, k4_qr_qr_turns); // !30:5
        store_aligned<V>(p.qr + row * 256ll + col, qr); // !30:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_qr::args, q, 0);
TF_LAYOUT(k4_qr::args, qr, 8);
TF_LAYOUT(k4_qr::args, B, 16);
TF_LAYOUT(k4_qr::args, S, 20);
static_assert(sizeof(k4_qr::args) == 24, "size of args");

// Written by tfgen: llama_kr of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k5_kr_kr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !31:5
struct k5_kr {
    struct args {
        const bf16 *k_;
        bf16 *kr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> k_, k__far;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !31:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 64ll + col); // !28:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 64ll + rope_partner<32, 32>(col)); // !28:5
        return {pack(k_), pack(k__far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<32, 32>(unpack(e.k_), unpack(e.k__far), col, c.position, k5_kr_kr_turns); // !31:5
        store_aligned<V>(p.kr + row * 64ll + col, kr); // !31:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_kr::args, k_, 0);
TF_LAYOUT(k5_kr::args, kr, 8);
TF_LAYOUT(k5_kr::args, B, 16);
TF_LAYOUT(k5_kr::args, S, 20);
static_assert(sizeof(k5_kr::args) == 24, "size of args");

// Written by tfgen: llama_attention of specs/llama-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
struct k6_attention {
    struct args {
        const bf16 *qr;
        const bf16 *kr;
        const bf16 *v;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
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
        return p.qr + (batch * p.S + token) * 256ll + head * 32; // !32:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kr + (batch * p.S + key) * 64ll + head * 32; // !32:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 64ll + head * 32; // !32:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 256ll + head * 32 + col, o); // !32:5
    }
};
TF_LAYOUT(k6_attention::args, qr, 0);
TF_LAYOUT(k6_attention::args, kr, 8);
TF_LAYOUT(k6_attention::args, v, 16);
TF_LAYOUT(k6_attention::args, a, 24);
TF_LAYOUT(k6_attention::args, B, 32);
TF_LAYOUT(k6_attention::args, S, 36);
static_assert(sizeof(k6_attention::args) == 40, "size of args");

// Written by tfgen: llama_o of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        bf16 *o_;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_o_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.o_ + row * 256ll + col, product); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k7_o::args, a, 0);
TF_LAYOUT(k7_o::args, packed, 8);
TF_LAYOUT(k7_o::args, o_, 16);
TF_LAYOUT(k7_o::args, B, 24);
TF_LAYOUT(k7_o::args, S, 28);
static_assert(sizeof(k7_o::args) == 32, "size of args");

// Written by tfgen: llama_x1 of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_x1 {
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
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !14:10
        const vec<float, V> o_ = load_aligned<V>(p.o_ + row * 256ll + col); // !33:5
        return {pack(x), pack(o_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1 = op_add(unpack(e.x), unpack(e.o_)); // !34:5
        store_aligned<V>(p.x1 + row * 256ll + col, x1); // !34:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_x1::args, x, 0);
TF_LAYOUT(k8_x1::args, o_, 8);
TF_LAYOUT(k8_x1::args, x1, 16);
TF_LAYOUT(k8_x1::args, B, 24);
TF_LAYOUT(k8_x1::args, S, 28);
static_assert(sizeof(k8_x1::args) == 32, "size of args");

// Written by tfgen: llama_h2 of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k9_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *mlp_norm;
        bf16 *h2;
        int B, S;
    };
    struct context {
        float h2_r;
    };
    template <int V> struct element {
        packed<V> x1, mlp_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + col); // !34:5
        const vec<float, V> mlp_norm = load_aligned<V>(p.mlp_norm + col); // !21:3
        return {pack(x1), pack(mlp_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !36:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x1)); // !36:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_ms = op_div(total, 256.0f); // !36:5
        const float h2_me = op_add(h2_ms, 1e-05f); // !36:5
        const float h2_r = op_rsqrt(h2_me); // !36:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_n = op_mul(unpack(e.x1), c.h2_r); // !36:5
        const vec<float, V> h2 = op_mul(h2_n, unpack(e.mlp_norm)); // !36:5
        store_aligned<V>(p.h2 + row * 256ll + col, h2); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k9_h2::args, x1, 0);
TF_LAYOUT(k9_h2::args, mlp_norm, 8);
TF_LAYOUT(k9_h2::args, h2, 16);
TF_LAYOUT(k9_h2::args, B, 24);
TF_LAYOUT(k9_h2::args, S, 28);
static_assert(sizeof(k9_h2::args) == 32, "size of args");

// Written by tfgen: llama_gate of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k10_gate {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        bf16 *gate;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 704, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h2 + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_gate(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 688 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.gate + row * 688ll + col, product); // !37:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_gate<W, 0>(p, c, row, n, lo, sum, out);
        columns_gate<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k10_gate::args, h2, 0);
TF_LAYOUT(k10_gate::args, packed, 8);
TF_LAYOUT(k10_gate::args, gate, 16);
TF_LAYOUT(k10_gate::args, B, 24);
TF_LAYOUT(k10_gate::args, S, 28);
static_assert(sizeof(k10_gate::args) == 32, "size of args");

// Written by tfgen: llama_up of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k11_up {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        bf16 *up;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 704, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h2 + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_up(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 688 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.up + row * 688ll + col, product); // !38:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_up<W, 0>(p, c, row, n, lo, sum, out);
        columns_up<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k11_up::args, h2, 0);
TF_LAYOUT(k11_up::args, packed, 8);
TF_LAYOUT(k11_up::args, up, 16);
TF_LAYOUT(k11_up::args, B, 24);
TF_LAYOUT(k11_up::args, S, 28);
static_assert(sizeof(k11_up::args) == 32, "size of args");

// Written by tfgen: llama_act of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k12_act {
    struct args {
        const bf16 *gate;
        bf16 *act;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> gate;
    };
    static constexpr int N = 688, threads = 128, team = 128, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> gate = load_aligned<V>(p.gate + row * 688ll + col); // !37:5
        return {pack(gate)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> act = op_silu(unpack(e.gate)); // !39:5
        store_aligned<V>(p.act + row * 688ll + col, act); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k12_act::args, gate, 0);
TF_LAYOUT(k12_act::args, act, 8);
TF_LAYOUT(k12_act::args, B, 16);
TF_LAYOUT(k12_act::args, S, 20);
static_assert(sizeof(k12_act::args) == 24, "size of args");

// Written by tfgen: llama_prod of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k13_prod {
    struct args {
        const bf16 *act;
        const bf16 *up;
        bf16 *prod;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> act, up;
    };
    static constexpr int N = 688, threads = 128, team = 128, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> act = load_aligned<V>(p.act + row * 688ll + col); // !39:5
        const vec<float, V> up = load_aligned<V>(p.up + row * 688ll + col); // !38:5
        return {pack(act), pack(up)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> prod = op_mul(unpack(e.act), unpack(e.up)); // !40:5
        store_aligned<V>(p.prod + row * 688ll + col, prod); // !40:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k13_prod::args, act, 0);
TF_LAYOUT(k13_prod::args, up, 8);
TF_LAYOUT(k13_prod::args, prod, 16);
TF_LAYOUT(k13_prod::args, B, 24);
TF_LAYOUT(k13_prod::args, S, 28);
static_assert(sizeof(k13_prod::args) == 32, "size of args");

// Written by tfgen: llama_down of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k14_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        bf16 *down;
        int B, S;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 48, tile_n = 16, threads = 1024, ahead = 2, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 688;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.prod + row * 688ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_down(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.down + row * 256ll + col, product); // !41:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k14_down::args, prod, 0);
TF_LAYOUT(k14_down::args, packed, 8);
TF_LAYOUT(k14_down::args, down, 16);
TF_LAYOUT(k14_down::args, B, 24);
TF_LAYOUT(k14_down::args, S, 28);
static_assert(sizeof(k14_down::args) == 32, "size of args");

// Written by tfgen: llama_x2 of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k15_x2 {
    struct args {
        const bf16 *x1;
        const bf16 *down;
        bf16 *x2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x1, down;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + col); // !34:5
        const vec<float, V> down = load_aligned<V>(p.down + row * 256ll + col); // !41:5
        return {pack(x1), pack(down)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2 = op_add(unpack(e.x1), unpack(e.down)); // !42:5
        store_aligned<V>(p.x2 + row * 256ll + col, x2); // !42:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k15_x2::args, x1, 0);
TF_LAYOUT(k15_x2::args, down, 8);
TF_LAYOUT(k15_x2::args, x2, 16);
TF_LAYOUT(k15_x2::args, B, 24);
TF_LAYOUT(k15_x2::args, S, 28);
static_assert(sizeof(k15_x2::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: llama_h of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *attn_norm;
        bf16 *h;
        int B, S;
    };
    struct context {
        float h_r;
    };
    template <int V> struct element {
        packed<V> x, attn_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !14:10
        const vec<float, V> attn_norm = load_aligned<V>(p.attn_norm + col); // !16:3
        return {pack(x), pack(attn_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !26:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x)); // !26:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_ms = op_div(total, 256.0f); // !26:5
        const float h_me = op_add(h_ms, 1e-05f); // !26:5
        const float h_r = op_rsqrt(h_me); // !26:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_n = op_mul(unpack(e.x), c.h_r); // !26:5
        const vec<float, V> h = op_mul(h_n, unpack(e.attn_norm)); // !26:5
        store_aligned<V>(p.h + row * 256ll + col, h); // !26:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, attn_norm, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, B, 24);
TF_LAYOUT(k0_h::args, S, 28);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: llama_qkv of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.q + row * 256ll + col, product); // !27:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.k_ + row * 64ll + col, product); // !28:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !29:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 256) {
            columns_q<W, 0>(p, c, row, n, lo, sum, out);
            columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        if (n < 320) {
            columns_k_<W, 0>(p, c, row, n - 256, lo, sum, out);
            columns_k_<W, 1>(p, c, row, n - 256 + granule, hi, sum, out);
            return;
        }
        columns_v<W, 0>(p, c, row, n - 320, lo, sum, out);
        columns_v<W, 1>(p, c, row, n - 320 + granule, hi, sum, out);
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

// Written by tfgen: llama_qr of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k2_qr_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !30:5
struct k2_qr {
    struct args {
        const bf16 *q;
        bf16 *qr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> q, q_far;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !30:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 256ll + col); // !27:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 256ll + rope_partner<32, 32>(col)); // !27:5
        return {pack(q), pack(q_far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<32, 32>(unpack(e.q), unpack(e.q_far), col, c.position, k2_qr_qr_turns); // !30:5
        store_aligned<V>(p.qr + row * 256ll + col, qr); // !30:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_qr::args, q, 0);
TF_LAYOUT(k2_qr::args, qr, 8);
TF_LAYOUT(k2_qr::args, B, 16);
TF_LAYOUT(k2_qr::args, S, 20);
static_assert(sizeof(k2_qr::args) == 24, "size of args");

// Written by tfgen: llama_kr of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k3_kr_kr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !31:5
struct k3_kr {
    struct args {
        const bf16 *k_;
        bf16 *kr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> k_, k__far;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !31:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 64ll + col); // !28:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 64ll + rope_partner<32, 32>(col)); // !28:5
        return {pack(k_), pack(k__far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<32, 32>(unpack(e.k_), unpack(e.k__far), col, c.position, k3_kr_kr_turns); // !31:5
        store_aligned<V>(p.kr + row * 64ll + col, kr); // !31:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_kr::args, k_, 0);
TF_LAYOUT(k3_kr::args, kr, 8);
TF_LAYOUT(k3_kr::args, B, 16);
TF_LAYOUT(k3_kr::args, S, 20);
static_assert(sizeof(k3_kr::args) == 24, "size of args");

// Written by tfgen: llama_attention of specs/llama-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
struct k4_attention {
    struct args {
        const bf16 *qr;
        const bf16 *kr;
        const bf16 *v;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
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
        return p.qr + (batch * p.S + token) * 256ll + head * 32; // !32:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kr + (batch * p.S + key) * 64ll + head * 32; // !32:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 64ll + head * 32; // !32:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 256ll + head * 32 + col, o); // !32:5
    }
};
TF_LAYOUT(k4_attention::args, qr, 0);
TF_LAYOUT(k4_attention::args, kr, 8);
TF_LAYOUT(k4_attention::args, v, 16);
TF_LAYOUT(k4_attention::args, a, 24);
TF_LAYOUT(k4_attention::args, B, 32);
TF_LAYOUT(k4_attention::args, S, 36);
static_assert(sizeof(k4_attention::args) == 40, "size of args");

// Written by tfgen: llama_o of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k5_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        bf16 *x1;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_o_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x = load_aligned<W>(p.x + row * 256ll + col); // !14:10
        const vec<float, W> x1 = op_add(x, product); // !34:5
        out.template put<Slot, W>(p.x1 + row * 256ll + col, x1); // !34:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_o::args, a, 0);
TF_LAYOUT(k5_o::args, packed, 8);
TF_LAYOUT(k5_o::args, x, 16);
TF_LAYOUT(k5_o::args, x1, 24);
TF_LAYOUT(k5_o::args, B, 32);
TF_LAYOUT(k5_o::args, S, 36);
static_assert(sizeof(k5_o::args) == 40, "size of args");

// Written by tfgen: llama_h2 of specs/llama-block.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *mlp_norm;
        bf16 *h2;
        int B, S;
    };
    struct context {
        float h2_r;
    };
    template <int V> struct element {
        packed<V> x1, mlp_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + col); // !34:5
        const vec<float, V> mlp_norm = load_aligned<V>(p.mlp_norm + col); // !21:3
        return {pack(x1), pack(mlp_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !36:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x1)); // !36:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_ms = op_div(total, 256.0f); // !36:5
        const float h2_me = op_add(h2_ms, 1e-05f); // !36:5
        const float h2_r = op_rsqrt(h2_me); // !36:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_n = op_mul(unpack(e.x1), c.h2_r); // !36:5
        const vec<float, V> h2 = op_mul(h2_n, unpack(e.mlp_norm)); // !36:5
        store_aligned<V>(p.h2 + row * 256ll + col, h2); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_h2::args, x1, 0);
TF_LAYOUT(k6_h2::args, mlp_norm, 8);
TF_LAYOUT(k6_h2::args, h2, 16);
TF_LAYOUT(k6_h2::args, B, 24);
TF_LAYOUT(k6_h2::args, S, 28);
static_assert(sizeof(k6_h2::args) == 32, "size of args");

// Written by tfgen: llama_gate_up of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_gate_up {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        bf16 *prod;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 1376, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h2 + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, class Out> DEV static void pairs_gate(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int col = pair;
        const vec<float, W> act = op_silu(lo); // !39:5
        const vec<float, W> prod = op_mul(act, hi); // !40:5
        out.template put<0, W>(p.prod + row * 688ll + col, prod); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        pairs_gate<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k7_gate_up::args, h2, 0);
TF_LAYOUT(k7_gate_up::args, packed, 8);
TF_LAYOUT(k7_gate_up::args, prod, 16);
TF_LAYOUT(k7_gate_up::args, B, 24);
TF_LAYOUT(k7_gate_up::args, S, 28);
static_assert(sizeof(k7_gate_up::args) == 32, "size of args");

// Written by tfgen: llama_down of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k8_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        const bf16 *x1;
        bf16 *x2;
        int B, S;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 48, tile_n = 16, threads = 1024, ahead = 2, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 688;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.prod + row * 688ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_down(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 256ll + col); // !34:5
        const vec<float, W> x2 = op_add(x1, product); // !42:5
        out.template put<Slot, W>(p.x2 + row * 256ll + col, x2); // !42:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k8_down::args, prod, 0);
TF_LAYOUT(k8_down::args, packed, 8);
TF_LAYOUT(k8_down::args, x1, 16);
TF_LAYOUT(k8_down::args, x2, 24);
TF_LAYOUT(k8_down::args, B, 32);
TF_LAYOUT(k8_down::args, S, 36);
static_assert(sizeof(k8_down::args) == 40, "size of args");

// ---- level tile
// Written by tfgen: llama_qkv of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
TF_TABLE unsigned long long k1_qkv_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !30:5
struct k1_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *qr;
        bf16 *kr;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = true;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float q_r;
        int position;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c = {};
        c.position = (row % p.S); // !30:5
        return c;
    }
    DEV static void summed(const args &p, context &c, int batch, int row, float squares)
    {
        const float q_ms = op_div(squares, 256.0f); // !26:5
        const float q_me = op_add(q_ms, 1e-05f); // !26:5
        const float q_r = op_rsqrt(q_me); // !26:5
        c.q_r = q_r;
    }
    template <int W, class Out> DEV static void pairs_q_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const vec<float, W> q = op_mul(lo, c.q_r); // !26:5
        const vec<float, W> q_far = op_mul(hi, c.q_r); // !26:5
        const rope_turn<W> qr_turn = rope_turn_at<W, 16>(pair, c.position, k1_qkv_qr_turns); // !30:5
        const vec<float, W> qr = rope_low(qr_turn, q, q_far); // !30:5
        out.template put<0, W>(p.qr + row * 256ll + col, qr); // !30:5
        const vec<float, W> qr_far = rope_high(qr_turn, q, q_far); // !30:5
        out.template put<1, W>(p.qr + row * 256ll + far, qr_far); // !30:5
    }
    template <int W, class Out> DEV static void pairs_k_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const vec<float, W> k_ = op_mul(lo, c.q_r); // !26:5
        const vec<float, W> k__far = op_mul(hi, c.q_r); // !26:5
        const rope_turn<W> kr_turn = rope_turn_at<W, 16>(pair, c.position, k1_qkv_qr_turns); // !31:5
        const vec<float, W> kr = rope_low(kr_turn, k_, k__far); // !31:5
        out.template put<0, W>(p.kr + row * 64ll + col, kr); // !31:5
        const vec<float, W> kr_far = rope_high(kr_turn, k_, k__far); // !31:5
        out.template put<1, W>(p.kr + row * 64ll + far, kr_far); // !31:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> v = op_mul(product, c.q_r); // !26:5
        out.template put<Slot, W>(p.v + row * 64ll + col, v); // !26:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 256) {
            pairs_q_raw<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
            return;
        }
        if (n < 320) {
            pairs_k_raw<W>(p, c, row, (n - 256) / (2 * granule) * granule + (n - 256) % (2 * granule), lo, hi, sum, out);
            return;
        }
        columns_v_raw<W, 0>(p, c, row, n - 320, lo, sum, out);
        columns_v_raw<W, 1>(p, c, row, n - 320 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, x, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, qr, 16);
TF_LAYOUT(k1_qkv::args, kr, 24);
TF_LAYOUT(k1_qkv::args, v, 32);
TF_LAYOUT(k1_qkv::args, B, 40);
TF_LAYOUT(k1_qkv::args, S, 44);
static_assert(sizeof(k1_qkv::args) == 48, "size of args");

// Written by tfgen: llama_attention of specs/llama-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
struct k2_attention {
    struct args {
        const bf16 *qr;
        const bf16 *kr;
        const bf16 *v;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
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
        return p.qr + (batch * p.S + token) * 256ll + head * 32; // !32:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kr + (batch * p.S + key) * 64ll + head * 32; // !32:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 64ll + head * 32; // !32:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 256ll + head * 32 + col, o); // !32:5
    }
};
TF_LAYOUT(k2_attention::args, qr, 0);
TF_LAYOUT(k2_attention::args, kr, 8);
TF_LAYOUT(k2_attention::args, v, 16);
TF_LAYOUT(k2_attention::args, a, 24);
TF_LAYOUT(k2_attention::args, B, 32);
TF_LAYOUT(k2_attention::args, S, 36);
static_assert(sizeof(k2_attention::args) == 40, "size of args");

// Written by tfgen: llama_o of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        bf16 *x1;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_o_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x = load_aligned<W>(p.x + row * 256ll + col); // !14:10
        const vec<float, W> x1 = op_add(x, product); // !34:5
        out.template put<Slot, W>(p.x1 + row * 256ll + col, x1); // !34:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_o::args, a, 0);
TF_LAYOUT(k3_o::args, packed, 8);
TF_LAYOUT(k3_o::args, x, 16);
TF_LAYOUT(k3_o::args, x1, 24);
TF_LAYOUT(k3_o::args, B, 32);
TF_LAYOUT(k3_o::args, S, 36);
static_assert(sizeof(k3_o::args) == 40, "size of args");

// Written by tfgen: llama_gate_up of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_gate_up {
    struct args {
        const bf16 *x1;
        const bf16 *packed;
        bf16 *prod;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 1376, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = true;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float gate_r;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x1 + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c = {};
        return c;
    }
    DEV static void summed(const args &p, context &c, int batch, int row, float squares)
    {
        const float gate_ms = op_div(squares, 256.0f); // !36:5
        const float gate_me = op_add(gate_ms, 1e-05f); // !36:5
        const float gate_r = op_rsqrt(gate_me); // !36:5
        c.gate_r = gate_r;
    }
    template <int W, class Out> DEV static void pairs_gate_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int col = pair;
        const vec<float, W> gate = op_mul(lo, c.gate_r); // !36:5
        const vec<float, W> act = op_silu(gate); // !39:5
        const vec<float, W> up = op_mul(hi, c.gate_r); // !36:5
        const vec<float, W> prod = op_mul(act, up); // !40:5
        out.template put<0, W>(p.prod + row * 688ll + col, prod); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        pairs_gate_raw<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k4_gate_up::args, x1, 0);
TF_LAYOUT(k4_gate_up::args, packed, 8);
TF_LAYOUT(k4_gate_up::args, prod, 16);
TF_LAYOUT(k4_gate_up::args, B, 24);
TF_LAYOUT(k4_gate_up::args, S, 28);
static_assert(sizeof(k4_gate_up::args) == 32, "size of args");

// Written by tfgen: llama_down of specs/llama-block.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k5_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        const bf16 *x1;
        bf16 *x2;
        int B, S;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 48, tile_n = 16, threads = 1024, ahead = 2, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 688;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.prod + row * 688ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_down(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 256ll + col); // !34:5
        const vec<float, W> x2 = op_add(x1, product); // !42:5
        out.template put<Slot, W>(p.x2 + row * 256ll + col, x2); // !42:5
    }
    template <int W, class Out> DEV static void columns(const args &p, const context &c, int batch, int row, int n, vec<float, W> product, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, product, sum, out);
    }
};
TF_LAYOUT(k5_down::args, prod, 0);
TF_LAYOUT(k5_down::args, packed, 8);
TF_LAYOUT(k5_down::args, x1, 16);
TF_LAYOUT(k5_down::args, x2, 24);
TF_LAYOUT(k5_down::args, B, 32);
TF_LAYOUT(k5_down::args, S, 36);
static_assert(sizeof(k5_down::args) == 40, "size of args");

