// ---- level none
// Written by tfgen: attention_forms_kc of tests/specs/attention-forms.yaml for host; read it beside templates/rows/rows.h.
struct k0_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *k_cache;
        int S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 48, threads = 1, team = 1, V = 8, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !9:5
        c.position = (p.pos[c.sequence] + row % p.S); // !9:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 48ll + col); // !6:27
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 150) store_aligned<V>(p.k_cache + ((c.sequence * 2ll + col / 24) * 150 + c.position) * 24 + col % 24, e.k_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_kc::args, pos, 0);
TF_LAYOUT(k0_kc::args, k_, 8);
TF_LAYOUT(k0_kc::args, k_cache, 16);
TF_LAYOUT(k0_kc::args, S, 24);
static_assert(sizeof(k0_kc::args) == 32, "size of args");

// Written by tfgen: attention_forms_vc of tests/specs/attention-forms.yaml for host; read it beside templates/rows/rows.h.
struct k1_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
        int S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v;
    };
    static constexpr int N = 48, threads = 1, team = 1, V = 8, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / p.S); // !10:5
        c.position = (p.pos[c.sequence] + row % p.S); // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 48ll + col); // !6:45
        return {v};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 150) store_aligned<V>(p.v_cache + ((c.sequence * 2ll + col / 24) * 150 + c.position) * 24 + col % 24, e.v); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_vc::args, pos, 0);
TF_LAYOUT(k1_vc::args, v, 8);
TF_LAYOUT(k1_vc::args, v_cache, 16);
TF_LAYOUT(k1_vc::args, S, 24);
static_assert(sizeof(k1_vc::args) == 32, "size of args");

// Written by tfgen: attention_forms_attention of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
struct k2_attention {
    struct args {
        const int *pos;
        const bf16 *q;
        const bf16 *k_cache;
        const bf16 *v_cache;
        bf16 *a;
        int S;
    };
    static constexpr int head_dim = 24, heads = 4, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 70;
    static constexpr float softcap = 0.0f, scale = 0.20412415f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + p.S, most = 150; // !11:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * p.S + token) * 96ll + head * 24; // !11:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 150 * 24ll + key * 24ll; // !11:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 150 * 24ll + key * 24ll; // !11:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * p.S + token) * 96ll + head * 24 + col, left, o); // !11:5
    }
};
TF_LAYOUT(k2_attention::args, pos, 0);
TF_LAYOUT(k2_attention::args, q, 8);
TF_LAYOUT(k2_attention::args, k_cache, 16);
TF_LAYOUT(k2_attention::args, v_cache, 24);
TF_LAYOUT(k2_attention::args, a, 32);
TF_LAYOUT(k2_attention::args, S, 40);
static_assert(sizeof(k2_attention::args) == 48, "size of args");

// Written by tfgen: attention_forms_attention_2 of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
struct k3_attention_2 {
    struct args {
        const int *n_;
        const bf16 *q;
        const bf16 *k_;
        const bf16 *v;
        bf16 *b;
        int S;
    };
    static constexpr int head_dim = 24, heads = 4, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = false;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.20412415f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.n_[batch], most = p.S; // !12:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * p.S + token) * 96ll + head * 24; // !12:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 48ll + head * 24; // !12:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 48ll + head * 24; // !12:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.b + (batch * p.S + token) * 96ll + head * 24 + col, left, o); // !12:5
    }
};
TF_LAYOUT(k3_attention_2::args, n_, 0);
TF_LAYOUT(k3_attention_2::args, q, 8);
TF_LAYOUT(k3_attention_2::args, k_, 16);
TF_LAYOUT(k3_attention_2::args, v, 24);
TF_LAYOUT(k3_attention_2::args, b, 32);
TF_LAYOUT(k3_attention_2::args, S, 40);
static_assert(sizeof(k3_attention_2::args) == 48, "size of args");

// Written by tfgen: attention_forms_attention_3 of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
struct k4_attention_3 {
    struct args {
        const bf16 *q;
        const bf16 *k_;
        const bf16 *v;
        bf16 *c_;
        int S;
    };
    static constexpr int head_dim = 24, heads = 4, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 20.0f, scale = 0.4f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        return p.S;
    }
    DEV static int position(const args &p, int batch, int token) { return token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * p.S + token) * 96ll + head * 24; // !13:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 48ll + head * 24; // !13:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 48ll + head * 24; // !13:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.c_ + (batch * p.S + token) * 96ll + head * 24 + col, left, o); // !13:5
    }
};
TF_LAYOUT(k4_attention_3::args, q, 0);
TF_LAYOUT(k4_attention_3::args, k_, 8);
TF_LAYOUT(k4_attention_3::args, v, 16);
TF_LAYOUT(k4_attention_3::args, c_, 24);
TF_LAYOUT(k4_attention_3::args, S, 32);
static_assert(sizeof(k4_attention_3::args) == 40, "size of args");

// ---- level ops: as the one before
// ---- level tile: as the one before
