// Written by tfgen: llama_qkv of specs/llama-block.yaml for ampere; read it beside templates/gemm/gemm_mma.h.
// Kernel k1, phase qkv:
//   body %q.raw          f32[B,S,256]        = linear %x, %wq fold=%attn_norm                   !27:5
//   body %k.raw          f32[B,S,64]         = linear %x, %wk fold=%attn_norm                   !28:5
//   body %v.raw          f32[B,S,64]         = linear %x, %wv fold=%attn_norm                   !29:5
//   epi  %q.ms           f32[B,S,1]          = div %h.ss, 256                                   !26:5
//   epi  %q.me           f32[B,S,1]          = add %q.ms, 1e-05                                 !26:5
//   epi  %q.r            f32[B,S,1]          = rsqrt %q.me                                      !26:5
//   epi  %q              bf16[B,S,256]       = mul %q.raw, %q.r                                 !26:5
//   epi  %k              bf16[B,S,64]        = mul %k.raw, %q.r                                 !26:5
//   epi  %v              bf16[B,S,64]        = mul %v.raw, %q.r                                 !26:5
//   epi  %qr             bf16[B,S,256]       = rope %q heads=8 pairing=half theta=500000 rotary=32 !30:5
//   epi  %kr             bf16[B,S,64]        = rope %k heads=2 pairing=half theta=500000 rotary=32 !31:5
// What a token adds to the turn of each pair of columns, in units of 2^-64 of a whole one.
TF_TABLE unsigned long long k1_qkv_qr_turns[16] = { // !30:5
    0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull,
    0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull,
    0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull
};
struct k1_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const float *h_ss;
        bf16 *qr;
        bf16 *kr;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, threads = 128, slots = 4, group = 8;
    static constexpr int width = 4, resident = 1;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, reads = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float q_r;
        int position;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static const a_type *a_row(const args &p, int batch, int row) { return p.x + row * 256ll; } // !27:5
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        c.position = row % p.S; // !30:5
        const float h_ss = load_one(p.h_ss + row); // !26:5
        const float q_ms = op_div(h_ss, 256.0f); // !26:5
        const float q_me = op_add(q_ms, 1e-05f); // !26:5
        const float q_r = op_rsqrt(q_me); // !26:5
        c.q_r = q_r; // !26:5
        return c;
    }
    template <int W, class Out> DEV static void pairs_q_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const vec<float, W> q = op_mul(lo, c.q_r); // !26:5
        const vec<float, W> q_far = op_mul(hi, c.q_r); // !26:5
        const rope_turn<W> qr_turn = rope_turn_at<W, 16>(pair, c.position, k1_qkv_qr_turns); // !30:5
        const vec<float, W> qr = rope_low(qr_turn, q, q_far); // !30:5
        out.template put<0, W>(p.qr + row * 256ll + col, qr); // !30:5
        const vec<float, W> qr_far = rope_high(qr_turn, q, q_far); // !30:5
        out.template put<1, W>(p.qr + row * 256ll + far, qr_far); // !30:5
    }
    template <int W, class Out> DEV static void pairs_k_raw(const args &p, const context &c, int row, int pair, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const vec<float, W> k_ = op_mul(lo, c.q_r); // !26:5
        const vec<float, W> k_far = op_mul(hi, c.q_r); // !26:5
        const rope_turn<W> kr_turn = rope_turn_at<W, 16>(pair, c.position, k1_qkv_qr_turns); // !31:5
        const vec<float, W> kr = rope_low(kr_turn, k_, k_far); // !31:5
        out.template put<0, W>(p.kr + row * 64ll + col, kr); // !31:5
        const vec<float, W> kr_far = rope_high(kr_turn, k_, k_far); // !31:5
        out.template put<1, W>(p.kr + row * 64ll + far, kr_far); // !31:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v_raw(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> v = op_mul(product, c.q_r); // !26:5
        out.template put<Slot, W>(p.v + row * 64ll + col, v); // !26:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 256) {
            pairs_q_raw<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
            return;
        }
        if (n < 320) {
            pairs_k_raw<W>(p, c, row, (n - 256) / (2 * granule) * granule + (n - 256) % (2 * granule), lo, hi, sum, out);
            return;
        }
        columns_v_raw<W, 0>(p, c, row, n - 320, lo, sum, out);
        columns_v_raw<W, 1>(p, c, row, n - 320 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, x, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, h_ss, 16);
TF_LAYOUT(k1_qkv::args, qr, 24);
TF_LAYOUT(k1_qkv::args, kr, 32);
TF_LAYOUT(k1_qkv::args, v, 40);
TF_LAYOUT(k1_qkv::args, B, 48);
TF_LAYOUT(k1_qkv::args, S, 52);
static_assert(sizeof(k1_qkv::args) == 56, "size of args");
