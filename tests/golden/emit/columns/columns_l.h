// Written by tfgen: columns_l of tests/specs/columns.yaml for host; read it beside templates/rows/columns.h.
// Kernel k2, phase l:
//   pro  %e              bf16[B,43,S,72]     = exp %v                                           !13:5
//   body %s              bf16[B,1,S,72]      = column_sum %e axis=1                             !14:5
//   epi  %l              bf16[B,1,S,72]      = log %s                                           !15:5
struct columns_l_spec {
    struct args {
        const bf16 *v_;
        bf16 *l_;
        int B_, S_;
    };
    static constexpr int N = 72, terms = 43, threads = 1, lanes = 1, V = 16, parts = 1;
    using take = take_sum; // !14:5
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int apart(const args &p) { return p.S_; }
    template <int V> DEV static vec<float, V> term(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load<V>(p.v_ + row * 72ll + col, left); // !6:32
        const vec<float, V> e_ = op_exp(v_); // !13:5
        return e_; // !14:5
    }
    template <int V> DEV static void write(const args &p, int row, int col, int left, vec<float, V> total)
    {
        const vec<float, V> l_ = op_log(total); // !15:5
        store<V>(p.l_ + row * 72ll + col, left, l_); // !15:5
    }
};
TF_LAYOUT(columns_l_spec::args, v_, 0);
TF_LAYOUT(columns_l_spec::args, l_, 8);
TF_LAYOUT(columns_l_spec::args, B_, 16);
TF_LAYOUT(columns_l_spec::args, S_, 20);
static_assert(sizeof(columns_l_spec::args) == 24, "size of args");
