// Written by tfgen: llama_qkv_pack of specs/llama-block.yaml for cdna; read it beside templates/gemm/pack.h.
struct llama_qkv_pack_spec {
    struct args {
        const bf16 *wq_;
        const bf16 *attn_norm_;
        const bf16 *wk_;
        const bf16 *wv_;
        bf16 *packed;
    };
    static constexpr int packed_n = 384, packed_k = 256, threads = 256;
    using type = bf16;
    DEV static float element(const args &p, int n, int k)
    {
        const auto *const wq_ = p.wq_;
        const auto *const attn_norm_ = p.attn_norm_;
        const auto *const wk_ = p.wk_;
        const auto *const wv_ = p.wv_;
        if (k >= 256) return 0.0f;
        if (n < 256) {
            const int at = n, in = at % 32, pair = at / 32 * 16 + in % 16;
            const int head = pair / 16, j = pair % 16, col = head * 32 + j + (in < 16 ? 0 : 16);
            return j < 16 ? op_mul(load_one(wq_ + col * 256ll + k), load_one(attn_norm_ + k)) : 0.0f; // !27:5
        }
        if (n < 320) {
            const int at = n - 256, in = at % 32, pair = at / 32 * 16 + in % 16;
            const int head = pair / 16, j = pair % 16, col = head * 32 + j + (in < 16 ? 0 : 16);
            return j < 16 ? op_mul(load_one(wk_ + col * 256ll + k), load_one(attn_norm_ + k)) : 0.0f; // !28:5
        }
        const int col = n - 320;
        return col < 64 ? op_mul(load_one(wv_ + col * 256ll + k), load_one(attn_norm_ + k)) : 0.0f; // !29:5
    }
    DEV static type *out(const args &p) { return p.packed; }
};
TF_LAYOUT(llama_qkv_pack_spec::args, wq_, 0);
TF_LAYOUT(llama_qkv_pack_spec::args, attn_norm_, 8);
TF_LAYOUT(llama_qkv_pack_spec::args, wk_, 16);
TF_LAYOUT(llama_qkv_pack_spec::args, wv_, 24);
TF_LAYOUT(llama_qkv_pack_spec::args, packed, 32);
static_assert(sizeof(llama_qkv_pack_spec::args) == 40, "size of args");
