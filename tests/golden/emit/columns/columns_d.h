// Written by tfgen: columns_d of tests/specs/columns.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase d:
//   body %d              bf16[B,43,S,72]     = sub %v, %l                                       !16:5
struct columns_d_spec {
    struct args {
        const bf16 *v_;
        const bf16 *l_;
        bf16 *d_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> d_;
    };
    static constexpr int N = 72, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return 43 * p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load<V>(p.v_ + row * 72ll + col, left); // !6:32
        const vec<float, V> l_ = load<V>(p.l_ + (row / (43 * p.S_) * p.S_ + row % p.S_) * 72ll + col, left); // !15:5
        const vec<float, V> d_ = op_sub(v_, l_); // !16:5
        return {d_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.d_ + row * 72ll + col, left, e.d_); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(columns_d_spec::args, v_, 0);
TF_LAYOUT(columns_d_spec::args, l_, 8);
TF_LAYOUT(columns_d_spec::args, d_, 16);
TF_LAYOUT(columns_d_spec::args, B_, 24);
TF_LAYOUT(columns_d_spec::args, S_, 28);
static_assert(sizeof(columns_d_spec::args) == 32, "size of args");
