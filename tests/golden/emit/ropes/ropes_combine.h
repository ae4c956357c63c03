// Written by tfgen: ropes_combine of tests/specs/ropes.yaml for host; read it beside templates/attention/decode.h.
// Kernel k3_join, phase combine:
//   body %a              bf16[B,S,30]        = attention_combine %a.part heads=3                !18:5
struct ropes_combine_spec {
    struct args {
        const float *a_part_;
        bf16 *a_;
        int B_, S_;
    };
    static constexpr int head_dim = 10, heads = 3, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch * p.S_ + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a_ + (batch * p.S_ + token) * 30ll + head * 10 + col, left, o); // !18:5
    }
};
TF_LAYOUT(ropes_combine_spec::args, a_part_, 0);
TF_LAYOUT(ropes_combine_spec::args, a_, 8);
TF_LAYOUT(ropes_combine_spec::args, B_, 16);
TF_LAYOUT(ropes_combine_spec::args, S_, 20);
static_assert(sizeof(ropes_combine_spec::args) == 24, "size of args");
