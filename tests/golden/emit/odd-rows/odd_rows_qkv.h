// Written by tfgen: odd_rows_qkv of tests/specs/odd-rows.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k1, phase qkv:
//   body %t              bf16[2,S,37]        = linear %x, %wt                                   !12:5
//   body %b              bf16[2,S,51]        = linear %x, %wb                                   !20:5
//   epi  %h              bf16[2,S,37]        = add %x, %t                                       !13:5
//   epi  %s.ss           f32[2,S,1]          = row_sumsq %h                                     !14:5
struct odd_rows_qkv_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        bf16 *h_;
        bf16 *b_;
        float *s_ss_;
        int S_;
    };
    static constexpr int K = 37, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = true, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 37ll + k, left); // !7:10
        return x_; // !12:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void t_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        const vec<float, W> x_ = load<W>(p.x_ + row * 37ll + col, left); // !7:10
        const vec<float, W> h_ = op_cast<bf16>(op_add(x_, product)); // !13:5
        out.template put_some<Half, W>(p.h_ + row * 37ll + col, left, h_); // !13:5
        sum += total<W>(mask<W>(op_square(h_), left)); // !14:5
    }
    template <int W, int Half, class Out> DEV static void b_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.b_ + row * 51ll + col, left, product); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 64) {
            t_epilogue<W, 0>(p, c, row, n, lo, sum, out);
            t_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
            return;
        }
        b_epilogue<W, 0>(p, c, row, n - 64, lo, sum, out);
        b_epilogue<W, 1>(p, c, row, n - 48, hi, sum, out);
    }
    DEV static void finish_row(const args &p, int batch, int row, int column_tile, float sum)
    {
        p.s_ss_[row + column_tile] = sum; // !14:5
    }
};
TF_LAYOUT(odd_rows_qkv_spec::args, x_, 0);
TF_LAYOUT(odd_rows_qkv_spec::args, packed, 8);
TF_LAYOUT(odd_rows_qkv_spec::args, h_, 16);
TF_LAYOUT(odd_rows_qkv_spec::args, b_, 24);
TF_LAYOUT(odd_rows_qkv_spec::args, s_ss_, 32);
TF_LAYOUT(odd_rows_qkv_spec::args, S_, 40);
static_assert(sizeof(odd_rows_qkv_spec::args) == 48, "size of args");
