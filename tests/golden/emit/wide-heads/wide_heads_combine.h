// Written by tfgen: wide_heads_combine of tests/specs/wide-heads.yaml for host; read it beside templates/attention/decode.h.
// Kernel k2_join, phase combine:
//   body %d              bf16[2,3,2042]      = attention_combine %d.part heads=2                !19:5
struct wide_heads_combine_spec {
    struct args {
        const float *d_part_;
        bf16 *d_;
    };
    static constexpr int head_dim = 1021, heads = 2, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 3; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.d_part_ + (((batch * 3 + token) * 2 + head) * 1ll + split) * 1023; // !19:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.d_ + (batch * 3 + token) * 2042ll + head * 1021 + col, left, o); // !19:5
    }
};
TF_LAYOUT(wide_heads_combine_spec::args, d_part_, 0);
TF_LAYOUT(wide_heads_combine_spec::args, d_, 8);
static_assert(sizeof(wide_heads_combine_spec::args) == 16, "size of args");
