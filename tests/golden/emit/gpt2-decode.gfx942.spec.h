// ---- level none
// Written by tfgen: gpt2_decode_h of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *ln_1_w;
        const bf16 *ln_1_b;
        bf16 *h;
        int B;
    };
    struct context {
        float h_mu, h_r;
    };
    template <int V> struct element {
        packed<V> x, ln_1_w, ln_1_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !12:3
        const vec<float, V> ln_1_w = load_aligned<V>(p.ln_1_w + col); // !15:3
        const vec<float, V> ln_1_b = load_aligned<V>(p.ln_1_b + col); // !16:3
        return {pack(x), pack(ln_1_w), pack(ln_1_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu = op_div(total, 128.0f); // !33:5
        c.h_mu = h_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !33:5
        return op_square(h_c); // !33:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm = op_div(total, 128.0f); // !33:5
        const float h_ve = op_add(h_vm, 1e-05f); // !33:5
        const float h_r = op_rsqrt(h_ve); // !33:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !33:5
        const vec<float, V> h_n = op_mul(h_c, c.h_r); // !33:5
        const vec<float, V> h_t = op_mul(h_n, unpack(e.ln_1_w)); // !33:5
        const vec<float, V> h = op_add(h_t, unpack(e.ln_1_b)); // !33:5
        store_aligned<V>(p.h + row * 128ll + col, h); // !33:5
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
static_assert(sizeof(k0_h::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_qkv of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        const bf16 *b_qkv;
        bf16 *qkv;
        int B;
    };
    static constexpr int K = 128, packed_n = 384, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_qkv = load_aligned<W>(p.b_qkv + col); // !19:3
        const vec<float, W> qkv = op_add(product, b_qkv); // !34:5
        out.template put<Slot, W>(p.qkv + row * 384ll + col, qkv); // !34:5
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
static_assert(sizeof(k1_qkv::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_v of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_v {
    struct args {
        const bf16 *qkv;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> qkv;
    };
    static constexpr int N = 384, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> qkv = load_aligned<V>(p.qkv + row * 384ll + col); // !34:5
        return {pack(qkv)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> q = unpack(e.qkv); // !35:5
        if (col < 128) store_aligned<V>(p.q + row * 128ll + col, q); // !35:5
        const vec<float, V> k__from128 = unpack(e.qkv); // !35:5
        if (col >= 128 && col < 256) store_aligned<V>(p.k_ + row * 128ll + col - 128, k__from128); // !35:5
        const vec<float, V> v_from256 = unpack(e.qkv); // !35:5
        if (col >= 256 && col < 384) store_aligned<V>(p.v + row * 128ll + col - 256, v_from256); // !35:5
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
static_assert(sizeof(k2_v::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_kc of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *k_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> k_;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !36:5
        c.position = p.pos[c.sequence]; // !36:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 128ll + col); // !35:5
        return {pack(k_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.k_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.k_)); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_kc::args, pos, 0);
TF_LAYOUT(k3_kc::args, k_, 8);
TF_LAYOUT(k3_kc::args, k_cache, 16);
TF_LAYOUT(k3_kc::args, B, 24);
static_assert(sizeof(k3_kc::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_vc of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_vc {
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
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 128ll + col); // !35:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.v_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.v)); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_vc::args, pos, 0);
TF_LAYOUT(k4_vc::args, v, 8);
TF_LAYOUT(k4_vc::args, v_cache, 16);
TF_LAYOUT(k4_vc::args, B, 24);
static_assert(sizeof(k4_vc::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_decode of specs/gpt2-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k5_decode {
    struct args {
        const int *pos;
        const bf16 *q;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
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
        const int keys = p.pos[batch] + 1, most = 64; // !38:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * 1 + token) * 128ll + head * 32; // !38:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
};
TF_LAYOUT(k5_decode::args, pos, 0);
TF_LAYOUT(k5_decode::args, q, 8);
TF_LAYOUT(k5_decode::args, k_cache, 16);
TF_LAYOUT(k5_decode::args, v_cache, 24);
TF_LAYOUT(k5_decode::args, a_part, 32);
TF_LAYOUT(k5_decode::args, B, 40);
static_assert(sizeof(k5_decode::args) == 48, "size of args");

// Written by tfgen: gpt2_decode_combine of specs/gpt2-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k5_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 4, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 1 + token) * 128ll + head * 32 + col, left, o); // !38:5
    }
};
TF_LAYOUT(k5_join_combine::args, a_part, 0);
TF_LAYOUT(k5_join_combine::args, a, 8);
TF_LAYOUT(k5_join_combine::args, B, 16);
static_assert(sizeof(k5_join_combine::args) == 24, "size of args");

// Written by tfgen: gpt2_decode_o of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *b_proj;
        bf16 *o_;
        int B;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !22:3
        const vec<float, W> o_ = op_add(product, b_proj); // !39:5
        out.template put<Slot, W>(p.o_ + row * 128ll + col, o_); // !39:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_o::args, a, 0);
TF_LAYOUT(k6_o::args, packed, 8);
TF_LAYOUT(k6_o::args, b_proj, 16);
TF_LAYOUT(k6_o::args, o_, 24);
TF_LAYOUT(k6_o::args, B, 32);
static_assert(sizeof(k6_o::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_x1 of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_x1 {
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
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !12:3
        const vec<float, V> o_ = load_aligned<V>(p.o_ + row * 128ll + col); // !39:5
        return {pack(x), pack(o_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x1 = op_add(unpack(e.x), unpack(e.o_)); // !40:5
        store_aligned<V>(p.x1 + row * 128ll + col, x1); // !40:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_x1::args, x, 0);
TF_LAYOUT(k7_x1::args, o_, 8);
TF_LAYOUT(k7_x1::args, x1, 16);
TF_LAYOUT(k7_x1::args, B, 24);
static_assert(sizeof(k7_x1::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_h2 of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        packed<V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !40:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !23:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !24:3
        return {pack(x1), pack(ln_2_w), pack(ln_2_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !41:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x1); // !41:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !41:5
        c.h2_mu = h2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !41:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !41:5
        return op_square(h2_c); // !41:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !41:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !41:5
        const float h2_r = op_rsqrt(h2_ve); // !41:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !41:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !41:5
        const vec<float, V> h2_t = op_mul(h2_n, unpack(e.ln_2_w)); // !41:5
        const vec<float, V> h2 = op_add(h2_t, unpack(e.ln_2_b)); // !41:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !41:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_h2::args, x1, 0);
TF_LAYOUT(k8_h2::args, ln_2_w, 8);
TF_LAYOUT(k8_h2::args, ln_2_b, 16);
TF_LAYOUT(k8_h2::args, h2, 24);
TF_LAYOUT(k8_h2::args, B, 32);
static_assert(sizeof(k8_h2::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_fc of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k9_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
        bf16 *fc;
        int B;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !26:3
        const vec<float, W> fc = op_add(product, b_fc); // !42:5
        out.template put<Slot, W>(p.fc + row * 512ll + col, fc); // !42:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_fc_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_fc_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k9_fc::args, h2, 0);
TF_LAYOUT(k9_fc::args, packed, 8);
TF_LAYOUT(k9_fc::args, b_fc, 16);
TF_LAYOUT(k9_fc::args, fc, 24);
TF_LAYOUT(k9_fc::args, B, 32);
static_assert(sizeof(k9_fc::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_g of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_g {
    struct args {
        const bf16 *fc;
        bf16 *g;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> fc;
    };
    static constexpr int N = 512, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> fc = load_aligned<V>(p.fc + row * 512ll + col); // !42:5
        return {pack(fc)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> g = op_gelu_tanh(unpack(e.fc)); // !43:5
        store_aligned<V>(p.g + row * 512ll + col, g); // !43:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_g::args, fc, 0);
TF_LAYOUT(k10_g::args, g, 8);
TF_LAYOUT(k10_g::args, B, 16);
static_assert(sizeof(k10_g::args) == 24, "size of args");

// Written by tfgen: gpt2_decode_m of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k11_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *b_out;
        bf16 *m;
        int B;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 1024, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 512;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !28:3
        const vec<float, W> m = op_add(product, b_out); // !44:5
        out.template put<Slot, W>(p.m + row * 128ll + col, m); // !44:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_m_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k11_m::args, g, 0);
TF_LAYOUT(k11_m::args, packed, 8);
TF_LAYOUT(k11_m::args, b_out, 16);
TF_LAYOUT(k11_m::args, m, 24);
TF_LAYOUT(k11_m::args, B, 32);
static_assert(sizeof(k11_m::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_x2 of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k12_x2 {
    struct args {
        const bf16 *x1;
        const bf16 *m;
        bf16 *x2;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> x1, m;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !40:5
        const vec<float, V> m = load_aligned<V>(p.m + row * 128ll + col); // !44:5
        return {pack(x1), pack(m)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> x2 = op_add(unpack(e.x1), unpack(e.m)); // !45:5
        store_aligned<V>(p.x2 + row * 128ll + col, x2); // !45:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k12_x2::args, x1, 0);
TF_LAYOUT(k12_x2::args, m, 8);
TF_LAYOUT(k12_x2::args, x2, 16);
TF_LAYOUT(k12_x2::args, B, 24);
static_assert(sizeof(k12_x2::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: gpt2_decode_h of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *ln_1_w;
        const bf16 *ln_1_b;
        bf16 *h;
        int B;
    };
    struct context {
        float h_mu, h_r;
    };
    template <int V> struct element {
        packed<V> x, ln_1_w, ln_1_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !12:3
        const vec<float, V> ln_1_w = load_aligned<V>(p.ln_1_w + col); // !15:3
        const vec<float, V> ln_1_b = load_aligned<V>(p.ln_1_b + col); // !16:3
        return {pack(x), pack(ln_1_w), pack(ln_1_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu = op_div(total, 128.0f); // !33:5
        c.h_mu = h_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !33:5
        return op_square(h_c); // !33:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm = op_div(total, 128.0f); // !33:5
        const float h_ve = op_add(h_vm, 1e-05f); // !33:5
        const float h_r = op_rsqrt(h_ve); // !33:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !33:5
        const vec<float, V> h_n = op_mul(h_c, c.h_r); // !33:5
        const vec<float, V> h_t = op_mul(h_n, unpack(e.ln_1_w)); // !33:5
        const vec<float, V> h = op_add(h_t, unpack(e.ln_1_b)); // !33:5
        store_aligned<V>(p.h + row * 128ll + col, h); // !33:5
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
static_assert(sizeof(k0_h::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_qkv of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        const bf16 *b_qkv;
        bf16 *qkv;
        int B;
    };
    static constexpr int K = 128, packed_n = 384, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_qkv = load_aligned<W>(p.b_qkv + col); // !19:3
        const vec<float, W> qkv = op_add(product, b_qkv); // !34:5
        out.template put<Slot, W>(p.qkv + row * 384ll + col, qkv); // !34:5
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
static_assert(sizeof(k1_qkv::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_v of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_v {
    struct args {
        const bf16 *qkv;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B;
    };
    struct context {};
    template <int V> struct element {
        packed<V> qkv;
    };
    static constexpr int N = 384, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> qkv = load_aligned<V>(p.qkv + row * 384ll + col); // !34:5
        return {pack(qkv)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> q = unpack(e.qkv); // !35:5
        if (col < 128) store_aligned<V>(p.q + row * 128ll + col, q); // !35:5
        const vec<float, V> k__from128 = unpack(e.qkv); // !35:5
        if (col >= 128 && col < 256) store_aligned<V>(p.k_ + row * 128ll + col - 128, k__from128); // !35:5
        const vec<float, V> v_from256 = unpack(e.qkv); // !35:5
        if (col >= 256 && col < 384) store_aligned<V>(p.v + row * 128ll + col - 256, v_from256); // !35:5
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
static_assert(sizeof(k2_v::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_kc of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *k_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> k_;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !36:5
        c.position = p.pos[c.sequence]; // !36:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 128ll + col); // !35:5
        return {pack(k_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.k_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.k_)); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_kc::args, pos, 0);
TF_LAYOUT(k3_kc::args, k_, 8);
TF_LAYOUT(k3_kc::args, k_cache, 16);
TF_LAYOUT(k3_kc::args, B, 24);
static_assert(sizeof(k3_kc::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_vc of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_vc {
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
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 128ll + col); // !35:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.v_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.v)); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_vc::args, pos, 0);
TF_LAYOUT(k4_vc::args, v, 8);
TF_LAYOUT(k4_vc::args, v_cache, 16);
TF_LAYOUT(k4_vc::args, B, 24);
static_assert(sizeof(k4_vc::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_decode of specs/gpt2-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k5_decode {
    struct args {
        const int *pos;
        const bf16 *q;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
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
        const int keys = p.pos[batch] + 1, most = 64; // !38:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * 1 + token) * 128ll + head * 32; // !38:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
};
TF_LAYOUT(k5_decode::args, pos, 0);
TF_LAYOUT(k5_decode::args, q, 8);
TF_LAYOUT(k5_decode::args, k_cache, 16);
TF_LAYOUT(k5_decode::args, v_cache, 24);
TF_LAYOUT(k5_decode::args, a_part, 32);
TF_LAYOUT(k5_decode::args, B, 40);
static_assert(sizeof(k5_decode::args) == 48, "size of args");

// Written by tfgen: gpt2_decode_combine of specs/gpt2-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k5_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 4, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 1 + token) * 128ll + head * 32 + col, left, o); // !38:5
    }
};
TF_LAYOUT(k5_join_combine::args, a_part, 0);
TF_LAYOUT(k5_join_combine::args, a, 8);
TF_LAYOUT(k5_join_combine::args, B, 16);
static_assert(sizeof(k5_join_combine::args) == 24, "size of args");

// Written by tfgen: gpt2_decode_o of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        const bf16 *b_proj;
        bf16 *x1;
        int B;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !12:3
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !22:3
        const vec<float, W> o_ = op_add(product, b_proj); // !39:5
        const vec<float, W> x1 = op_add(x, o_); // !40:5
        out.template put<Slot, W>(p.x1 + row * 128ll + col, x1); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_o::args, a, 0);
TF_LAYOUT(k6_o::args, packed, 8);
TF_LAYOUT(k6_o::args, x, 16);
TF_LAYOUT(k6_o::args, b_proj, 24);
TF_LAYOUT(k6_o::args, x1, 32);
TF_LAYOUT(k6_o::args, B, 40);
static_assert(sizeof(k6_o::args) == 48, "size of args");

// Written by tfgen: gpt2_decode_h2 of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        packed<V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !40:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !23:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !24:3
        return {pack(x1), pack(ln_2_w), pack(ln_2_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !41:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x1); // !41:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !41:5
        c.h2_mu = h2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !41:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !41:5
        return op_square(h2_c); // !41:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !41:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !41:5
        const float h2_r = op_rsqrt(h2_ve); // !41:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !41:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !41:5
        const vec<float, V> h2_t = op_mul(h2_n, unpack(e.ln_2_w)); // !41:5
        const vec<float, V> h2 = op_add(h2_t, unpack(e.ln_2_b)); // !41:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !41:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_h2::args, x1, 0);
TF_LAYOUT(k7_h2::args, ln_2_w, 8);
TF_LAYOUT(k7_h2::args, ln_2_b, 16);
TF_LAYOUT(k7_h2::args, h2, 24);
TF_LAYOUT(k7_h2::args, B, 32);
static_assert(sizeof(k7_h2::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_fc of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k8_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
        bf16 *g;
        int B;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !26:3
        const vec<float, W> fc = op_add(product, b_fc); // !42:5
        const vec<float, W> g = op_gelu_tanh(fc); // !43:5
        out.template put<Slot, W>(p.g + row * 512ll + col, g); // !43:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_fc_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_fc_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k8_fc::args, h2, 0);
TF_LAYOUT(k8_fc::args, packed, 8);
TF_LAYOUT(k8_fc::args, b_fc, 16);
TF_LAYOUT(k8_fc::args, g, 24);
TF_LAYOUT(k8_fc::args, B, 32);
static_assert(sizeof(k8_fc::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_m of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k9_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *x1;
        const bf16 *b_out;
        bf16 *x2;
        int B;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 1024, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 512;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 128ll + col); // !40:5
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !28:3
        const vec<float, W> m = op_add(product, b_out); // !44:5
        const vec<float, W> x2 = op_add(x1, m); // !45:5
        out.template put<Slot, W>(p.x2 + row * 128ll + col, x2); // !45:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_m_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k9_m::args, g, 0);
TF_LAYOUT(k9_m::args, packed, 8);
TF_LAYOUT(k9_m::args, x1, 16);
TF_LAYOUT(k9_m::args, b_out, 24);
TF_LAYOUT(k9_m::args, x2, 32);
TF_LAYOUT(k9_m::args, B, 40);
static_assert(sizeof(k9_m::args) == 48, "size of args");

// ---- level tile
// Written by tfgen: gpt2_decode_h of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_h {
    struct args {
        const bf16 *x;
        const bf16 *ln_1_w;
        const bf16 *ln_1_b;
        bf16 *h;
        int B;
    };
    struct context {
        float h_mu, h_r;
    };
    template <int V> struct element {
        packed<V> x, ln_1_w, ln_1_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 128ll + col); // !12:3
        const vec<float, V> ln_1_w = load_aligned<V>(p.ln_1_w + col); // !15:3
        const vec<float, V> ln_1_b = load_aligned<V>(p.ln_1_b + col); // !16:3
        return {pack(x), pack(ln_1_w), pack(ln_1_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h_mu = op_div(total, 128.0f); // !33:5
        c.h_mu = h_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !33:5
        return op_square(h_c); // !33:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h_vm = op_div(total, 128.0f); // !33:5
        const float h_ve = op_add(h_vm, 1e-05f); // !33:5
        const float h_r = op_rsqrt(h_ve); // !33:5
        c.h_r = h_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h_c = op_sub(unpack(e.x), c.h_mu); // !33:5
        const vec<float, V> h_n = op_mul(h_c, c.h_r); // !33:5
        const vec<float, V> h_t = op_mul(h_n, unpack(e.ln_1_w)); // !33:5
        const vec<float, V> h = op_add(h_t, unpack(e.ln_1_b)); // !33:5
        store_aligned<V>(p.h + row * 128ll + col, h); // !33:5
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
static_assert(sizeof(k0_h::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_qkv of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *h;
        const bf16 *packed;
        const bf16 *b_qkv;
        bf16 *qkv;
        int B;
    };
    static constexpr int K = 128, packed_n = 384, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_qkv = load_aligned<W>(p.b_qkv + col); // !19:3
        const vec<float, W> qkv = op_add(product, b_qkv); // !34:5
        out.template put<Slot, W>(p.qkv + row * 384ll + col, qkv); // !34:5
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
static_assert(sizeof(k1_qkv::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_kc of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_kc {
    struct args {
        const int *pos;
        const bf16 *qkv;
        bf16 *k_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> k_;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !36:5
        c.position = p.pos[c.sequence]; // !36:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.qkv + row * 384ll + col + 128); // !35:5
        return {pack(k_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.k_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.k_)); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_kc::args, pos, 0);
TF_LAYOUT(k2_kc::args, qkv, 8);
TF_LAYOUT(k2_kc::args, k_cache, 16);
TF_LAYOUT(k2_kc::args, B, 24);
static_assert(sizeof(k2_kc::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_vc of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_vc {
    struct args {
        const int *pos;
        const bf16 *qkv;
        bf16 *v_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.qkv + row * 384ll + col + 256); // !35:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) store_aligned<V>(p.v_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, unpack(e.v)); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_vc::args, pos, 0);
TF_LAYOUT(k3_vc::args, qkv, 8);
TF_LAYOUT(k3_vc::args, v_cache, 16);
TF_LAYOUT(k3_vc::args, B, 24);
static_assert(sizeof(k3_vc::args) == 32, "size of args");

// Written by tfgen: gpt2_decode_decode of specs/gpt2-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k4_decode {
    struct args {
        const int *pos;
        const bf16 *qkv;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
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
        const int keys = p.pos[batch] + 1, most = 64; // !38:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qkv + (batch * 1 + token) * 384ll + head * 32; // !38:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
};
TF_LAYOUT(k4_decode::args, pos, 0);
TF_LAYOUT(k4_decode::args, qkv, 8);
TF_LAYOUT(k4_decode::args, k_cache, 16);
TF_LAYOUT(k4_decode::args, v_cache, 24);
TF_LAYOUT(k4_decode::args, a_part, 32);
TF_LAYOUT(k4_decode::args, B, 40);
static_assert(sizeof(k4_decode::args) == 48, "size of args");

// Written by tfgen: gpt2_decode_combine of specs/gpt2-decode.yaml for cdna; read it beside templates/attention/decode.h.
struct k4_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 4, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 1 + token) * 128ll + head * 32 + col, left, o); // !38:5
    }
};
TF_LAYOUT(k4_join_combine::args, a_part, 0);
TF_LAYOUT(k4_join_combine::args, a, 8);
TF_LAYOUT(k4_join_combine::args, B, 16);
static_assert(sizeof(k4_join_combine::args) == 24, "size of args");

// Written by tfgen: gpt2_decode_o of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k5_o {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        const bf16 *x;
        const bf16 *b_proj;
        bf16 *x1;
        int B;
    };
    static constexpr int K = 128, packed_n = 128, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x = load_aligned<W>(p.x + row * 128ll + col); // !12:3
        const vec<float, W> b_proj = load_aligned<W>(p.b_proj + col); // !22:3
        const vec<float, W> o_ = op_add(product, b_proj); // !39:5
        const vec<float, W> x1 = op_add(x, o_); // !40:5
        out.template put<Slot, W>(p.x1 + row * 128ll + col, x1); // !40:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_o_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_o_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_o::args, a, 0);
TF_LAYOUT(k5_o::args, packed, 8);
TF_LAYOUT(k5_o::args, x, 16);
TF_LAYOUT(k5_o::args, b_proj, 24);
TF_LAYOUT(k5_o::args, x1, 32);
TF_LAYOUT(k5_o::args, B, 40);
static_assert(sizeof(k5_o::args) == 48, "size of args");

// Written by tfgen: gpt2_decode_h2 of specs/gpt2-decode.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_h2 {
    struct args {
        const bf16 *x1;
        const bf16 *ln_2_w;
        const bf16 *ln_2_b;
        bf16 *h2;
        int B;
    };
    struct context {
        float h2_mu, h2_r;
    };
    template <int V> struct element {
        packed<V> x1, ln_2_w, ln_2_b;
    };
    static constexpr int N = 128, threads = 128, team = 16, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x1 = load_aligned<V>(p.x1 + row * 128ll + col); // !40:5
        const vec<float, V> ln_2_w = load_aligned<V>(p.ln_2_w + col); // !23:3
        const vec<float, V> ln_2_b = load_aligned<V>(p.ln_2_b + col); // !24:3
        return {pack(x1), pack(ln_2_w), pack(ln_2_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !41:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.x1); // !41:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float h2_mu = op_div(total, 128.0f); // !41:5
        c.h2_mu = h2_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !41:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !41:5
        return op_square(h2_c); // !41:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float h2_vm = op_div(total, 128.0f); // !41:5
        const float h2_ve = op_add(h2_vm, 1e-05f); // !41:5
        const float h2_r = op_rsqrt(h2_ve); // !41:5
        c.h2_r = h2_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h2_c = op_sub(unpack(e.x1), c.h2_mu); // !41:5
        const vec<float, V> h2_n = op_mul(h2_c, c.h2_r); // !41:5
        const vec<float, V> h2_t = op_mul(h2_n, unpack(e.ln_2_w)); // !41:5
        const vec<float, V> h2 = op_add(h2_t, unpack(e.ln_2_b)); // !41:5
        store_aligned<V>(p.h2 + row * 128ll + col, h2); // !41:5
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
static_assert(sizeof(k6_h2::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_fc of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k7_fc {
    struct args {
        const bf16 *h2;
        const bf16 *packed;
        const bf16 *b_fc;
        bf16 *g;
        int B;
    };
    static constexpr int K = 128, packed_n = 512, packed_k = 128, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 256, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 128;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> b_fc = load_aligned<W>(p.b_fc + col); // !26:3
        const vec<float, W> fc = op_add(product, b_fc); // !42:5
        const vec<float, W> g = op_gelu_tanh(fc); // !43:5
        out.template put<Slot, W>(p.g + row * 512ll + col, g); // !43:5
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
TF_LAYOUT(k7_fc::args, g, 24);
TF_LAYOUT(k7_fc::args, B, 32);
static_assert(sizeof(k7_fc::args) == 40, "size of args");

// Written by tfgen: gpt2_decode_m of specs/gpt2-decode.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k8_m {
    struct args {
        const bf16 *g;
        const bf16 *packed;
        const bf16 *x1;
        const bf16 *b_out;
        bf16 *x2;
        int B;
    };
    static constexpr int K = 512, packed_n = 128, packed_k = 512, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 1024, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 512;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B; }
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
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 128ll + col); // !40:5
        const vec<float, W> b_out = load_aligned<W>(p.b_out + col); // !28:3
        const vec<float, W> m = op_add(product, b_out); // !44:5
        const vec<float, W> x2 = op_add(x1, m); // !45:5
        out.template put<Slot, W>(p.x2 + row * 128ll + col, x2); // !45:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_m_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_m_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k8_m::args, g, 0);
TF_LAYOUT(k8_m::args, packed, 8);
TF_LAYOUT(k8_m::args, x1, 16);
TF_LAYOUT(k8_m::args, b_out, 24);
TF_LAYOUT(k8_m::args, x2, 32);
TF_LAYOUT(k8_m::args, B, 40);
static_assert(sizeof(k8_m::args) == 48, "size of args");

