// Written by tfgen: llama_down of specs/llama-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k5, phase down:
//   body %down           bf16[B,S,256]       = linear %prod, %w_down                            !41:5
//   epi  %x2             bf16[B,S,256]       = add %x1, %down                                   !42:5
struct k5_down {
    struct args {
        const bf16 *prod;
        const bf16 *packed;
        const bf16 *x1;
        bf16 *x2;
        int B, S;
    };
    static constexpr int K = 688, packed_n = 256, packed_k = 704, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, slots = 2;
    static constexpr int width = 16;
    static constexpr bool row_sums = false, b_plain = true;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> prod = load_aligned<V>(p.prod + row * 688ll + k); // !40:5
        return prod; // !41:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Slot, class Out> DEV static void columns_down(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> x1 = load_aligned<W>(p.x1 + row * 256ll + col); // !34:5
        const vec<float, W> x2 = op_add(x1, product); // !42:5
        out.template put<Slot, W>(p.x2 + row * 256ll + col, x2); // !42:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        columns_down<W, 0>(p, c, row, n, lo, sum, out);
        columns_down<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k5_down::args, prod, 0);
TF_LAYOUT(k5_down::args, packed, 8);
TF_LAYOUT(k5_down::args, x1, 16);
TF_LAYOUT(k5_down::args, x2, 24);
TF_LAYOUT(k5_down::args, B, 32);
TF_LAYOUT(k5_down::args, S, 36);
static_assert(sizeof(k5_down::args) == 40, "size of args");
