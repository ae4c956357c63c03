// Written by tfgen: moves_pp of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase pp:
//   pro  %p              bf16[B,S,1] in %x+0/12 = slice %x                                      !9:5
//   body %pp             bf16[B,S,1]         = exp %p                                           !10:5
struct moves_pp_spec {
    struct args {
        const bf16 *x_;
        bf16 *pp_;
        int B_, S_;
    };
    struct context {
        float pp_;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float p_ = load_one(p.x_ + row * 12ll); // !9:5
        const float pp_ = op_exp(p_); // !10:5
        c.pp_ = pp_; // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left) { return {}; }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left) {}
    DEV static void write_row(const args &p, const context &c, int row) { store_one(p.pp_ + row, c.pp_); } // !10:5
};
TF_LAYOUT(moves_pp_spec::args, x_, 0);
TF_LAYOUT(moves_pp_spec::args, pp_, 8);
TF_LAYOUT(moves_pp_spec::args, B_, 16);
TF_LAYOUT(moves_pp_spec::args, S_, 20);
static_assert(sizeof(moves_pp_spec::args) == 24, "size of args");
