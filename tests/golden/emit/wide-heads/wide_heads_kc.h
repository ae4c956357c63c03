// Written by tfgen: wide_heads_kc of tests/specs/wide-heads.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase kc:
//   body %kc             bf16[2,1,9,1021] in %k_cache+0/1021 = kv_append %k at=%pos state=%k_cache !17:5
struct k1_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *k_cache;
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
        c.position = p.pos[c.sequence] + row % 3; // !17:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 1021ll + col); // !9:3
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) // !17:5
            store_aligned<V>(p.k_cache + ((c.sequence * 1ll + col / 1021) * 9 + c.position) * 1021 + col % 1021, e.k_); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k1_kc::args, pos, 0);
TF_LAYOUT(k1_kc::args, k_, 8);
TF_LAYOUT(k1_kc::args, k_cache, 16);
static_assert(sizeof(k1_kc::args) == 24, "size of args");
