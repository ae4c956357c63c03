// Written by tfgen: wide_heads_vc of tests/specs/wide-heads.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase vc:
//   body %vc             bf16[2,1,9,1021] in %v_cache+0/1021 = kv_append %v at=%pos state=%v_cache !18:5
struct k2_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v;
    };
    static constexpr int N = 1021, threads = 1, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / 3; // !18:5
        c.position = p.pos[c.sequence] + row % 3; // !18:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 1021ll + col); // !10:3
        return {v};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) // !18:5
            store_aligned<V>(p.v_cache + ((c.sequence * 1ll + col / 1021) * 9 + c.position) * 1021 + col % 1021, e.v); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k2_vc::args, pos, 0);
TF_LAYOUT(k2_vc::args, v, 8);
TF_LAYOUT(k2_vc::args, v_cache, 16);
static_assert(sizeof(k2_vc::args) == 24, "size of args");
