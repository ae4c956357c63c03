// Written by tfgen: moves_cc of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase cc:
//   pro  %o              bf16[B,S,7] in %x+5/12 = slice %x offset=5                             !9:5
//   body %cc             bf16[B,S,13]        = concat %z, %pp, %o                               !11:5
struct k2_cc {
    struct args {
        const bf16 *pp;
        const bf16 *z;
        const bf16 *x;
        bf16 *cc;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {
        vec<float, V> z_at0, o_at6;
    };
    static constexpr int N = 13, threads = 1, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float pp = load_one(p.pp + row); // !10:5
        c.pp = pp; // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z_at0 = load<V>(p.z + row * 5ll + col, col >= 0 && col < 5 ? V : 0); // !6:24
        const vec<float, V> o_at6 = load<V>(p.x + row * 12ll + col - 6 + 5, (col - 6) >= 0 && (col - 6) < 7 ? V : 0); // !9:5
        return {z_at0, o_at6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> cc = col >= 0 && col < 5 ? e.z_at0 : (col - 5) >= 0 && (col - 5) < 1 ? splat<V>(c.pp) : e.o_at6; // !11:5
        store_aligned<V>(p.cc + row * 13ll + col, cc); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k2_cc::args, pp, 0);
TF_LAYOUT(k2_cc::args, z, 8);
TF_LAYOUT(k2_cc::args, x, 16);
TF_LAYOUT(k2_cc::args, cc, 24);
TF_LAYOUT(k2_cc::args, B, 32);
TF_LAYOUT(k2_cc::args, S, 36);
static_assert(sizeof(k2_cc::args) == 40, "size of args");
