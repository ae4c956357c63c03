// Written by tfgen: attention_forms_attention_2 of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
// Kernel k3, phase attention_2:
//   body %b              bf16[3,S,96]        = attention %q, %k, %v heads=4 kv_heads=2 scale=0.20412414523193154 lengths=%n !12:5
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
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.n_[batch], most = p.S; // !12:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !12:5
    }
    DEV static int position(const args &p, int batch, int token) { return token; } // !12:5
    static constexpr bool aligned = true, long_lists = false;
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
        store_aligned<V>(p.b + (batch * p.S + token) * 96ll + head * 24 + col, o); // !12:5
    }
};
TF_LAYOUT(k3_attention_2::args, n_, 0);
TF_LAYOUT(k3_attention_2::args, q, 8);
TF_LAYOUT(k3_attention_2::args, k_, 16);
TF_LAYOUT(k3_attention_2::args, v, 24);
TF_LAYOUT(k3_attention_2::args, b, 32);
TF_LAYOUT(k3_attention_2::args, S, 40);
static_assert(sizeof(k3_attention_2::args) == 48, "size of args");
