// Written by tfgen: bert_qkv of specs/bert-block.yaml for host; read it beside templates/gemm/gemm.h.
// Kernel k0, phase qkv:
//   body %q.l            f32[B,S,128]        = linear %x, %wq                                   !31:5
//   body %k.l            f32[B,S,128]        = linear %x, %wk                                   !32:5
//   body %v.l            f32[B,S,128]        = linear %x, %wv                                   !33:5
//   epi  %q              bf16[B,S,128]       = add %q.l, %bq                                    !31:5
//   epi  %k              bf16[B,S,128]       = add %k.l, %bk                                    !32:5
//   epi  %v              bf16[B,S,128]       = add %v.l, %bv                                    !33:5
struct bert_qkv_spec {
    struct args {
        const bf16 *x_;
        const bf16 *packed;
        const bf16 *bq_;
        bf16 *q_;
        const bf16 *bk_;
        bf16 *k_;
        const bf16 *bv_;
        bf16 *v_;
        int B_, S_;
    };
    static constexpr int K = 128, packed_n = 384, packed_k = 128, granule = 16;
    static constexpr int tile_m = 32, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32, threads = 16, stages = 2;
    static constexpr int width = 16, split_k = 1;
    static constexpr bool row_sums = false, b_plain = true, a_across = false, b_across = false;
    using b_type = bf16;
    struct context {};
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int batches(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 128ll + k); // !12:10
        return x_; // !31:5
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row) { return {}; }
    template <int W, int Half, class Out> DEV static void q_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bq_ = load_aligned<W>(p.bq_ + col); // !15:3
        const vec<float, W> q_ = op_add(product, bq_); // !31:5
        out.template put<Half, W>(p.q_ + row * 128ll + col, q_); // !31:5
    }
    template <int W, int Half, class Out> DEV static void k_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bk_ = load_aligned<W>(p.bk_ + col); // !17:3
        const vec<float, W> k_ = op_add(product, bk_); // !32:5
        out.template put<Half, W>(p.k_ + row * 128ll + col, k_); // !32:5
    }
    template <int W, int Half, class Out> DEV static void v_l_epilogue(const args &p, const context &c, int row, int col,
            vec<float, W> product, float &sum, Out &out)
    {
        const vec<float, W> bv_ = load_aligned<W>(p.bv_ + col); // !19:3
        const vec<float, W> v_ = op_add(product, bv_); // !33:5
        out.template put<Half, W>(p.v_ + row * 128ll + col, v_); // !33:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo,
            vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 128) {
            q_l_epilogue<W, 0>(p, c, row, n, lo, sum, out);
            q_l_epilogue<W, 1>(p, c, row, n + 16, hi, sum, out);
            return;
        }
        if (n < 256) {
            k_l_epilogue<W, 0>(p, c, row, n - 128, lo, sum, out);
            k_l_epilogue<W, 1>(p, c, row, n - 112, hi, sum, out);
            return;
        }
        v_l_epilogue<W, 0>(p, c, row, n - 256, lo, sum, out);
        v_l_epilogue<W, 1>(p, c, row, n - 240, hi, sum, out);
    }
};
TF_LAYOUT(bert_qkv_spec::args, x_, 0);
TF_LAYOUT(bert_qkv_spec::args, packed, 8);
TF_LAYOUT(bert_qkv_spec::args, bq_, 16);
TF_LAYOUT(bert_qkv_spec::args, q_, 24);
TF_LAYOUT(bert_qkv_spec::args, bk_, 32);
TF_LAYOUT(bert_qkv_spec::args, k_, 40);
TF_LAYOUT(bert_qkv_spec::args, bv_, 48);
TF_LAYOUT(bert_qkv_spec::args, v_, 56);
TF_LAYOUT(bert_qkv_spec::args, B_, 64);
TF_LAYOUT(bert_qkv_spec::args, S_, 68);
static_assert(sizeof(bert_qkv_spec::args) == 72, "size of args");
