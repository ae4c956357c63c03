// Written by tfgen: products_e of tests/specs/products.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase e:
//   body %e              f16[B,3,S,12]       = exp %x                                           !9:5
struct products_e_spec {
    struct args {
        const f16 *x_;
        f16 *e_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> e_;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return 3 * p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load<V>(p.x_ + row * 12ll + col, left); // !6:10
        const vec<float, V> e_ = op_exp(x_); // !9:5
        return {e_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.e_ + row * 12ll + col, left, e.e_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(products_e_spec::args, x_, 0);
TF_LAYOUT(products_e_spec::args, e_, 8);
TF_LAYOUT(products_e_spec::args, B_, 16);
TF_LAYOUT(products_e_spec::args, S_, 20);
static_assert(sizeof(products_e_spec::args) == 24, "size of args");
