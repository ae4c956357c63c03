// Written by tfgen: odd_rows_c of tests/specs/odd-rows.yaml for host; read it beside templates/rows/rows.h.
// Kernel k5, phase c:
//   pro  %few            bf16[2,S,3] in %wide+0/40 = slice %wide                                !18:5
//   body %c              bf16[2,S,3]         = relu %few                                        !21:5
struct k5_c {
    struct args {
        const bf16 *wide;
        bf16 *c_;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c_;
    };
    static constexpr int N = 3, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> few = load<V>(p.wide + row * 40ll + col, left); // !18:5
        const vec<float, V> c_ = op_relu(few); // !21:5
        return {c_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store<V>(p.c_ + row * 3ll + col, left, e.c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k5_c::args, wide, 0);
TF_LAYOUT(k5_c::args, c_, 8);
TF_LAYOUT(k5_c::args, S, 16);
static_assert(sizeof(k5_c::args) == 24, "size of args");
