// Written by tfgen: gpt2_decode_vc of specs/gpt2-decode.yaml for host; read it beside templates/rows/rows.h.
// Kernel k3, phase vc:
//   body %vc             bf16[B,4,64,32] in %v_cache+0/32 = kv_append %v at=%pos state=%v_cache !37:5
struct k3_vc {
    struct args {
        const int *pos;
        const bf16 *qkv;
        bf16 *v_cache;
        int B;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.qkv + row * 384ll + col + 256); // !35:5
        return {v};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) // !37:5
            store_aligned<V>(p.v_cache + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, e.v); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k3_vc::args, pos, 0);
TF_LAYOUT(k3_vc::args, qkv, 8);
TF_LAYOUT(k3_vc::args, v_cache, 16);
TF_LAYOUT(k3_vc::args, B, 24);
static_assert(sizeof(k3_vc::args) == 32, "size of args");
