// Written by tfgen: moves_cc of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase cc:
//   pro  %o              bf16[B,S,7] in %x+5/12 = slice %x offset=5                             !9:5
//   body %cc             bf16[B,S,13]        = concat %z, %pp, %o                               !11:5
struct moves_cc_spec {
    struct args {
        const bf16 *pp_;
        const bf16 *z_;
        const bf16 *x_;
        bf16 *cc_;
        int B_, S_;
    };
    struct context {
        float pp_;
    };
    template <int V> struct element {
        vec<float, V> z_at0_, o_at6_;
    };
    static constexpr int N = 13, threads = 1, team = 1, V = 1, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float pp_ = load_one(p.pp_ + row); // !10:5
        c.pp_ = pp_; // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z_at0_ = load<V>(p.z_ + row * 5ll + col, col >= 0 && col < 5 ? V : 0); // !6:24
        const vec<float, V> o_at6_ = load<V>(p.x_ + row * 12ll + col - 1, col >= 6 && col < 13 ? V : 0); // !9:5
        return {z_at0_, o_at6_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> cc_ = col >= 0 && col < 5 ? e.z_at0_ : col >= 5 && col < 6 ? splat<V>(c.pp_) : e.o_at6_; // !11:5
        store_aligned<V>(p.cc_ + row * 13ll + col, cc_); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(moves_cc_spec::args, pp_, 0);
TF_LAYOUT(moves_cc_spec::args, z_, 8);
TF_LAYOUT(moves_cc_spec::args, x_, 16);
TF_LAYOUT(moves_cc_spec::args, cc_, 24);
TF_LAYOUT(moves_cc_spec::args, B_, 32);
TF_LAYOUT(moves_cc_spec::args, S_, 36);
static_assert(sizeof(moves_cc_spec::args) == 40, "size of args");
