// Written by tfgen: columns_k of tests/specs/columns.yaml for host; read it beside templates/rows/columns.h.
// Kernel k4, phase k:
//   pro  %k.l            bf16[2,37,15] in %n+0/15 = reshape %n                                  !17:5
//   body %k.r            bf16[2,1,15] in %k+0/15 = column_min %k.l axis=1                       !17:5
//   epi  %k              bf16[2,5,3]         = reshape %k.r                                     !17:5
struct columns_k_spec {
    struct args {
        const bf16 *n_;
        bf16 *k_;
    };
    static constexpr int N = 15, terms = 37, threads = 1, lanes = 1, V = 16, parts = 1;
    using take = take_min; // !17:5
    DEV static int rows(const args &p) { return 2; }
    DEV static int apart(const args &p) { return 1; }
    template <int V> DEV static vec<float, V> term(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_l_ = load<V>(p.n_ + row * 15ll + col, left); // !17:5
        return k_l_; // !17:5
    }
    template <int V> DEV static void write(const args &p, int row, int col, int left, vec<float, V> total)
    {
        store<V>(p.k_ + row * 15ll + col, left, total); // !17:5
    }
};
TF_LAYOUT(columns_k_spec::args, n_, 0);
TF_LAYOUT(columns_k_spec::args, k_, 8);
static_assert(sizeof(columns_k_spec::args) == 16, "size of args");
