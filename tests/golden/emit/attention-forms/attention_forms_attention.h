// Written by tfgen: attention_forms_attention of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
// Kernel k1, phase attention:
//   body %a              bf16[3,S,96]        = attention %q, %kc, %vc heads=4 kv_heads=2 causal window=70 scale=0.20412414523193154 at=%pos
//      !11:5
struct attention_forms_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *q_;
        const bf16 *k_cache_;
        const bf16 *v_cache_;
        bf16 *a_;
        int S_;
    };
    static constexpr int head_dim = 24, heads = 4, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 70;
    static constexpr float softcap = 0.0f, scale = 0.20412415f;
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos_[batch] + p.S_, most = 150; // !11:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !11:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !11:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q_ + (batch * p.S_ + token) * 96ll + head * 24; // !11:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache_ + (batch * 2ll + head) * 150 * 24ll + key * 24ll; // !11:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache_ + (batch * 2ll + head) * 150 * 24ll + key * 24ll; // !11:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a_ + (batch * p.S_ + token) * 96ll + head * 24 + col, o); // !11:5
    }
};
TF_LAYOUT(attention_forms_attention_spec::args, pos_, 0);
TF_LAYOUT(attention_forms_attention_spec::args, q_, 8);
TF_LAYOUT(attention_forms_attention_spec::args, k_cache_, 16);
TF_LAYOUT(attention_forms_attention_spec::args, v_cache_, 24);
TF_LAYOUT(attention_forms_attention_spec::args, a_, 32);
TF_LAYOUT(attention_forms_attention_spec::args, S_, 40);
static_assert(sizeof(attention_forms_attention_spec::args) == 48, "size of args");
