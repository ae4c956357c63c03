// Written by tfgen: attention_forms_attention_3 of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
// Kernel k3, phase attention_3:
//   body %c              bf16[3,S,96]        = attention %q, %k, %v heads=4 kv_heads=2 causal softcap=20 scale=0.4 !13:5
struct attention_forms_attention_3_spec {
    struct args {
        const bf16 *q_;
        const bf16 *k_;
        const bf16 *v_;
        bf16 *c_;
        int S_;
    };
    static constexpr int head_dim = 24, heads = 4, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 20.0f, scale = 0.4f;
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static int keys(const args &p, int batch) { return p.S_; } // !13:5
    DEV static int position(const args &p, int batch, int token) { return token; } // !13:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q_ + (batch * p.S_ + token) * 96ll + head * 24; // !13:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S_ + key) * 48ll + head * 24; // !13:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_ + (batch * p.S_ + key) * 48ll + head * 24; // !13:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.c_ + (batch * p.S_ + token) * 96ll + head * 24 + col, o); // !13:5
    }
};
TF_LAYOUT(attention_forms_attention_3_spec::args, q_, 0);
TF_LAYOUT(attention_forms_attention_3_spec::args, k_, 8);
TF_LAYOUT(attention_forms_attention_3_spec::args, v_, 16);
TF_LAYOUT(attention_forms_attention_3_spec::args, c_, 24);
TF_LAYOUT(attention_forms_attention_3_spec::args, S_, 32);
static_assert(sizeof(attention_forms_attention_3_spec::args) == 40, "size of args");
