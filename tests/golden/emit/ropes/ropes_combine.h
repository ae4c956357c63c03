// Written by tfgen: ropes_combine of tests/specs/ropes.yaml for host; read it beside templates/attention/decode.h.
// Kernel k3_join, phase combine:
//   body %a              bf16[B,S,30]        = attention_combine %a.part heads=3                !18:5
struct k3_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
        int B, S;
    };
    static constexpr int head_dim = 10, heads = 3, splits = 1;
    static constexpr int threads = 1;
    DEV static int batches(const args &p) { return p.B; }
    DEV static int queries(const args &p) { return p.S; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * p.S + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * p.S + token) * 30ll + head * 10 + col, left, o); // !18:5
    }
};
TF_LAYOUT(k3_join_combine::args, a_part, 0);
TF_LAYOUT(k3_join_combine::args, a, 8);
TF_LAYOUT(k3_join_combine::args, B, 16);
TF_LAYOUT(k3_join_combine::args, S, 20);
static_assert(sizeof(k3_join_combine::args) == 24, "size of args");
