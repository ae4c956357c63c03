// Written by tfgen: attention_forms_attention of tests/specs/attention-forms.yaml for host; read it beside templates/attention/attention.h.
// Kernel k2, phase attention:
//   body %a              bf16[3,S,96]        = attention %q, %kc, %vc heads=4 kv_heads=2 causal window=70 scale=0.20412414523193154 at=%pos
//      !11:5
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
    using type = bf16;
    DEV static int batches(const args &p) { return 3; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + p.S, most = 150; // !11:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !11:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; } // !11:5
    static constexpr bool aligned = true, long_lists = false;
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
        store_aligned<V>(p.a + (batch * p.S + token) * 96ll + head * 24 + col, o); // !11:5
    }
};
TF_LAYOUT(k2_attention::args, pos, 0);
TF_LAYOUT(k2_attention::args, q, 8);
TF_LAYOUT(k2_attention::args, k_cache, 16);
TF_LAYOUT(k2_attention::args, v_cache, 24);
TF_LAYOUT(k2_attention::args, a, 32);
TF_LAYOUT(k2_attention::args, S, 40);
static_assert(sizeof(k2_attention::args) == 48, "size of args");
