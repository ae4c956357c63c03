// ---- level none
// Written by tfgen: wide_heads_attention of tests/specs/wide-heads.yaml for cdna; read it beside templates/attention/attention.h.
struct k0_attention {
    struct args {
        const bf16 *q;
        const bf16 *k_;
        const bf16 *v;
        bf16 *p_;
    };
    static constexpr int head_dim = 1021, heads = 2, kv_heads = 1;
    static constexpr int block_q = 4, block_k = 4, team = 64, threads = 256;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 5.0f, scale = 0.031295877f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 3; }
    DEV static int keys(const args &p, int batch)
    {
        return 3;
    }
    DEV static int position(const args &p, int batch, int token) { return token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * 3 + token) * 2042ll + head * 1021; // !16:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * 3 + key) * 1021ll + head * 1021; // !16:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * 3 + key) * 1021ll + head * 1021; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.p_ + (batch * 3 + token) * 2042ll + head * 1021 + col, left, o); // !16:5
    }
};
TF_LAYOUT(k0_attention::args, q, 0);
TF_LAYOUT(k0_attention::args, k_, 8);
TF_LAYOUT(k0_attention::args, v, 16);
TF_LAYOUT(k0_attention::args, p_, 24);
static_assert(sizeof(k0_attention::args) == 32, "size of args");

// Written by tfgen: wide_heads_kc of tests/specs/wide-heads.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *k_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 1021, threads = 256, team = 256, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 3); // !17:5
        c.position = (p.pos[c.sequence] + row % 3); // !17:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 1021ll + col); // !9:3
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) store_aligned<V>(p.k_cache + ((c.sequence * 1ll + col / 1021) * 9 + c.position) * 1021 + col % 1021, e.k_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_kc::args, pos, 0);
TF_LAYOUT(k1_kc::args, k_, 8);
TF_LAYOUT(k1_kc::args, k_cache, 16);
static_assert(sizeof(k1_kc::args) == 24, "size of args");

// Written by tfgen: wide_heads_vc of tests/specs/wide-heads.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v;
    };
    static constexpr int N = 1021, threads = 256, team = 256, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 3); // !18:5
        c.position = (p.pos[c.sequence] + row % 3); // !18:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 1021ll + col); // !10:3
        return {v};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) store_aligned<V>(p.v_cache + ((c.sequence * 1ll + col / 1021) * 9 + c.position) * 1021 + col % 1021, e.v); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_vc::args, pos, 0);
TF_LAYOUT(k2_vc::args, v, 8);
TF_LAYOUT(k2_vc::args, v_cache, 16);
static_assert(sizeof(k2_vc::args) == 24, "size of args");

// Written by tfgen: wide_heads_decode of tests/specs/wide-heads.yaml for cdna; read it beside templates/attention/decode.h.
struct k3_decode {
    struct args {
        const int *pos;
        const bf16 *q;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *d_part;
    };
    static constexpr int head_dim = 1021, heads = 2, kv_heads = 1;
    static constexpr int team = 64, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 5;
    static constexpr float softcap = 0.0f, scale = 0.031295877f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 3; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 3, most = 9; // !19:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * 3 + token) * 2042ll + head * 1021; // !19:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 1ll + head) * 9 * 1021ll + key * 1021ll; // !19:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 1ll + head) * 9 * 1021ll + key * 1021ll; // !19:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.d_part + (((batch * 3 + token) * 2 + head) * 1ll + split) * 1023; // !19:5
    }
};
TF_LAYOUT(k3_decode::args, pos, 0);
TF_LAYOUT(k3_decode::args, q, 8);
TF_LAYOUT(k3_decode::args, k_cache, 16);
TF_LAYOUT(k3_decode::args, v_cache, 24);
TF_LAYOUT(k3_decode::args, d_part, 32);
static_assert(sizeof(k3_decode::args) == 40, "size of args");

// Written by tfgen: wide_heads_combine of tests/specs/wide-heads.yaml for cdna; read it beside templates/attention/decode.h.
struct k3_join_combine {
    struct args {
        const float *d_part;
        bf16 *d;
    };
    static constexpr int head_dim = 1021, heads = 2, splits = 1;
    static constexpr int threads = 256;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 3; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.d_part + (((batch * 3 + token) * 2 + head) * 1ll + split) * 1023; // !19:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.d + (batch * 3 + token) * 2042ll + head * 1021 + col, left, o); // !19:5
    }
};
TF_LAYOUT(k3_join_combine::args, d_part, 0);
TF_LAYOUT(k3_join_combine::args, d, 8);
static_assert(sizeof(k3_join_combine::args) == 16, "size of args");

// ---- level ops: as the one before
// ---- level tile: as the one before
