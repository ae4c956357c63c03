// Written by tfgen: moves_q of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase q:
//   body %q              bf16[B,S,4]         = slice %x offset=1                                !9:5
struct moves_q_1_q_spec {
    struct args {
        const bf16 *x_;
        bf16 *q_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> q_from1_;
    };
    static constexpr int N = 12, threads = 1, team = 1, V = 1, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x_ = load_aligned<V>(p.x_ + row * 12ll + col); // !6:10
        const vec<float, V> q_from1_ = x_; // !9:5
        return {q_from1_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (col >= 1 && col < 5) // !9:5
            store_aligned<V>(p.q_ + row * 4ll + col - 1, e.q_from1_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(moves_q_1_q_spec::args, x_, 0);
TF_LAYOUT(moves_q_1_q_spec::args, q_, 8);
TF_LAYOUT(moves_q_1_q_spec::args, B_, 16);
TF_LAYOUT(moves_q_1_q_spec::args, S_, 20);
static_assert(sizeof(moves_q_1_q_spec::args) == 24, "size of args");
// Kernel k0, phase pp:
//   pro  %p              bf16[B,S,1] in %x+0/12 = slice %x                                      !9:5
//   body %pp             bf16[B,S,1]         = exp %p                                           !10:5
struct moves_q_2_pp_spec {
    struct args {
        const bf16 *x_;
        bf16 *pp_;
        int B_, S_;
    };
    struct context {
        float pp_;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 1, team = 1, V = 16, passes = 0;
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
TF_LAYOUT(moves_q_2_pp_spec::args, x_, 0);
TF_LAYOUT(moves_q_2_pp_spec::args, pp_, 8);
TF_LAYOUT(moves_q_2_pp_spec::args, B_, 16);
TF_LAYOUT(moves_q_2_pp_spec::args, S_, 20);
static_assert(sizeof(moves_q_2_pp_spec::args) == 24, "size of args");
// Kernel k0: phases that do not wait for each other, side by side.
struct moves_q_spec {
    struct args {
        moves_q_1_q_spec::args phase_1;
        moves_q_2_pp_spec::args phase_2;
    };
    using first = rows<moves_q_1_q_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<moves_q_1_q_spec>::signals && rows<moves_q_2_pp_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<moves_q_1_q_spec>(), p.phase_1);
        what(rows<moves_q_2_pp_spec>(), p.phase_2);
    }
};
TF_LAYOUT(moves_q_spec::args, phase_1, 0);
TF_LAYOUT(moves_q_spec::args, phase_2, 24);
static_assert(sizeof(moves_q_spec::args) == 48, "size of args");
