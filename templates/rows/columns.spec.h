// Written by tfgen: columns_y of tests/specs/columns.yaml for hopper; read it beside templates/rows/columns.h.
// Kernel k0, phase y:
//   pro  %a              bf16[300,72]        = mul %x, %z                                       !9:5
//   body %m.s            f32[1,72]           = column_sum %a                                    !10:5
//   epi  %m.r            bf16[1,72]          = div %m.s, 300                                    !10:5
//   epi  %m              bf16[72] in %m.r+0/72 = reshape %m.r                                   !10:5
//   epi  %y              bf16[72]            = add %m, %w                                       !11:5
struct columns_y_spec {
    struct args {
        const bf16 *x_;
        const bf16 *z_;
        const bf16 *w_;
        bf16 *y_;
    };
    static constexpr int N = 72, terms = 300, threads = 512, lanes = 16, V = 8, parts = 1;
    using take = take_sum; // !10:5
    DEV static int rows(const args &p) { return 1; }
    DEV static int apart(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> term(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 72ll + col); // !6:10
        const vec<float, V> z_ = load_aligned<V>(p.z_ + row * 72ll + col); // !6:21
        const vec<float, V> a_ = op_mul(x_, z_); // !9:5
        return a_; // !10:5
    }
    template <int V> DEV static void write(const args &p, int row, int col, int left, vec<float, V> total)
    {
        const vec<float, V> m_r_ = op_div(total, 300.0f); // !10:5
        const vec<float, V> w_ = load_aligned<V>(p.w_ + row * 72ll + col); // !7:10
        const vec<float, V> y_ = op_add(m_r_, w_); // !11:5
        store_aligned<V>(p.y_ + row * 72ll + col, y_); // !11:5
    }
};
TF_LAYOUT(columns_y_spec::args, x_, 0);
TF_LAYOUT(columns_y_spec::args, z_, 8);
TF_LAYOUT(columns_y_spec::args, w_, 16);
TF_LAYOUT(columns_y_spec::args, y_, 24);
static_assert(sizeof(columns_y_spec::args) == 32, "size of args");
