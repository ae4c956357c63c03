// Written by tfgen: llama_decode_decode of specs/llama-decode.yaml for ampere; read it beside templates/attention/decode_mma.h.
// Kernel k2, phase decode:
//   body %a              bf16[B,1,256]       = attention %qr, %kc, %vc heads=8 kv_heads=2 causal scale=0.17677669529663687 at=%pos !41:5
struct k2_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        bf16 *a;
        float *k2_parts;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int warp_keys = 32, threads = 256, resident = 1, cluster = 1, slots = 0;
    static constexpr int most_queries = 1;
    static constexpr long long key_stride = 32, value_stride = 32;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const int *starts(const args &p) { return p.pos; }
    DEV static const int *lengths(const args &p) { return nullptr; }
    DEV static int most_keys(const args &p) { return 64; }
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
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a + (batch + token) * 256ll + head * 32 + col, o); // !41:5
    }
    DEV static float *partial(const args &p) { return p.k2_parts; }
};
TF_LAYOUT(k2_decode::args, pos, 0);
TF_LAYOUT(k2_decode::args, qr, 8);
TF_LAYOUT(k2_decode::args, k_cache, 16);
TF_LAYOUT(k2_decode::args, v_cache, 24);
TF_LAYOUT(k2_decode::args, a, 32);
TF_LAYOUT(k2_decode::args, k2_parts, 40);
TF_LAYOUT(k2_decode::args, B, 48);
static_assert(sizeof(k2_decode::args) == 56, "size of args");
