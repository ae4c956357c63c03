// Written by tfgen: decode_heads_attention of tests/specs/decode-heads.yaml for host; read it beside templates/attention/decode.h.
// Kernel k1, phase attention:
//   body %y.part         f32[4,1,8,66]       = attention_partial %q, %kc, %vc heads=8 kv_heads=2 causal window=200 scale=0.125 at=%pos
//      !14:5
struct decode_heads_attention_spec {
    struct args {
        const int *pos_;
        const bf16 *q_;
        const bf16 *keys_;
        const bf16 *values_;
        float *y_part_;
    };
    static constexpr int head_dim = 64, heads = 8, kv_heads = 2;
    static constexpr int team = 1, threads = 1, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 200;
    static constexpr float softcap = 0.0f, scale = 0.125f;
    using type = bf16;
    DEV static int batches(const args &p) { return 4; }
    DEV static int queries(const args &p) { return 1; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos_[batch] + 1, most = 300; // !14:5
        return keys < 0 ? 0 : keys < most ? keys : most; // !14:5
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos_[batch] + token; } // !14:5
    static constexpr bool aligned = true, long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.q_ + (batch + token) * 512ll + head * 64; // !14:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.keys_ + (batch * 2ll + head) * 300 * 64ll + key * 64ll; // !14:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.values_ + (batch * 2ll + head) * 300 * 64ll + key * 64ll; // !14:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.y_part_ + (((batch + token) * 8 + head) * 1ll + split) * 66; // !14:5
    }
};
TF_LAYOUT(decode_heads_attention_spec::args, pos_, 0);
TF_LAYOUT(decode_heads_attention_spec::args, q_, 8);
TF_LAYOUT(decode_heads_attention_spec::args, keys_, 16);
TF_LAYOUT(decode_heads_attention_spec::args, values_, 24);
TF_LAYOUT(decode_heads_attention_spec::args, y_part_, 32);
static_assert(sizeof(decode_heads_attention_spec::args) == 40, "size of args");
