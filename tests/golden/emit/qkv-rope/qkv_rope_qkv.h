// Written by tfgen: qkv_rope_qkv of specs/qkv-rope.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase qkv:
//   body %q              bf16[B,S,256]       = linear %x, %wq                                   !19:5
//   body %k              bf16[B,S,64]        = linear %x, %wk                                   !20:5
//   body %v              bf16[B,S,64]        = linear %x, %wv                                   !21:5
//   epi  %qr             bf16[B,S,256]       = rope %q heads=8 pairing=half theta=500000 rotary=32 !23:5
//   epi  %kr             bf16[B,S,64]        = rope %k heads=2 pairing=half theta=500000 rotary=32 !24:5
// Frequencies of the rotated pairs of columns, in 2^-64 of a revolution per token.
TF_TABLE unsigned long long qkv_rope_qkv_qr_table[16] = { // !23:5
    0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull,
    0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull,
    0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull
};
struct qkv_rope_qkv_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        bf16 *qr_;
        bf16 *kr_;
        bf16 *v_;
        int B_, S_;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {
        int position;
    };
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 256ll + k); // !13:10
        return x_; // !19:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        c.position = row % p.S_; // !23:5
        return c;
    }
    template <int W, class Out> DEV static void q_epilogue(const args &p, const context &c, int row, int pair, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const rope_rotation<W> qr_rotation_ = rope_rotation_at<W, 16>(pair, c.position, qkv_rope_qkv_qr_table); // !23:5
        const vec<float, W> qr_ = rope_low(qr_rotation_, lo, hi); // !23:5
        out.template put<0, W>(p.qr_ + row * 256ll + col, qr_); // !23:5
        const vec<float, W> qr_far_ = rope_high(qr_rotation_, lo, hi); // !23:5
        out.template put<1, W>(p.qr_ + row * 256ll + far, qr_far_); // !23:5
    }
    template <int W, class Out> DEV static void k_epilogue(const args &p, const context &c, int row, int pair, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const rope_rotation<W> kr_rotation_ = rope_rotation_at<W, 16>(pair, c.position, qkv_rope_qkv_qr_table); // !24:5
        const vec<float, W> kr_ = rope_low(kr_rotation_, lo, hi); // !24:5
        out.template put<0, W>(p.kr_ + row * 64ll + col, kr_); // !24:5
        const vec<float, W> kr_far_ = rope_high(kr_rotation_, lo, hi); // !24:5
        out.template put<1, W>(p.kr_ + row * 64ll + far, kr_far_); // !24:5
    }
    template <int W, int Half, class Out> DEV static void v_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Half, W>(p.v_ + row * 64ll + col, product); // !21:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 256) {
            q_epilogue<W>(p, c, row, n / 32 * 16 + n % 32, lo, hi, sum, out);
            return;
        }
        if (n < 320) {
            k_epilogue<W>(p, c, row, (n - 256) / 32 * 16 + (n - 256) % 32, lo, hi, sum, out);
            return;
        }
        v_epilogue<W, 0>(p, c, row, n - 320, lo, sum, out);
        v_epilogue<W, 1>(p, c, row, n - 304, hi, sum, out);
    }
};
TF_LAYOUT(qkv_rope_qkv_spec::args, x_, 0);
TF_LAYOUT(qkv_rope_qkv_spec::args, packed, 8);
TF_LAYOUT(qkv_rope_qkv_spec::args, qr_, 16);
TF_LAYOUT(qkv_rope_qkv_spec::args, kr_, 24);
TF_LAYOUT(qkv_rope_qkv_spec::args, v_, 32);
TF_LAYOUT(qkv_rope_qkv_spec::args, B_, 40);
TF_LAYOUT(qkv_rope_qkv_spec::args, S_, 44);
static_assert(sizeof(qkv_rope_qkv_spec::args) == 48, "size of args");
