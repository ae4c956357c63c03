// Written by tfgen: attention_attention of specs/attention.yaml for host; read it beside templates/attention/attention.h.
// Kernel k0, phase attention:
//   body %a              bf16[B,S,256]       = attention %q, %k, %v heads=8 kv_heads=2 causal scale=0.17677669529663687 !19:5
struct k0_attention {
    struct args {
        const bf16 *q;
        const bf16 *k_;
        const bf16 *v;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch) { return p.S; } // !19:5
    DEV static int position(const args &p, int batch, int token) { return token; } // !19:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q + (batch * p.S + token) * 256ll + head * 32; // !19:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_ + (batch * p.S + key) * 64ll + head * 32; // !19:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v + (batch * p.S + key) * 64ll + head * 32; // !19:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch * p.S + token) * 256ll + head * 32 + col, o); // !19:5
    }
};
TF_LAYOUT(k0_attention::args, q, 0);
TF_LAYOUT(k0_attention::args, k_, 8);
TF_LAYOUT(k0_attention::args, v, 16);
TF_LAYOUT(k0_attention::args, a, 24);
TF_LAYOUT(k0_attention::args, B, 32);
TF_LAYOUT(k0_attention::args, S, 36);
static_assert(sizeof(k0_attention::args) == 40, "size of args");
