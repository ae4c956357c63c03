// Written by tfgen: odd_rows_u of tests/specs/odd-rows.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k2, phase u:
//   body %u.raw          f32[2,S,51]         = linear %h, %wu fold=%nw                          !15:5
//   epi  %u.ms           f32[2,S,1]          = div %s.ss, 37                                    !14:5
//   epi  %u.me           f32[2,S,1]          = add %u.ms, 1e-05                                 !14:5
//   epi  %u.r            f32[2,S,1]          = rsqrt %u.me                                      !14:5
//   epi  %u              bf16[2,S,51]        = mul %u.raw, %u.r                                 !14:5
//   epi  %v              bf16[2,S,51]        = silu %u                                          !16:5
struct odd_rows_u_spec {
    struct args {
        const bf16 *h_;
        const bf16 *packed;
        const float *s_ss_;
        bf16 *v_;
        int S_;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {
        float u_r_;
    };
    DEV static int rows(const args &p) { return 2 * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> h_ = load<V>(p.h_ + row * 37ll + k, left); // !13:5
        return h_; // !15:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        const float s_ss_ = load_one(p.s_ss_ + row); // !14:5
        const float u_ms_ = op_div(s_ss_, 37.0f); // !14:5
        const float u_me_ = op_add(u_ms_, 1e-05f); // !14:5
        const float u_r_ = op_rsqrt(u_me_); // !14:5
        c.u_r_ = u_r_; // !14:5
        return c;
    }
    template <int W, int Half, class Out> DEV static void u_raw_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        const vec<float, W> u_ = op_mul(product, c.u_r_); // !14:5
        const vec<float, W> v_ = op_silu(u_); // !16:5
        out.template put_some<Half, W>(p.v_ + row * 51ll + col, left, v_); // !16:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        u_raw_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        u_raw_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(odd_rows_u_spec::args, h_, 0);
TF_LAYOUT(odd_rows_u_spec::args, packed, 8);
TF_LAYOUT(odd_rows_u_spec::args, s_ss_, 16);
TF_LAYOUT(odd_rows_u_spec::args, v_, 24);
TF_LAYOUT(odd_rows_u_spec::args, S_, 32);
static_assert(sizeof(odd_rows_u_spec::args) == 40, "size of args");
