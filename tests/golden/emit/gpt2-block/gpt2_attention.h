// Written by tfgen: gpt2_attention of specs/gpt2-block.yaml for host; read it beside templates/attention/attention.h.
// Kernel k2, phase attention:
//   body %a              bf16[B,S,128]       = attention %q, %k, %v heads=4 kv_heads=4 causal scale=0.17677669529663687 !31:5
struct gpt2_attention_spec {
    struct args {
        const bf16 *qkv_;
        bf16 *a_;
        int B_, S_;
    };
    static constexpr int head_dim = 32, heads = 4, kv_heads = 4;
    static constexpr int block_q = 64, block_k = 32, team = 1, threads = 64;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static int keys(const args &p, int batch) { return p.S_; } // !31:5
    DEV static int position(const args &p, int batch, int token) { return token; } // !31:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qkv_ + (batch * p.S_ + token) * 384ll + head * 32; // !31:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.qkv_ + (batch * p.S_ + key) * 384ll + head * 32 + 128; // !31:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.qkv_ + (batch * p.S_ + key) * 384ll + head * 32 + 256; // !31:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a_ + (batch * p.S_ + token) * 128ll + head * 32 + col, o); // !31:5
    }
};
TF_LAYOUT(gpt2_attention_spec::args, qkv_, 0);
TF_LAYOUT(gpt2_attention_spec::args, a_, 8);
TF_LAYOUT(gpt2_attention_spec::args, B_, 16);
TF_LAYOUT(gpt2_attention_spec::args, S_, 20);
static_assert(sizeof(gpt2_attention_spec::args) == 24, "size of args");
