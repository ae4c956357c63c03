// Written by tfgen: gpt2_decode_attention of specs/gpt2-decode.yaml for host; read it beside templates/attention/decode.h.
// Kernel k3, phase attention:
//   body %a.part         f32[B,1,4,34]       = attention_partial %q, %kc, %vc heads=4 kv_heads=4 causal scale=0.17677669529663687 at=%pos
//      !38:5
struct gpt2_decode_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *qkv_;
        const bf16 *k_cache_;
        const bf16 *v_cache_;
        float *a_part_;
        int B_;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos_[batch] + 1, most = 64; // !38:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !38:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !38:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qkv_ + (batch + token) * 384ll + head * 32; // !38:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache_ + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache_ + (batch * 4ll + head) * 64 * 32ll + key * 32ll; // !38:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
};
TF_LAYOUT(gpt2_decode_attention_spec::args, pos_, 0);
TF_LAYOUT(gpt2_decode_attention_spec::args, qkv_, 8);
TF_LAYOUT(gpt2_decode_attention_spec::args, k_cache_, 16);
TF_LAYOUT(gpt2_decode_attention_spec::args, v_cache_, 24);
TF_LAYOUT(gpt2_decode_attention_spec::args, a_part_, 32);
TF_LAYOUT(gpt2_decode_attention_spec::args, B_, 40);
static_assert(sizeof(gpt2_decode_attention_spec::args) == 48, "size of args");
