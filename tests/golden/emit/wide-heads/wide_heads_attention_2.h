// Written by tfgen: wide_heads_attention_2 of tests/specs/wide-heads.yaml for host; read it beside templates/attention/decode.h.
// Kernel k2, phase attention_2:
//   body %d.part         f32[2,3,2,1023]     = attention_partial %q, %kc, %vc heads=2 kv_heads=1 causal window=5 scale=0.03129587719622029
//      at=%pos !19:5
struct wide_heads_attention_2_spec {
    struct args {
        const int *pos_;
        const bf16 *q_;
        const bf16 *k_cache_;
        const bf16 *v_cache_;
        float *d_part_;
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
        const int keys = p.pos_[batch] + 3, most = 9; // !19:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !19:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !19:5
    static constexpr bool aligned = false, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q_ + (batch * 3 + token) * 2042ll + head * 1021; // !19:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache_ + (batch * 1ll + head) * 9 * 1021ll + key * 1021ll; // !19:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache_ + (batch * 1ll + head) * 9 * 1021ll + key * 1021ll; // !19:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.d_part_ + (((batch * 3 + token) * 2 + head) * 1ll + split) * 1023; // !19:5
    }
};
TF_LAYOUT(wide_heads_attention_2_spec::args, pos_, 0);
TF_LAYOUT(wide_heads_attention_2_spec::args, q_, 8);
TF_LAYOUT(wide_heads_attention_2_spec::args, k_cache_, 16);
TF_LAYOUT(wide_heads_attention_2_spec::args, v_cache_, 24);
TF_LAYOUT(wide_heads_attention_2_spec::args, d_part_, 32);
static_assert(sizeof(wide_heads_attention_2_spec::args) == 40, "size of args");
