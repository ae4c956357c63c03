// Written by tfgen: odd_rows_c of tests/specs/odd-rows.yaml for host; read it beside templates/rows/rows.h.
// Kernel k5, phase c:
//   pro  %few            bf16[2,S,3] in %wide+0/40 = slice %wide                                !18:5
//   body %c              bf16[2,S,3]         = relu %few                                        !21:5
struct odd_rows_c_spec {
    struct args {
        const bf16 *wide_;
        bf16 *c_;
        int S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c_;
    };
    static constexpr int N = 3, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return 2 * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> few_ = load<V>(p.wide_ + row * 40ll + col, left); // !18:5
        const vec<float, V> c_ = op_relu(few_); // !21:5
        return {c_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c_ + row * 3ll + col, left, e.c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(odd_rows_c_spec::args, wide_, 0);
TF_LAYOUT(odd_rows_c_spec::args, c_, 8);
TF_LAYOUT(odd_rows_c_spec::args, S_, 16);
static_assert(sizeof(odd_rows_c_spec::args) == 24, "size of args");
