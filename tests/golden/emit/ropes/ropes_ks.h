// Written by tfgen: ropes_ks of tests/specs/ropes.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase ks:
//   body %kr             bf16[B,S,30]        = rope %k heads=3 pairing=half theta=10000 rotary=6 scaling=llama3(8,1,4,8192) at=%pos !15:5
//   body %ks             bf16[B,3,33,10] in %kc+0/10 = kv_append %kr at=%pos state=%kc          !16:5
// What a token adds to the turn of each pair of columns, in units of 2^-64 of a whole one.
TF_TABLE unsigned long long k2_ks_kr_turns[3] = { // !15:5
    0x28be60db93910600ull, 0x1e422a180698490ull, 0xeaa47914d906dull
};
struct k2_ks {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kc;
        int B, S;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k_far;
    };
    static constexpr int N = 30, threads = 1, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / p.S; // !15:5
        c.position = p.pos[c.sequence] + row % p.S; // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 30ll + col); // !10:5
        const vec<float, V> k_far = load_aligned<V>(p.k_ + row * 30ll + rope_partner<10, 6>(col)); // !10:5
        return {k_, k_far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<10, 6>(e.k_, e.k_far, col, c.position, k2_ks_kr_turns); // !15:5
        if (c.position >= 0 && c.position < 33) // !16:5
            store_aligned<V>(p.kc + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, kr); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k2_ks::args, pos, 0);
TF_LAYOUT(k2_ks::args, k_, 8);
TF_LAYOUT(k2_ks::args, kc, 16);
TF_LAYOUT(k2_ks::args, B, 24);
TF_LAYOUT(k2_ks::args, S, 28);
static_assert(sizeof(k2_ks::args) == 32, "size of args");
