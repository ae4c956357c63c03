// Written by tfgen: attention_forms_kc of tests/specs/attention-forms.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase kc:
//   body %kc             bf16[3,2,150,24] in %k_cache+0/24 = kv_append %k at=%pos state=%k_cache !9:5
struct k0_kc {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *k_cache;
        int S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 48, threads = 1, team = 1, V = 8, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / p.S; // !9:5
        c.position = p.pos[c.sequence] + row % p.S; // !9:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 48ll + col); // !6:27
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 150) // !9:5
            store_aligned<V>(p.k_cache + ((c.sequence * 2ll + col / 24) * 150 + c.position) * 24 + col % 24, e.k_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_kc::args, pos, 0);
TF_LAYOUT(k0_kc::args, k_, 8);
TF_LAYOUT(k0_kc::args, k_cache, 16);
TF_LAYOUT(k0_kc::args, S, 24);
static_assert(sizeof(k0_kc::args) == 32, "size of args");
