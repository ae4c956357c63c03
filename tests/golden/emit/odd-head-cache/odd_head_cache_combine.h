// Written by tfgen: odd_head_cache_combine of tests/specs/odd-head-cache.yaml for host; read it beside templates/attention/decode.h.
// Kernel k1_join, phase combine:
//   body %a              bf16[2,5,44]        = attention_combine %a.part heads=2                !16:5
struct k1_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
    };
    static constexpr int head_dim = 22, heads = 2, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 5 + token) * 44ll + head * 22 + col, left, o); // !16:5
    }
};
TF_LAYOUT(k1_join_combine::args, a_part, 0);
TF_LAYOUT(k1_join_combine::args, a, 8);
static_assert(sizeof(k1_join_combine::args) == 16, "size of args");
