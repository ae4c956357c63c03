// Written by tfgen: wide_heads_attention of tests/specs/wide-heads.yaml for host; read it beside templates/attention/attention.h.
// Kernel k0, phase attention:
//   body %p              bf16[2,3,2042]      = attention %q, %k, %v heads=2 kv_heads=1 causal softcap=5 scale=0.03129587719622029 !16:5
struct wide_heads_attention_spec {
    struct args {
        const bf16 *q_;
        const bf16 *k_;
        const bf16 *v_;
        bf16 *p_;
    };
    static constexpr int head_dim = 1021, heads = 2, kv_heads = 1;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 5.0f, scale = 0.031295877f;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 3; }
    DEV static int keys(const args &p, int batch) { return 3; } // !16:5
    DEV static int position(const args &p, int batch, int token) { return token; } // !16:5
    static constexpr bool aligned = false, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q_ + (batch * 3 + token) * 2042ll + head * 1021; // !16:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * 3 + key) * 1021ll + head * 1021; // !16:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_ + (batch * 3 + key) * 1021ll + head * 1021; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.p_ + (batch * 3 + token) * 2042ll + head * 1021 + col, left, o); // !16:5
    }
};
TF_LAYOUT(wide_heads_attention_spec::args, q_, 0);
TF_LAYOUT(wide_heads_attention_spec::args, k_, 8);
TF_LAYOUT(wide_heads_attention_spec::args, v_, 16);
TF_LAYOUT(wide_heads_attention_spec::args, p_, 24);
static_assert(sizeof(wide_heads_attention_spec::args) == 32, "size of args");
