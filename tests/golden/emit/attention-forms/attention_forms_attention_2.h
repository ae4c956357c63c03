// Written by tfgen: attention_forms_attention_2 of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
// Kernel k2, phase attention_2:
//   body %b              bf16[3,S,96]        = attention %q, %k, %v heads=4 kv_heads=2 scale=0.20412414523193154 lengths=%n !12:5
struct attention_forms_attention_2_spec {
    struct args {
        const int *n_;
        const bf16 *q_;
        const bf16 *k_;
        const bf16 *v_;
        bf16 *b_;
        int S_;
    };
    static constexpr int head_dim = 24, heads = 4, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = false;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.20412415f;
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.n_[batch], most = p.S_; // !12:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !12:5
    }
    DEV static int position(const args &p, int batch, int token) { return token; } // !12:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q_ + (batch * p.S_ + token) * 96ll + head * 24; // !12:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S_ + key) * 48ll + head * 24; // !12:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_ + (batch * p.S_ + key) * 48ll + head * 24; // !12:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.b_ + (batch * p.S_ + token) * 96ll + head * 24 + col, o); // !12:5
    }
};
TF_LAYOUT(attention_forms_attention_2_spec::args, n_, 0);
TF_LAYOUT(attention_forms_attention_2_spec::args, q_, 8);
TF_LAYOUT(attention_forms_attention_2_spec::args, k_, 16);
TF_LAYOUT(attention_forms_attention_2_spec::args, v_, 24);
TF_LAYOUT(attention_forms_attention_2_spec::args, b_, 32);
TF_LAYOUT(attention_forms_attention_2_spec::args, S_, 40);
static_assert(sizeof(attention_forms_attention_2_spec::args) == 48, "size of args");
