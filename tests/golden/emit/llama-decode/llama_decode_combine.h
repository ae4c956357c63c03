// Written by tfgen: llama_decode_combine of specs/llama-decode.yaml for host; read it beside templates/attention/decode.h.
// Kernel k2_join, phase combine:
//   body %a              bf16[B,1,256]       = attention_combine %a.part heads=8                !41:5
struct llama_decode_combine_spec {
    struct args {
        const float *a_part_;
        bf16 *a_;
        int B_;
    };
    static constexpr int head_dim = 32, heads = 8, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a_ + (batch + token) * 256ll + head * 32 + col, left, o); // !41:5
    }
};
TF_LAYOUT(llama_decode_combine_spec::args, a_part_, 0);
TF_LAYOUT(llama_decode_combine_spec::args, a_, 8);
TF_LAYOUT(llama_decode_combine_spec::args, B_, 16);
static_assert(sizeof(llama_decode_combine_spec::args) == 24, "size of args");
