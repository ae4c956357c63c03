// Written by tfgen: odd_head_cache_combine of tests/specs/odd-head-cache.yaml for host; read it beside templates/attention/decode.h.
// Kernel k1_join, phase combine:
//   body %a              bf16[2,5,44]        = attention_combine %a.part heads=2                !16:5
struct odd_head_cache_combine_spec {
    struct args {
        const float *a_part_;
        bf16 *a_;
    };
    static constexpr int head_dim = 22, heads = 2, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a_ + (batch * 5 + token) * 44ll + head * 22 + col, left, o); // !16:5
    }
};
TF_LAYOUT(odd_head_cache_combine_spec::args, a_part_, 0);
TF_LAYOUT(odd_head_cache_combine_spec::args, a_, 8);
static_assert(sizeof(odd_head_cache_combine_spec::args) == 16, "size of args");
