// Written by tfgen: odd_head_cache_qkv of tests/specs/odd-head-cache.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase qkv:
//   body %q              bf16[2,5,44]        = linear %x, %wq                                   !9:5
//   body %k              bf16[2,5,44]        = linear %x, %wk                                   !10:5
//   body %v              bf16[2,5,44]        = linear %x, %wv                                   !11:5
//   epi  %qr             bf16[2,5,44]        = rope %q heads=2 pairing=half theta=10000 rotary=22 at=%pos !12:5
//   epi  %kr             bf16[2,5,44]        = rope %k heads=2 pairing=half theta=10000 rotary=22 at=%pos !13:5
//   epi  %kc             bf16[2,2,9,22] in %k_cache+0/22 = kv_append %kr at=%pos state=%k_cache !14:5
//   epi  %vc             bf16[2,2,9,22] in %v_cache+0/22 = kv_append %v at=%pos state=%v_cache  !15:5
// Frequencies of the rotated pairs of columns, in 2^-64 of a revolution per token.
TF_TABLE unsigned long long odd_head_cache_qkv_qr_table[11] = { // !12:5
    0x28be60db93910600ull, 0x11a30fd1cd021100ull, 0x7a276644dc26940ull, 0x34e0a46fcdbd2e0ull, 0x16e3b077439a450ull, 0x9e885061f8e2d0ull,
    0x449ffb0f6bd994ull, 0x1db4c26c5ab1abull, 0xcdbeb389fec1dull, 0x590fe3a627487ull, 0x268d871cb1c30ull
};
struct odd_head_cache_qkv_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        const int *pos_;
        bf16 *qr_;
        bf16 *k_cache_;
        bf16 *v_cache_;
    };
    static constexpr int K = 44, packed_n = 192, packed_k = 64, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {
        int position, sequence;
    };
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 44ll + k, left); // !5:10
        return x_; // !9:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        c.sequence = row / 5; // !12:5
        c.position = p.pos_[c.sequence] + row % 5; // !12:5
        return c;
    }
    template <int W, class Out> DEV static void q_epilogue(const args &p, const context &c, int row, int pair, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 22 + pair, far = col + 11;
        const int left = 11 - pair;
        if (left <= 0) return;
        const rope_rotation<W> qr_rotation_ = rope_rotation_at<W, 11>(pair, c.position, odd_head_cache_qkv_qr_table); // !12:5
        const vec<float, W> qr_ = rope_low(qr_rotation_, lo, hi); // !12:5
        out.template put_some<0, W>(p.qr_ + row * 44ll + col, left, qr_); // !12:5
        const vec<float, W> qr_far_ = rope_high(qr_rotation_, lo, hi); // !12:5
        out.template put_some<1, W>(p.qr_ + row * 44ll + far, left, qr_far_); // !12:5
    }
    template <int W, class Out> DEV static void k_epilogue(const args &p, const context &c, int row, int pair, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 22 + pair, far = col + 11;
        const int left = 11 - pair;
        if (left <= 0) return;
        const rope_rotation<W> kr_rotation_ = rope_rotation_at<W, 11>(pair, c.position, odd_head_cache_qkv_qr_table); // !13:5
        const vec<float, W> kr_ = rope_low(kr_rotation_, lo, hi); // !13:5
        if (c.position >= 0 && c.position < 9) // !14:5
            for (int i = 0; i < W && i < left; i++) // !14:5
                store_one(p.k_cache_ + ((c.sequence * 2ll + (col + i) / 22) * 9 + c.position) * 22 + (col + i) % 22, kr_[i]); // !14:5
        const vec<float, W> kr_far_ = rope_high(kr_rotation_, lo, hi); // !13:5
        if (c.position >= 0 && c.position < 9) // !14:5
            for (int i = 0; i < W && i < left; i++) // !14:5
                store_one(p.k_cache_ + ((c.sequence * 2ll + (far + i) / 22) * 9 + c.position) * 22 + (far + i) % 22, kr_far_[i]); // !14:5
    }
    template <int W, int Half, class Out> DEV static void v_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        if (c.position >= 0 && c.position < 9) // !15:5
            for (int i = 0; i < W && i < left; i++) // !15:5
                store_one(p.v_cache_ + ((c.sequence * 2ll + (col + i) / 22) * 9 + c.position) * 22 + (col + i) % 22, product[i]); // !15:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 64) {
            q_epilogue<W>(p, c, row, n / 32 * 16 + n % 32, lo, hi, sum, out);
            return;
        }
        if (n < 128) {
            k_epilogue<W>(p, c, row, (n - 64) / 32 * 16 + (n - 64) % 32, lo, hi, sum, out);
            return;
        }
        v_epilogue<W, 0>(p, c, row, n - 128, lo, sum, out);
        v_epilogue<W, 1>(p, c, row, n - 112, hi, sum, out);
    }
};
TF_LAYOUT(odd_head_cache_qkv_spec::args, x_, 0);
TF_LAYOUT(odd_head_cache_qkv_spec::args, packed, 8);
TF_LAYOUT(odd_head_cache_qkv_spec::args, pos_, 16);
TF_LAYOUT(odd_head_cache_qkv_spec::args, qr_, 24);
TF_LAYOUT(odd_head_cache_qkv_spec::args, k_cache_, 32);
TF_LAYOUT(odd_head_cache_qkv_spec::args, v_cache_, 40);
static_assert(sizeof(odd_head_cache_qkv_spec::args) == 48, "size of args");
