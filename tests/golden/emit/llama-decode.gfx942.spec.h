// ---- level none
// Written by tfgen: llama_decode_h of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *attn_norm;
        bf16 *h;
        int B;
    };
    struct context {
        float h_r;
    };
    template <int V> struct element {
        packed<V> x, attn_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !15:3
        const vec<float, V> attn_norm = load_aligned<V>(p.attn_norm + col); // !20:3
        return {pack(x), pack(attn_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x)); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_ms = op_div(total, 256.0f); // !33:5
        const float h_me = op_add(h_ms, 1e-05f); // !33:5
        const float h_r = op_rsqrt(h_me); // !33:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_n = op_mul(unpack(e.x), c.h_r); // !33:5
        const vec<float, V> h = op_mul(h_n, unpack(e.attn_norm)); // !33:5
        store_aligned<V>(p.h + row * 256ll + col, h); // !33:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, attn_norm, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, B, 24);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: llama_decode_q of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_q {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *q;
        int B;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.q + row * 256ll + col, product); // !34:5
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
static_assert(sizeof(k1_q::args) == 32, "size of args");

// Written by tfgen: llama_decode_k of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_k {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *k_;
        int B;
    };
    static constexpr int K = 256, packed_n = 64, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.k_ + row * 64ll + col, product); // !35:5
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
static_assert(sizeof(k2_k::args) == 32, "size of args");

// Written by tfgen: llama_decode_v of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_v {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *v;
        int B;
    };
    static constexpr int K = 256, packed_n = 64, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !36:5
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
static_assert(sizeof(k3_v::args) == 32, "size of args");

// Written by tfgen: llama_decode_qr of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k4_qr_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !37:5
struct k4_qr {
    struct args {
        const int *pos;
        const bf16 *q;
        bf16 *qr;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> q, q_far;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 256ll + col); // !34:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 256ll + rope_partner<32, 32>(col)); // !34:5
        return {pack(q), pack(q_far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<32, 32>(unpack(e.q), unpack(e.q_far), col, c.position, k4_qr_qr_turns); // !37:5
        store_aligned<V>(p.qr + row * 256ll + col, qr); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_qr::args, pos, 0);
TF_LAYOUT(k4_qr::args, q, 8);
TF_LAYOUT(k4_qr::args, qr, 16);
TF_LAYOUT(k4_qr::args, B, 24);
static_assert(sizeof(k4_qr::args) == 32, "size of args");

// Written by tfgen: llama_decode_kr of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k5_kr_kr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !38:5
struct k5_kr {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kr;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> k_, k__far;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !38:5
        c.position = p.pos[c.sequence]; // !38:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 64ll + col); // !35:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 64ll + rope_partner<32, 32>(col)); // !35:5
        return {pack(k_), pack(k__far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<32, 32>(unpack(e.k_), unpack(e.k__far), col, c.position, k5_kr_kr_turns); // !38:5
        store_aligned<V>(p.kr + row * 64ll + col, kr); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_kr::args, pos, 0);
TF_LAYOUT(k5_kr::args, k_, 8);
TF_LAYOUT(k5_kr::args, kr, 16);
TF_LAYOUT(k5_kr::args, B, 24);
static_assert(sizeof(k5_kr::args) == 32, "size of args");

// Written by tfgen: llama_decode_kc of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_kc {
    struct args {
        const int *pos;
        const bf16 *kr;
        bf16 *k_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> kr;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !39:5
        c.position = p.pos[c.sequence]; // !39:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> kr = load_aligned<V>(p.kr + row * 64ll + col); // !38:5
        return {pack(kr)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.k_cache + ((c.sequence * 2ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.kr)); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_kc::args, pos, 0);
TF_LAYOUT(k6_kc::args, kr, 8);
TF_LAYOUT(k6_kc::args, k_cache, 16);
TF_LAYOUT(k6_kc::args, B, 24);
static_assert(sizeof(k6_kc::args) == 32, "size of args");

// Written by tfgen: llama_decode_vc of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !40:5
        c.position = p.pos[c.sequence]; // !40:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 64ll + col); // !36:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.v_cache + ((c.sequence * 2ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.v)); // !40:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_vc::args, pos, 0);
TF_LAYOUT(k7_vc::args, v, 8);
TF_LAYOUT(k7_vc::args, v_cache, 16);
TF_LAYOUT(k7_vc::args, B, 24);
static_assert(sizeof(k7_vc::args) == 32, "size of args");

// Written by tfgen: llama_decode_decode of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k8_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 1, most = 64; // !41:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * 1 + token) * 256ll + head * 32; // !41:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
};
TF_LAYOUT(k8_decode::args, pos, 0);
TF_LAYOUT(k8_decode::args, qr, 8);
TF_LAYOUT(k8_decode::args, k_cache, 16);
TF_LAYOUT(k8_decode::args, v_cache, 24);
TF_LAYOUT(k8_decode::args, a_part, 32);
TF_LAYOUT(k8_decode::args, B, 40);
static_assert(sizeof(k8_decode::args) == 48, "size of args");

// Written by tfgen: llama_decode_combine of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k8_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 1 + token) * 256ll + head * 32 + col, left, o); // !41:5
    }
};
TF_LAYOUT(k8_join_combine::args, a_part, 0);
TF_LAYOUT(k8_join_combine::args, a, 8);
TF_LAYOUT(k8_join_combine::args, B, 16);
static_assert(sizeof(k8_join_combine::args) == 24, "size of args");

// Written by tfgen: llama_decode_o of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k9_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        bf16 *o_;
        int B;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.o_ + row * 256ll + col, product); // !42:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k9_o::args, a, 0);
TF_LAYOUT(k9_o::args, packed, 8);
TF_LAYOUT(k9_o::args, o_, 16);
TF_LAYOUT(k9_o::args, B, 24);
static_assert(sizeof(k9_o::args) == 32, "size of args");

// Written by tfgen: llama_decode_x1 of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_x1 {
    struct args {
        const bf16 *x;
        const bf16 *o_;
        bf16 *x1;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x, o_;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !15:3
        const vec<float, V> o_ = load_aligned<V>(p.o_ + row * 256ll + col); // !42:5
        return {pack(x), pack(o_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1 = op_add(unpack(e.x), unpack(e.o_)); // !43:5
        store_aligned<V>(p.x1 + row * 256ll + col, x1); // !43:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_x1::args, x, 0);
TF_LAYOUT(k10_x1::args, o_, 8);
TF_LAYOUT(k10_x1::args, x1, 16);
TF_LAYOUT(k10_x1::args, B, 24);
static_assert(sizeof(k10_x1::args) == 32, "size of args");

// Written by tfgen: llama_decode_h2 of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k11_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *mlp_norm;
        bf16 *h2;
        int B;
    };
    struct context {
        float h2_r;
    };
    template <int V> struct element {
        packed<V> x1, mlp_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + col); // !43:5
        const vec<float, V> mlp_norm = load_aligned<V>(p.mlp_norm + col); // !25:3
        return {pack(x1), pack(mlp_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !45:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x1)); // !45:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_ms = op_div(total, 256.0f); // !45:5
        const float h2_me = op_add(h2_ms, 1e-05f); // !45:5
        const float h2_r = op_rsqrt(h2_me); // !45:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_n = op_mul(unpack(e.x1), c.h2_r); // !45:5
        const vec<float, V> h2 = op_mul(h2_n, unpack(e.mlp_norm)); // !45:5
        store_aligned<V>(p.h2 + row * 256ll + col, h2); // !45:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k11_h2::args, x1, 0);
TF_LAYOUT(k11_h2::args, mlp_norm, 8);
TF_LAYOUT(k11_h2::args, h2, 16);
TF_LAYOUT(k11_h2::args, B, 24);
static_assert(sizeof(k11_h2::args) == 32, "size of args");

// Written by tfgen: llama_decode_gate of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k12_gate {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        bf16 *gate;
        int B;
    };
    static constexpr int K = 256, packed_n = 704, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.gate + row * 688ll + col, product); // !46:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_gate<W, 0>(p, c, row, n, lo, sum, out);
        columns_gate<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k12_gate::args, h2, 0);
TF_LAYOUT(k12_gate::args, packed, 8);
TF_LAYOUT(k12_gate::args, gate, 16);
TF_LAYOUT(k12_gate::args, B, 24);
static_assert(sizeof(k12_gate::args) == 32, "size of args");

// Written by tfgen: llama_decode_up of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k13_up {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        bf16 *up;
        int B;
    };
    static constexpr int K = 256, packed_n = 704, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.up + row * 688ll + col, product); // !47:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_up<W, 0>(p, c, row, n, lo, sum, out);
        columns_up<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k13_up::args, h2, 0);
TF_LAYOUT(k13_up::args, packed, 8);
TF_LAYOUT(k13_up::args, up, 16);
TF_LAYOUT(k13_up::args, B, 24);
static_assert(sizeof(k13_up::args) == 32, "size of args");

// Written by tfgen: llama_decode_act of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k14_act {
    struct args {
        const bf16 *gate;
        bf16 *act;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> gate;
    };
    static constexpr int N = 688, threads = 128, team = 128, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> gate = load_aligned<V>(p.gate + row * 688ll + col); // !46:5
        return {pack(gate)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> act = op_silu(unpack(e.gate)); // !48:5
        store_aligned<V>(p.act + row * 688ll + col, act); // !48:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k14_act::args, gate, 0);
TF_LAYOUT(k14_act::args, act, 8);
TF_LAYOUT(k14_act::args, B, 16);
static_assert(sizeof(k14_act::args) == 24, "size of args");

// Written by tfgen: llama_decode_prod of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k15_prod {
    struct args {
        const bf16 *act;
        const bf16 *up;
        bf16 *prod;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> act, up;
    };
    static constexpr int N = 688, threads = 128, team = 128, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> act = load_aligned<V>(p.act + row * 688ll + col); // !48:5
        const vec<float, V> up = load_aligned<V>(p.up + row * 688ll + col); // !47:5
        return {pack(act), pack(up)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> prod = op_mul(unpack(e.act), unpack(e.up)); // !49:5
        store_aligned<V>(p.prod + row * 688ll + col, prod); // !49:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k15_prod::args, act, 0);
TF_LAYOUT(k15_prod::args, up, 8);
TF_LAYOUT(k15_prod::args, prod, 16);
TF_LAYOUT(k15_prod::args, B, 24);
static_assert(sizeof(k15_prod::args) == 32, "size of args");

// Written by tfgen: llama_decode_down of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k16_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        bf16 *down;
        int B;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 1024, ahead = 2, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 688;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.down + row * 256ll + col, product); // !50:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, lo, sum, out);
        columns_down<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k16_down::args, prod, 0);
TF_LAYOUT(k16_down::args, packed, 8);
TF_LAYOUT(k16_down::args, down, 16);
TF_LAYOUT(k16_down::args, B, 24);
static_assert(sizeof(k16_down::args) == 32, "size of args");

// Written by tfgen: llama_decode_x2 of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k17_x2 {
    struct args {
        const bf16 *x1;
        const bf16 *down;
        bf16 *x2;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x1, down;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + col); // !43:5
        const vec<float, V> down = load_aligned<V>(p.down + row * 256ll + col); // !50:5
        return {pack(x1), pack(down)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2 = op_add(unpack(e.x1), unpack(e.down)); // !51:5
        store_aligned<V>(p.x2 + row * 256ll + col, x2); // !51:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k17_x2::args, x1, 0);
TF_LAYOUT(k17_x2::args, down, 8);
TF_LAYOUT(k17_x2::args, x2, 16);
TF_LAYOUT(k17_x2::args, B, 24);
static_assert(sizeof(k17_x2::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: llama_decode_h of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *attn_norm;
        bf16 *h;
        int B;
    };
    struct context {
        float h_r;
    };
    template <int V> struct element {
        packed<V> x, attn_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 256ll + col); // !15:3
        const vec<float, V> attn_norm = load_aligned<V>(p.attn_norm + col); // !20:3
        return {pack(x), pack(attn_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x)); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_ms = op_div(total, 256.0f); // !33:5
        const float h_me = op_add(h_ms, 1e-05f); // !33:5
        const float h_r = op_rsqrt(h_me); // !33:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_n = op_mul(unpack(e.x), c.h_r); // !33:5
        const vec<float, V> h = op_mul(h_n, unpack(e.attn_norm)); // !33:5
        store_aligned<V>(p.h + row * 256ll + col, h); // !33:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_h::args, x, 0);
TF_LAYOUT(k0_h::args, attn_norm, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, B, 24);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: llama_decode_qkv of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        out.template put<Slot, W>(p.q + row * 256ll + col, product); // !34:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.k_ + row * 64ll + col, product); // !35:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !36:5
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
static_assert(sizeof(k1_qkv::args) == 48, "size of args");

// Written by tfgen: llama_decode_qr of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k2_qr_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !37:5
struct k2_qr {
    struct args {
        const int *pos;
        const bf16 *q;
        bf16 *qr;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> q, q_far;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 256ll + col); // !34:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 256ll + rope_partner<32, 32>(col)); // !34:5
        return {pack(q), pack(q_far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<32, 32>(unpack(e.q), unpack(e.q_far), col, c.position, k2_qr_qr_turns); // !37:5
        store_aligned<V>(p.qr + row * 256ll + col, qr); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_qr::args, pos, 0);
TF_LAYOUT(k2_qr::args, q, 8);
TF_LAYOUT(k2_qr::args, qr, 16);
TF_LAYOUT(k2_qr::args, B, 24);
static_assert(sizeof(k2_qr::args) == 32, "size of args");

// Written by tfgen: llama_decode_kr of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k3_kr_kr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !38:5
struct k3_kr {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kr;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> k_, k__far;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !38:5
        c.position = p.pos[c.sequence]; // !38:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 64ll + col); // !35:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 64ll + rope_partner<32, 32>(col)); // !35:5
        return {pack(k_), pack(k__far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<32, 32>(unpack(e.k_), unpack(e.k__far), col, c.position, k3_kr_kr_turns); // !38:5
        store_aligned<V>(p.kr + row * 64ll + col, kr); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_kr::args, pos, 0);
TF_LAYOUT(k3_kr::args, k_, 8);
TF_LAYOUT(k3_kr::args, kr, 16);
TF_LAYOUT(k3_kr::args, B, 24);
static_assert(sizeof(k3_kr::args) == 32, "size of args");

// Written by tfgen: llama_decode_kc of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_kc {
    struct args {
        const int *pos;
        const bf16 *kr;
        bf16 *k_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> kr;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !39:5
        c.position = p.pos[c.sequence]; // !39:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> kr = load_aligned<V>(p.kr + row * 64ll + col); // !38:5
        return {pack(kr)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.k_cache + ((c.sequence * 2ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.kr)); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_kc::args, pos, 0);
TF_LAYOUT(k4_kc::args, kr, 8);
TF_LAYOUT(k4_kc::args, k_cache, 16);
TF_LAYOUT(k4_kc::args, B, 24);
static_assert(sizeof(k4_kc::args) == 32, "size of args");

// Written by tfgen: llama_decode_vc of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !40:5
        c.position = p.pos[c.sequence]; // !40:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 64ll + col); // !36:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.v_cache + ((c.sequence * 2ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.v)); // !40:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_vc::args, pos, 0);
TF_LAYOUT(k5_vc::args, v, 8);
TF_LAYOUT(k5_vc::args, v_cache, 16);
TF_LAYOUT(k5_vc::args, B, 24);
static_assert(sizeof(k5_vc::args) == 32, "size of args");

// Written by tfgen: llama_decode_decode of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k6_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 1, most = 64; // !41:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * 1 + token) * 256ll + head * 32; // !41:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
};
TF_LAYOUT(k6_decode::args, pos, 0);
TF_LAYOUT(k6_decode::args, qr, 8);
TF_LAYOUT(k6_decode::args, k_cache, 16);
TF_LAYOUT(k6_decode::args, v_cache, 24);
TF_LAYOUT(k6_decode::args, a_part, 32);
TF_LAYOUT(k6_decode::args, B, 40);
static_assert(sizeof(k6_decode::args) == 48, "size of args");

// Written by tfgen: llama_decode_combine of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k6_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 1 + token) * 256ll + head * 32 + col, left, o); // !41:5
    }
};
TF_LAYOUT(k6_join_combine::args, a_part, 0);
TF_LAYOUT(k6_join_combine::args, a, 8);
TF_LAYOUT(k6_join_combine::args, B, 16);
static_assert(sizeof(k6_join_combine::args) == 24, "size of args");

// Written by tfgen: llama_decode_o of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        bf16 *x1;
        int B;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x = load_aligned<W>(p.x + row * 256ll + col); // !15:3
        const vec<float, W> x1 = op_add(x, product); // !43:5
        out.template put<Slot, W>(p.x1 + row * 256ll + col, x1); // !43:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k7_o::args, a, 0);
TF_LAYOUT(k7_o::args, packed, 8);
TF_LAYOUT(k7_o::args, x, 16);
TF_LAYOUT(k7_o::args, x1, 24);
TF_LAYOUT(k7_o::args, B, 32);
static_assert(sizeof(k7_o::args) == 40, "size of args");

// Written by tfgen: llama_decode_h2 of specs/llama-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *mlp_norm;
        bf16 *h2;
        int B;
    };
    struct context {
        float h2_r;
    };
    template <int V> struct element {
        packed<V> x1, mlp_norm;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 1;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 256ll + col); // !43:5
        const vec<float, V> mlp_norm = load_aligned<V>(p.mlp_norm + col); // !25:3
        return {pack(x1), pack(mlp_norm)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !45:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(unpack(e.x1)); // !45:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_ms = op_div(total, 256.0f); // !45:5
        const float h2_me = op_add(h2_ms, 1e-05f); // !45:5
        const float h2_r = op_rsqrt(h2_me); // !45:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_n = op_mul(unpack(e.x1), c.h2_r); // !45:5
        const vec<float, V> h2 = op_mul(h2_n, unpack(e.mlp_norm)); // !45:5
        store_aligned<V>(p.h2 + row * 256ll + col, h2); // !45:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_h2::args, x1, 0);
TF_LAYOUT(k8_h2::args, mlp_norm, 8);
TF_LAYOUT(k8_h2::args, h2, 16);
TF_LAYOUT(k8_h2::args, B, 24);
static_assert(sizeof(k8_h2::args) == 32, "size of args");

// Written by tfgen: llama_decode_gate_up of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k9_gate_up {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        bf16 *prod;
        int B;
    };
    static constexpr int K = 256, packed_n = 1376, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> act = op_silu(lo); // !48:5
        const vec<float, W> prod = op_mul(act, hi); // !49:5
        out.template put<0, W>(p.prod + row * 688ll + col, prod); // !49:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        pairs_gate<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k9_gate_up::args, h2, 0);
TF_LAYOUT(k9_gate_up::args, packed, 8);
TF_LAYOUT(k9_gate_up::args, prod, 16);
TF_LAYOUT(k9_gate_up::args, B, 24);
static_assert(sizeof(k9_gate_up::args) == 32, "size of args");

// Written by tfgen: llama_decode_down of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k10_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        const bf16 *x1;
        bf16 *x2;
        int B;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 1024, ahead = 2, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 688;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 256ll + col); // !43:5
        const vec<float, W> x2 = op_add(x1, product); // !51:5
        out.template put<Slot, W>(p.x2 + row * 256ll + col, x2); // !51:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, lo, sum, out);
        columns_down<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k10_down::args, prod, 0);
TF_LAYOUT(k10_down::args, packed, 8);
TF_LAYOUT(k10_down::args, x1, 16);
TF_LAYOUT(k10_down::args, x2, 24);
TF_LAYOUT(k10_down::args, B, 32);
static_assert(sizeof(k10_down::args) == 40, "size of args");

// ---- level tile
// Written by tfgen: llama_decode_qkv of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
TF_TABLE unsigned long long k1_qkv_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !37:5
struct k1_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const int *pos;
        bf16 *qr;
        bf16 *k_cache;
        bf16 *v_cache;
        int B;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = true;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float q_r;
        int position, sequence;
    };
    DEV static int rows(const args &p) { return p.B; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c = {};
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
        return c;
    }
    DEV static void summed(const args &p, context &c, int batch, int row, float squares)
    {
        const float q_ms = op_div(squares, 256.0f); // !33:5
        const float q_me = op_add(q_ms, 1e-05f); // !33:5
        const float q_r = op_rsqrt(q_me); // !33:5
        c.q_r = q_r;
    }
    template <int W, class Out> DEV static void pairs_q_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const vec<float, W> q = op_mul(lo, c.q_r); // !33:5
        const vec<float, W> q_far = op_mul(hi, c.q_r); // !33:5
        const rope_turn<W> qr_turn = rope_turn_at<W, 16>(pair, c.position, k1_qkv_qr_turns); // !37:5
        const vec<float, W> qr = rope_low(qr_turn, q, q_far); // !37:5
        out.template put<0, W>(p.qr + row * 256ll + col, qr); // !37:5
        const vec<float, W> qr_far = rope_high(qr_turn, q, q_far); // !37:5
        out.template put<1, W>(p.qr + row * 256ll + far, qr_far); // !37:5
    }
    template <int W, class Out> DEV static void pairs_k_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const vec<float, W> k_ = op_mul(lo, c.q_r); // !33:5
        const vec<float, W> k__far = op_mul(hi, c.q_r); // !33:5
        const rope_turn<W> kr_turn = rope_turn_at<W, 16>(pair, c.position, k1_qkv_qr_turns); // !38:5
        const vec<float, W> kr = rope_low(kr_turn, k_, k__far); // !38:5
        if (c.position >= 0 && c.position < 64) out.template put<0, W>(p.k_cache + ((c.sequence * 2ll + col / 32) * 64 + c.position) * 32 + col % 32, kr); // !39:5
        const vec<float, W> kr_far = rope_high(kr_turn, k_, k__far); // !38:5
        if (c.position >= 0 && c.position < 64) out.template put<1, W>(p.k_cache + ((c.sequence * 2ll + far / 32) * 64 + c.position) * 32 + far % 32, kr_far); // !39:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> v = op_mul(product, c.q_r); // !33:5
        if (c.position >= 0 && c.position < 64) out.template put<Slot, W>(p.v_cache + ((c.sequence * 2ll + col / 32) * 64 + c.position) * 32 + col % 32, v); // !40:5
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
TF_LAYOUT(k1_qkv::args, pos, 16);
TF_LAYOUT(k1_qkv::args, qr, 24);
TF_LAYOUT(k1_qkv::args, k_cache, 32);
TF_LAYOUT(k1_qkv::args, v_cache, 40);
TF_LAYOUT(k1_qkv::args, B, 48);
static_assert(sizeof(k1_qkv::args) == 56, "size of args");

// Written by tfgen: llama_decode_decode of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k2_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 1, most = 64; // !41:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * 1 + token) * 256ll + head * 32; // !41:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
};
TF_LAYOUT(k2_decode::args, pos, 0);
TF_LAYOUT(k2_decode::args, qr, 8);
TF_LAYOUT(k2_decode::args, k_cache, 16);
TF_LAYOUT(k2_decode::args, v_cache, 24);
TF_LAYOUT(k2_decode::args, a_part, 32);
TF_LAYOUT(k2_decode::args, B, 40);
static_assert(sizeof(k2_decode::args) == 48, "size of args");

// Written by tfgen: llama_decode_combine of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k2_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 1 + token) * 256ll + head * 32 + col, left, o); // !41:5
    }
};
TF_LAYOUT(k2_join_combine::args, a_part, 0);
TF_LAYOUT(k2_join_combine::args, a, 8);
TF_LAYOUT(k2_join_combine::args, B, 16);
static_assert(sizeof(k2_join_combine::args) == 24, "size of args");

// Written by tfgen: llama_decode_o of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        bf16 *x1;
        int B;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x = load_aligned<W>(p.x + row * 256ll + col); // !15:3
        const vec<float, W> x1 = op_add(x, product); // !43:5
        out.template put<Slot, W>(p.x1 + row * 256ll + col, x1); // !43:5
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
static_assert(sizeof(k3_o::args) == 40, "size of args");

// Written by tfgen: llama_decode_gate_up of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_gate_up {
    struct args {
        const bf16 *x1;
        const bf16 *packed;
        bf16 *prod;
        int B;
    };
    static constexpr int K = 256, packed_n = 1376, packed_k = 256, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 512, ahead = 1, resident = 2;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = true;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float gate_r;
    };
    DEV static int rows(const args &p) { return p.B; }
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
        const float gate_ms = op_div(squares, 256.0f); // !45:5
        const float gate_me = op_add(gate_ms, 1e-05f); // !45:5
        const float gate_r = op_rsqrt(gate_me); // !45:5
        c.gate_r = gate_r;
    }
    template <int W, class Out> DEV static void pairs_gate_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int col = pair;
        const vec<float, W> gate = op_mul(lo, c.gate_r); // !45:5
        const vec<float, W> act = op_silu(gate); // !48:5
        const vec<float, W> up = op_mul(hi, c.gate_r); // !45:5
        const vec<float, W> prod = op_mul(act, up); // !49:5
        out.template put<0, W>(p.prod + row * 688ll + col, prod); // !49:5
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
static_assert(sizeof(k4_gate_up::args) == 32, "size of args");

// Written by tfgen: llama_decode_down of specs/llama-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k5_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        const bf16 *x1;
        bf16 *x2;
        int B;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 1024, ahead = 2, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 688;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 256ll + col); // !43:5
        const vec<float, W> x2 = op_add(x1, product); // !51:5
        out.template put<Slot, W>(p.x2 + row * 256ll + col, x2); // !51:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, lo, sum, out);
        columns_down<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_down::args, prod, 0);
TF_LAYOUT(k5_down::args, packed, 8);
TF_LAYOUT(k5_down::args, x1, 16);
TF_LAYOUT(k5_down::args, x2, 24);
TF_LAYOUT(k5_down::args, B, 32);
static_assert(sizeof(k5_down::args) == 40, "size of args");

