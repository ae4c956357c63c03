// Written by tfgen: gpt2_decode_combine of specs/gpt2-decode.yaml for host; read it beside templates/attention/decode.h.
// Kernel k3_join, phase combine:
//   body %a              bf16[B,1,128]       = attention_combine %a.part heads=4                !38:5
struct gpt2_decode_combine_spec {
    struct args {
        const float *a_part_;
        bf16 *a_;
        int B_;
    };
    static constexpr int head_dim = 32, heads = 4, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch + token) * 4 + head) * 1ll + split) * 34; // !38:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a_ + (batch + token) * 128ll + head * 32 + col, left, o); // !38:5
    }
};
TF_LAYOUT(gpt2_decode_combine_spec::args, a_part_, 0);
TF_LAYOUT(gpt2_decode_combine_spec::args, a_, 8);
TF_LAYOUT(gpt2_decode_combine_spec::args, B_, 16);
static_assert(sizeof(gpt2_decode_combine_spec::args) == 24, "size of args");
