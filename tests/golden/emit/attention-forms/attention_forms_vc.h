// Written by tfgen: attention_forms_vc of tests/specs/attention-forms.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase vc:
//   body %vc             bf16[3,2,150,24] in %v_cache+0/24 = kv_append %v at=%pos state=%v_cache !10:5
struct k1_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
        int S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v;
    };
    static constexpr int N = 48, threads = 1, team = 1, V = 8, steps = 0;
    DEV static int rows(const args &p) { return 3 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / p.S; // !10:5
        c.position = p.pos[c.sequence] + row % p.S; // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 48ll + col); // !6:45
        return {v};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 150) // !10:5
            store_aligned<V>(p.v_cache + ((c.sequence * 2ll + col / 24) * 150 + c.position) * 24 + col % 24, e.v); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k1_vc::args, pos, 0);
TF_LAYOUT(k1_vc::args, v, 8);
TF_LAYOUT(k1_vc::args, v_cache, 16);
TF_LAYOUT(k1_vc::args, S, 24);
static_assert(sizeof(k1_vc::args) == 32, "size of args");
