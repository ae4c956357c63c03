// Written by tfgen: llama_decode_attention of specs/llama-decode.yaml for ampere; read it beside templates/attention/decode_mma.h.
// Kernel k2, phase attention:
//   body %a              bf16[B,1,256]       = attention %qr, %kc, %vc heads=8 kv_heads=2 causal scale=0.17677669529663687 at=%pos !41:5
struct llama_decode_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *qr_;
        const bf16 *k_cache_;
        const bf16 *v_cache_;
        bf16 *a_;
        float *parts;
        int B_;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int warp_keys = 32, threads = 256, resident = 1, cluster = 1, stages = 0;
    static constexpr int splits = 1;
    static constexpr int most_queries = 1;
    static constexpr int run_length = 0;
    static constexpr long long key_stride = 32, value_stride = 32;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const int *starts(const args &p) { return p.pos_; }
    DEV static const int *lengths(const args &p) { return nullptr; }
    DEV static int most_keys(const args &p) { return 64; }
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
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a_ + (batch + token) * 256ll + head * 32 + col, o); // !41:5
    }
    DEV static float *partial(const args &p) { return p.parts; }
};
TF_LAYOUT(llama_decode_attention_spec::args, pos_, 0);
TF_LAYOUT(llama_decode_attention_spec::args, qr_, 8);
TF_LAYOUT(llama_decode_attention_spec::args, k_cache_, 16);
TF_LAYOUT(llama_decode_attention_spec::args, v_cache_, 24);
TF_LAYOUT(llama_decode_attention_spec::args, a_, 32);
TF_LAYOUT(llama_decode_attention_spec::args, parts, 40);
TF_LAYOUT(llama_decode_attention_spec::args, B_, 48);
static_assert(sizeof(llama_decode_attention_spec::args) == 56, "size of args");
