// Written by tfgen: llama_decode_combine of specs/llama-decode.yaml for host; read it beside templates/attention/decode.h.
// Kernel k2_join, phase combine:
//   body %a              bf16[B,1,256]       = attention_combine %a.part heads=8                !41:5
struct k2_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B;
    };
    static constexpr int head_dim = 32, heads = 8, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return 1; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 1 + token) * 8 + head) * 1ll + split) * 34; // !41:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch + token) * 256ll + head * 32 + col, left, o); // !41:5
    }
};
TF_LAYOUT(k2_join_combine::args, a_part, 0);
TF_LAYOUT(k2_join_combine::args, a, 8);
TF_LAYOUT(k2_join_combine::args, B, 16);
static_assert(sizeof(k2_join_combine::args) == 24, "size of args");
