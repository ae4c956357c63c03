// Written by tfgen: llama_decode_decode of specs/llama-decode.yaml for cdna; read it beside templates/attention/decode.h.
// Kernel k2, phase decode:
//   body %a.part         f32[B,1,8,34]       = attention_partial %qr, %kc, %vc heads=8 kv_heads=2 causal scale=0.17677669529663687 at=%pos
//      !41:5
struct k2_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 1, most = 64; // !41:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !41:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; } // !41:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch + token) * 256ll + head * 32; // !41:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 64 * 32ll + key * 32ll; // !41:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
};
TF_LAYOUT(k2_decode::args, pos, 0);
TF_LAYOUT(k2_decode::args, qr, 8);
TF_LAYOUT(k2_decode::args, k_cache, 16);
TF_LAYOUT(k2_decode::args, v_cache, 24);
TF_LAYOUT(k2_decode::args, a_part, 32);
TF_LAYOUT(k2_decode::args, B, 40);
static_assert(sizeof(k2_decode::args) == 48, "size of args");
