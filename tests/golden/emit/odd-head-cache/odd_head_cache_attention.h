// Written by tfgen: odd_head_cache_attention of tests/specs/odd-head-cache.yaml for host; read it beside templates/attention/decode.h.
// Kernel k1, phase attention:
//   body %a.part         f32[2,5,2,24]       = attention_partial %qr, %kc, %vc heads=2 kv_heads=2 causal scale=0.21320071635561041 at=%pos
//      !16:5
struct odd_head_cache_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *qr_;
        const bf16 *k_cache_;
        const bf16 *v_cache_;
        float *a_part_;
    };
    static constexpr int head_dim = 22, heads = 2, kv_heads = 2;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.21320072f;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos_[batch] + 5, most = 9; // !16:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !16:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !16:5
    static constexpr bool aligned = false, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr_ + (batch * 5 + token) * 44ll + head * 22; // !16:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache_ + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache_ + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
};
TF_LAYOUT(odd_head_cache_attention_spec::args, pos_, 0);
TF_LAYOUT(odd_head_cache_attention_spec::args, qr_, 8);
TF_LAYOUT(odd_head_cache_attention_spec::args, k_cache_, 16);
TF_LAYOUT(odd_head_cache_attention_spec::args, v_cache_, 24);
TF_LAYOUT(odd_head_cache_attention_spec::args, a_part_, 32);
static_assert(sizeof(odd_head_cache_attention_spec::args) == 40, "size of args");
