// Written by tfgen: f32_matmul_y_columns of tests/specs/f32-matmul.yaml for hopper; read it beside templates/gemm/tf32_terms.h.
// Kernel k0_terms, phase y_columns:
//   body %y.columns      f32[B,72,200]/448   = tf32_terms %y                                    !8:5
struct f32_matmul_y_columns_spec {
    struct args {
        const float *y_;
        float *y_columns_;
        int B_;
    };
    static constexpr int N = 72, K = 200, threads = 256, each = 2;
    static constexpr bool across = true;
    DEV static int batches(const args &p) { return p.B_; }
    template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)
    {
        vec<float, V> column = splat<V>(0.0f);
        for (int i = 0; i < V; i++)
            if (i < left && n < 72) column[i] = load_one(p.y_ + (batch * 200 + k + i) * 72ll + n); // !8:5
        return column;
    }
    DEV static float *to(const args &p, int row) { return p.y_columns_ + row * 448ll; } // !8:5
};
TF_LAYOUT(f32_matmul_y_columns_spec::args, y_, 0);
TF_LAYOUT(f32_matmul_y_columns_spec::args, y_columns_, 8);
TF_LAYOUT(f32_matmul_y_columns_spec::args, B_, 16);
static_assert(sizeof(f32_matmul_y_columns_spec::args) == 24, "size of args");
