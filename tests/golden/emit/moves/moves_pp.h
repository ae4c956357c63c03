// Written by tfgen: moves_pp of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase pp:
//   pro  %p              bf16[B,S,1] in %x+0/12 = slice %x                                      !9:5
//   body %pp             bf16[B,S,1]         = exp %p                                           !10:5
struct k1_pp {
    struct args {
        const bf16 *x;
        bf16 *pp;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float p_ = load_one(p.x + row * 12ll); // !9:5
        const float pp = op_exp(p_); // !10:5
        c.pp = pp; // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.pp + row, c.pp); } // !10:5
};
TF_LAYOUT(k1_pp::args, x, 0);
TF_LAYOUT(k1_pp::args, pp, 8);
TF_LAYOUT(k1_pp::args, B, 16);
TF_LAYOUT(k1_pp::args, S, 20);
static_assert(sizeof(k1_pp::args) == 24, "size of args");
