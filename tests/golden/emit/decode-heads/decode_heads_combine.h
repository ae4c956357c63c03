// Written by tfgen: decode_heads_combine of tests/specs/decode-heads.yaml for host; read it beside templates/attention/decode.h.
// Kernel k1_join, phase combine:
//   body %y              bf16[4,1,512]       = attention_combine %y.part heads=8                !14:5
struct decode_heads_combine_spec {
    struct args {
        const float *y_part_;
        bf16 *y_;
    };
    static constexpr int head_dim = 64, heads = 8, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return 4; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.y_part_ + (((batch + token) * 8 + head) * 1ll + split) * 66; // !14:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.y_ + (batch + token) * 512ll + head * 64 + col, left, o); // !14:5
    }
};
TF_LAYOUT(decode_heads_combine_spec::args, y_part_, 0);
TF_LAYOUT(decode_heads_combine_spec::args, y_, 8);
static_assert(sizeof(decode_heads_combine_spec::args) == 16, "size of args");
