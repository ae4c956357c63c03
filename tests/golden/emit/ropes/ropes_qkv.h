// Written by tfgen: ropes_qkv of tests/specs/ropes.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase qkv:
//   body %q.raw          f32[B,S,30]         = linear %x, %wq fold=%n fold_offset               !11:5
//   body %k.raw          f32[B,S,30]         = linear %x, %wk fold=%n fold_offset               !12:5
//   body %v.raw          f32[B,S,30]         = linear %x, %wv layout=in_out fold=%n fold_offset !13:5
//   epi  %q.ms           f32[B,S,1]          = div %h.ss, 24                                    !10:5
//   epi  %q.me           f32[B,S,1]          = add %q.ms, 1e-05                                 !10:5
//   epi  %q.r            f32[B,S,1]          = rsqrt %q.me                                      !10:5
//   epi  %q              bf16[B,S,30]        = mul %q.raw, %q.r                                 !10:5
//   epi  %k              bf16[B,S,30]        = mul %k.raw, %q.r                                 !10:5
//   epi  %v              bf16[B,S,30]        = mul %v.raw, %q.r                                 !10:5
//   epi  %qr             bf16[B,S,30]        = rope %q heads=3 pairing=interleaved theta=10000 rotary=10 at=%pos !14:5
//   epi  %vs             bf16[B,3,33,10] in %vc+0/10 = kv_append %v at=%pos state=%vc           !17:5
// Frequencies of the rotated pairs of columns, in 2^-64 of a revolution per token.
TF_TABLE unsigned long long ropes_qkv_qr_table[5] = { // !14:5
    0x28be60db93910600ull, 0x6751a832fb73300ull, 0x105ffcf68600a30ull, 0x29862a60a2c308ull, 0x694c487f352e4ull
};
struct ropes_qkv_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        const int *pos_;
        const float *h_ss_;
        bf16 *qr_;
        bf16 *k_;
        bf16 *vc_;
        int B_, S_;
    };
    static constexpr int K = 24, packed_n = 96, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {
        float q_r_;
        int position, sequence;
    };
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 24ll + k); // !6:10
        return x_; // !11:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        c.sequence = row / p.S_; // !14:5
        c.position = p.pos_[c.sequence] + row % p.S_; // !14:5
        const float h_ss_ = load_one(p.h_ss_ + row); // !10:5
        const float q_ms_ = op_div(h_ss_, 24.0f); // !10:5
        const float q_me_ = op_add(q_ms_, 1e-05f); // !10:5
        const float q_r_ = op_rsqrt(q_me_); // !10:5
        c.q_r_ = q_r_; // !10:5
        return c;
    }
    template <int W, int Half, class Out> DEV static void q_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        const vec<float, W> q_ = op_mul(product, c.q_r_); // !10:5
        const vec<float, W> qr_ = rope_interleaved<10, 10>(q_, col, c.position, ropes_qkv_qr_table); // !14:5
        out.template put_some<Half, W>(p.qr_ + row * 30ll + col, left, qr_); // !14:5
    }
    template <int W, int Half, class Out> DEV static void k_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        const vec<float, W> k_ = op_mul(product, c.q_r_); // !10:5
        out.template put_some<Half, W>(p.k_ + row * 30ll + col, left, k_); // !10:5
    }
    template <int W, int Half, class Out> DEV static void v_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 30 - col;
        if (left <= 0) return;
        const vec<float, W> v_ = op_mul(product, c.q_r_); // !10:5
        if (c.position >= 0 && c.position < 33) // !17:5
            for (int i = 0; i < W && i < left; i++) // !17:5
                store_one(p.vc_ + ((c.sequence * 3ll + (col + i) / 10) * 33 + c.position) * 10 + (col + i) % 10, v_[i]); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 32) {
            q_raw_epilogue<W, 0>(p, c, row, n, lo, sum, out);
            q_raw_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
            return;
        }
        if (n < 64) {
            k_raw_epilogue<W, 0>(p, c, row, n - 32, lo, sum, out);
            k_raw_epilogue<W, 1>(p, c, row, n - 16, hi, sum, out);
            return;
        }
        v_raw_epilogue<W, 0>(p, c, row, n - 64, lo, sum, out);
        v_raw_epilogue<W, 1>(p, c, row, n - 48, hi, sum, out);
    }
};
TF_LAYOUT(ropes_qkv_spec::args, x_, 0);
TF_LAYOUT(ropes_qkv_spec::args, packed, 8);
TF_LAYOUT(ropes_qkv_spec::args, pos_, 16);
TF_LAYOUT(ropes_qkv_spec::args, h_ss_, 24);
TF_LAYOUT(ropes_qkv_spec::args, qr_, 32);
TF_LAYOUT(ropes_qkv_spec::args, k_, 40);
TF_LAYOUT(ropes_qkv_spec::args, vc_, 48);
TF_LAYOUT(ropes_qkv_spec::args, B_, 56);
TF_LAYOUT(ropes_qkv_spec::args, S_, 60);
static_assert(sizeof(ropes_qkv_spec::args) == 64, "size of args");
