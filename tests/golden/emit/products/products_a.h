// Written by tfgen: products_a of tests/specs/products.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k3, phase a:
//   body %a              f16[B,3,S,9]        = matmul %x, %yy                                   !8:5
//   epi  %c              f16[B,3,S,9]        = add %a, %bias                                    !11:5
//   epi  %d              f16[B,3,S,9]        = mul %c, %s                                       !13:5
struct k3_a {
    struct args {
        const f16 *x;
        const f16 *yy;
        const f16 *bias;
        const f16 *s;
        f16 *d;
        int S, B;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 8, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = false;
    using b_type = f16;
    struct context {};
    DEV static int rows(const args &p) { return p.S; }
    DEV static int batches(const args &p) { return 3 * p.B; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        row += batch * p.S;
        const vec<float, V> x = load<V>(p.x + row * 12ll + k, left); // !6:10
        return x; // !8:5
    }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        vec<float, V> column = splat<V>(0.0f);
        for (int i = 0; i < V; i++)
            if (i < left && n < 9) column[i] = load_one(p.yy + (batch * 12 + k + i) * 9ll + n); // !8:5
        return column;
    }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Slot, class Out> DEV static void columns_a(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const int left = 9 - col;
        if (left <= 0) return;
        const vec<float, W> bias = load<W>(p.bias + row * 9ll + col, left); // !6:62
        const vec<float, W> c_ = op_add(product, bias); // !11:5
        const vec<float, W> s = load<W>(p.s + row * 9ll + col, left); // !12:5
        const vec<float, W> d = op_mul(c_, s); // !13:5
        out.template put_some<Slot, W>(p.d + row * 9ll + col, left, d); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        row += batch * p.S;
        columns_a<W, 0>(p, c, row, n, lo, sum, out);
        columns_a<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_a::args, x, 0);
TF_LAYOUT(k3_a::args, yy, 8);
TF_LAYOUT(k3_a::args, bias, 16);
TF_LAYOUT(k3_a::args, s, 24);
TF_LAYOUT(k3_a::args, d, 32);
TF_LAYOUT(k3_a::args, S, 40);
TF_LAYOUT(k3_a::args, B, 44);
static_assert(sizeof(k3_a::args) == 48, "size of args");
