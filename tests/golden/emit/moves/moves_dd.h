// Written by tfgen: moves_dd of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase dd:
//   body %dd             bf16[B,S,17]        = concat %q, %cc                                   !12:5
struct k3_dd {
    struct args {
        const bf16 *q;
        const bf16 *cc;
        bf16 *dd;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> dd;
    };
    static constexpr int N = 17, threads = 1, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q_at0 = load<V>(p.q + row * 4ll + col, col >= 0 && col < 4 ? V : 0); // !9:5
        const vec<float, V> cc_at4 = load<V>(p.cc + row * 13ll + col - 4, (col - 4) >= 0 && (col - 4) < 13 ? V : 0); // !11:5
        const vec<float, V> dd = col >= 0 && col < 4 ? q_at0 : cc_at4; // !12:5
        return {dd};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.dd + row * 17ll + col, e.dd); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k3_dd::args, q, 0);
TF_LAYOUT(k3_dd::args, cc, 8);
TF_LAYOUT(k3_dd::args, dd, 16);
TF_LAYOUT(k3_dd::args, B, 24);
TF_LAYOUT(k3_dd::args, S, 28);
static_assert(sizeof(k3_dd::args) == 32, "size of args");
