// Written by tfgen: llama_decode_attention of specs/llama-decode.yaml for host; read it beside templates/attention/decode.h.
// Kernel k2, phase attention:
//   body %a.part         f32[B,1,8,34]       = attention_partial %qr, %kc, %vc heads=8 kv_heads=2 causal scale=0.17677669529663687 at=%pos
//      !41:5
struct llama_decode_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *qr_;
        const bf16 *k_cache_;
        const bf16 *v_cache_;
        float *a_part_;
        int B_;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos_[batch] + 1, most = 64; // !41:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !41:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !41:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr_ + (batch + token) * 256ll + head * 32; // !41:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache_ + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache_ + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
};
TF_LAYOUT(llama_decode_attention_spec::args, pos_, 0);
TF_LAYOUT(llama_decode_attention_spec::args, qr_, 8);
TF_LAYOUT(llama_decode_attention_spec::args, k_cache_, 16);
TF_LAYOUT(llama_decode_attention_spec::args, v_cache_, 24);
TF_LAYOUT(llama_decode_attention_spec::args, a_part_, 32);
TF_LAYOUT(llama_decode_attention_spec::args, B_, 40);
static_assert(sizeof(llama_decode_attention_spec::args) == 48, "size of args");
