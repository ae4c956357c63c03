// Written by tfgen: llama_attention of specs/llama-block.yaml for cdna; read it beside templates/attention/attention_mfma.h.
// Kernel k2, phase attention:
//   body %a              bf16[B,S,256]       = attention %qr, %kr, %v heads=8 kv_heads=2 causal scale=0.17677669529663687 !32:5
struct llama_attention_spec {
    struct args {
        const bf16 *qr_;
        const bf16 *kr_;
        const bf16 *v_;
        bf16 *a_;
        int B_, S_;
    };
    static constexpr int head_dim = 32, heads = 8, kv_heads = 2;
    static constexpr int block_q = 64, block_k = 64, threads = 128, chiplets = 8;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.17677669f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static int keys(const args &p, int batch) { return p.S_; } // !32:5
    DEV static int position(const args &p, int batch, int token) { return token; } // !32:5
    static constexpr int run_length = 0;
    static constexpr long long key_stride = 64, value_stride = 64;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr_ + (batch * p.S_ + token) * 256ll + head * 32; // !32:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kr_ + (batch * p.S_ + key) * 64ll + head * 32; // !32:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_ + (batch * p.S_ + key) * 64ll + head * 32; // !32:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store_aligned<V>(p.a_ + (batch * p.S_ + token) * 256ll + head * 32 + col, o); // !32:5
    }
};
TF_LAYOUT(llama_attention_spec::args, qr_, 0);
TF_LAYOUT(llama_attention_spec::args, kr_, 8);
TF_LAYOUT(llama_attention_spec::args, v_, 16);
TF_LAYOUT(llama_attention_spec::args, a_, 24);
TF_LAYOUT(llama_attention_spec::args, B_, 32);
TF_LAYOUT(llama_attention_spec::args, S_, 36);
static_assert(sizeof(llama_attention_spec::args) == 40, "size of args");
