// Written by tfgen: odd_rows_z of tests/specs/odd-rows.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k4, phase z:
//   pro  %rest           bf16[2,S,37] in %wide+3/40 = slice %wide offset=3                      !18:5
//   body %z              bf16[2,S,51]        = linear %rest, %wz                                !19:5
struct odd_rows_z_spec {
    struct args {
        const bf16 *wide_;
        const bf16 *packed;
        bf16 *z_;
        int S_;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> rest_ = load<V>(p.wide_ + row * 40ll + k + 3, left); // !18:5
        return rest_; // !19:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void z_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Half, W>(p.z_ + row * 51ll + col, left, product); // !19:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        z_epilogue<W, 0>(p, c, row, n, lo, sum, out);
        z_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
    }
};
TF_LAYOUT(odd_rows_z_spec::args, wide_, 0);
TF_LAYOUT(odd_rows_z_spec::args, packed, 8);
TF_LAYOUT(odd_rows_z_spec::args, z_, 16);
TF_LAYOUT(odd_rows_z_spec::args, S_, 24);
static_assert(sizeof(odd_rows_z_spec::args) == 32, "size of args");
