// ---- level none
// Written by tfgen: decode_heads_kc of tests/specs/decode-heads.yaml for host; read it beside templates/rows/rows.h.
struct k0_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *keys;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 4; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !12:5
        c.position = p.pos[c.sequence]; // !12:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 128ll + col); // !7:3
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 300) store_aligned<V>(p.keys + ((c.sequence * 2ll + col / 64) * 300 + c.position) * 64 + col % 64, e.k_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_kc::args, pos, 0);
TF_LAYOUT(k0_kc::args, k_, 8);
TF_LAYOUT(k0_kc::args, keys, 16);
static_assert(sizeof(k0_kc::args) == 24, "size of args");

// Written by tfgen: decode_heads_vc of tests/specs/decode-heads.yaml for host; read it beside templates/rows/rows.h.
struct k1_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *values;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 4; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !13:5
        c.position = p.pos[c.sequence]; // !13:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 128ll + col); // !8:3
        return {v};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 300) store_aligned<V>(p.values + ((c.sequence * 2ll + col / 64) * 300 + c.position) * 64 + col % 64, e.v); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_vc::args, pos, 0);
TF_LAYOUT(k1_vc::args, v, 8);
TF_LAYOUT(k1_vc::args, values, 16);
static_assert(sizeof(k1_vc::args) == 24, "size of args");

// Written by tfgen: decode_heads_decode of tests/specs/decode-heads.yaml for host; read it beside templates/attention/decode.h.
struct k2_decode {
    struct args {
        const int *pos;
        const bf16 *q;
        const bf16 *keys;
        const bf16 *values;
        float *y_part;
    };
    static constexpr int head_dim = 64, heads = 8, kv_heads = 2;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 200;
    static constexpr float softcap = 0.0f, scale = 0.125f;
    static constexpr bool aligned = true;
    using type = bf16;
    DEV static int batches(const args &p) { return 4; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 1, most = 300; // !14:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * 1 + token) * 512ll + head * 64; // !14:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.keys + (batch * 2ll + head) * 300 * 64ll + key * 64ll; // !14:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.values + (batch * 2ll + head) * 300 * 64ll + key * 64ll; // !14:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.y_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 66; // !14:5
    }
};
TF_LAYOUT(k2_decode::args, pos, 0);
TF_LAYOUT(k2_decode::args, q, 8);
TF_LAYOUT(k2_decode::args, keys, 16);
TF_LAYOUT(k2_decode::args, values, 24);
TF_LAYOUT(k2_decode::args, y_part, 32);
static_assert(sizeof(k2_decode::args) == 40, "size of args");

// Written by tfgen: decode_heads_combine of tests/specs/decode-heads.yaml for host; read it beside templates/attention/decode.h.
struct k2_join_combine {
    struct args {
        const float *y_part;
        bf16 *y;
    };
    static constexpr int head_dim = 64, heads = 8, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return 4; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.y_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 66; // !14:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.y + (batch * 1 + token) * 512ll + head * 64 + col, left, o); // !14:5
    }
};
TF_LAYOUT(k2_join_combine::args, y_part, 0);
TF_LAYOUT(k2_join_combine::args, y, 8);
static_assert(sizeof(k2_join_combine::args) == 16, "size of args");

// ---- level ops: as the one before
// ---- level tile: as the one before
