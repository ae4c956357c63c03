// Written by tfgen: wide_heads_decode of tests/specs/wide-heads.yaml for host; read it beside templates/attention/decode.h.
// Kernel k3, phase decode:
//   body %d.part         f32[2,3,2,1023]     = attention_partial %q, %kc, %vc heads=2 kv_heads=1 causal window=5 scale=0.03129587719622029
//      at=%pos !19:5
struct k3_decode {
    struct args {
        const int *pos;
        const bf16 *q;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *d_part;
    };
    static constexpr int head_dim = 1021, heads = 2, kv_heads = 1;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 5;
    static constexpr float softcap = 0.0f, scale = 0.031295877f;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 3; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 3, most = 9; // !19:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !19:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; } // !19:5
    static constexpr bool aligned = false, long_lists = false;
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
