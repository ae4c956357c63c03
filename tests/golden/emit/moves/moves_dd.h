// Written by tfgen: moves_dd of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase dd:
//   body %dd             bf16[B,S,17]        = concat %q, %cc                                   !12:5
struct moves_dd_spec {
    struct args {
        const bf16 *q_;
        const bf16 *cc_;
        bf16 *dd_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> dd_;
    };
    static constexpr int N = 17, threads = 1, team = 1, V = 1, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q_at0_ = load<V>(p.q_ + row * 4ll + col, col >= 0 && col < 4 ? V : 0); // !9:5
        const vec<float, V> cc_at4_ = load<V>(p.cc_ + row * 13ll + col - 4, col >= 4 && col < 17 ? V : 0); // !11:5
        const vec<float, V> dd_ = col >= 0 && col < 4 ? q_at0_ : cc_at4_; // !12:5
        return {dd_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.dd_ + row * 17ll + col, e.dd_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(moves_dd_spec::args, q_, 0);
TF_LAYOUT(moves_dd_spec::args, cc_, 8);
TF_LAYOUT(moves_dd_spec::args, dd_, 16);
TF_LAYOUT(moves_dd_spec::args, B_, 24);
TF_LAYOUT(moves_dd_spec::args, S_, 28);
static_assert(sizeof(moves_dd_spec::args) == 32, "size of args");
