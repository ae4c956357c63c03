// Written by tfgen: ropes_attention of tests/specs/ropes.yaml for host; read it beside templates/attention/decode.h.
// Kernel k3, phase attention:
//   body %a.part         f32[B,S,3,12]       = attention_partial %qr, %ks, %vs heads=3 kv_heads=3 causal window=7 softcap=30
//      scale=0.31622776601683794 at=%pos !18:5
struct ropes_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *qr_;
        const bf16 *kc_;
        const bf16 *vc_;
        float *a_part_;
        int B_, S_;
    };
    static constexpr int head_dim = 10, heads = 3, kv_heads = 3;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 7;
    static constexpr float softcap = 30.0f, scale = 0.31622776f;
    using type = bf16;
    DEV static int batches(const args &p) { return p.B_; }
    DEV static int queries(const args &p) { return p.S_; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos_[batch] + p.S_, most = 33; // !18:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !18:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !18:5
    static constexpr bool aligned = false, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr_ + (batch * p.S_ + token) * 30ll + head * 10; // !18:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.kc_ + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.vc_ + (batch * 3ll + head) * 33 * 10ll + key * 10ll; // !18:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part_ + (((batch * p.S_ + token) * 3 + head) * 1ll + split) * 12; // !18:5
    }
};
TF_LAYOUT(ropes_attention_spec::args, pos_, 0);
TF_LAYOUT(ropes_attention_spec::args, qr_, 8);
TF_LAYOUT(ropes_attention_spec::args, kc_, 16);
TF_LAYOUT(ropes_attention_spec::args, vc_, 24);
TF_LAYOUT(ropes_attention_spec::args, a_part_, 32);
TF_LAYOUT(ropes_attention_spec::args, B_, 40);
TF_LAYOUT(ropes_attention_spec::args, S_, 44);
static_assert(sizeof(ropes_attention_spec::args) == 48, "size of args");
