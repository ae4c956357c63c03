// Written by tfgen: llama_qkv_pack of specs/llama-block.yaml for cdna; read it beside templates/gemm/pack.h.
struct k1_pack {
    struct args {
        const bf16 *wq;
        const bf16 *attn_norm;
        const bf16 *wk;
        const bf16 *wv;
        bf16 *packed;
    };
    static constexpr int packed_n = 384, packed_k = 256, threads = 256;
    using type = bf16;
    DEV static float element(const args &p, int n, int k)
    {
        const auto *const p_wq = p.wq;
        const auto *const p_attn_norm = p.attn_norm;
        const auto *const p_wk = p.wk;
        const auto *const p_wv = p.wv;
        if (k >= 256) return 0.0f;
        if (n < 256) {
            const int at = n, in = at % 32, pair = at / 32 * 16 + in % 16;
            const int head = pair / 16, j = pair % 16, col = head * 32 + j + (in < 16 ? 0 : 16);
            return j < 16 ? op_mul(load_one(p_wq + col * 256ll + k), load_one(p_attn_norm + k)) : 0.0f; // !27:5
        }
        if (n < 320) {
            const int at = n - 256, in = at % 32, pair = at / 32 * 16 + in % 16;
            const int head = pair / 16, j = pair % 16, col = head * 32 + j + (in < 16 ? 0 : 16);
            return j < 16 ? op_mul(load_one(p_wk + col * 256ll + k), load_one(p_attn_norm + k)) : 0.0f; // !28:5
        }
        const int col = n - 320;
        return col < 64 ? op_mul(load_one(p_wv + col * 256ll + k), load_one(p_attn_norm + k)) : 0.0f; // !29:5
    }
    DEV static type *out(const args &p) { return p.packed; }
};
TF_LAYOUT(k1_pack::args, wq, 0);
TF_LAYOUT(k1_pack::args, attn_norm, 8);
TF_LAYOUT(k1_pack::args, wk, 16);
TF_LAYOUT(k1_pack::args, wv, 24);
TF_LAYOUT(k1_pack::args, packed, 32);
static_assert(sizeof(k1_pack::args) == 40, "size of args");
