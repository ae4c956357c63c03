// Written by tfgen: wide_heads_kc of tests/specs/wide-heads.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase kc:
//   body %kc             bf16[2,1,9,1021] in %k_cache+0/1021 = kv_append %k at=%pos state=%k_cache !17:5
struct wide_heads_kc_spec {
    struct args {
        const int *pos_;
        const bf16 *k_;
        bf16 *k_cache_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 1021, threads = 1, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / 3; // !17:5
        c.position = p.pos_[c.sequence] + row % 3; // !17:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 1021ll + col); // !9:3
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) // !17:5
            store_aligned<V>(p.k_cache_ + ((c.sequence * 1ll + col / 1021) * 9 + c.position) * 1021 + col % 1021, e.k_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(wide_heads_kc_spec::args, pos_, 0);
TF_LAYOUT(wide_heads_kc_spec::args, k_, 8);
TF_LAYOUT(wide_heads_kc_spec::args, k_cache_, 16);
static_assert(sizeof(wide_heads_kc_spec::args) == 24, "size of args");
