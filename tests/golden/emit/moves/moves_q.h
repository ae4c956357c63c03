// Written by tfgen: moves_q of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase q:
//   body %q              bf16[B,S,4]         = slice %x offset=1                                !9:5
struct k0_q {
    struct args {
        const bf16 *x;
        bf16 *q;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> q_from1;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 12ll + col); // !6:10
        const vec<float, V> q_from1 = x; // !9:5
        return {q_from1};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (col >= 1 && col < 5) // !9:5
            store_aligned<V>(p.q + row * 4ll + col - 1, e.q_from1); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_q::args, x, 0);
TF_LAYOUT(k0_q::args, q, 8);
TF_LAYOUT(k0_q::args, B, 16);
TF_LAYOUT(k0_q::args, S, 20);
static_assert(sizeof(k0_q::args) == 24, "size of args");
