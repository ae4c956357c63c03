// Written by tfgen: ropes_ks of tests/specs/ropes.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase ks:
//   body %kr             bf16[B,S,30]        = rope %k heads=3 pairing=half theta=10000 rotary=6 scaling=llama3(8,1,4,8192) at=%pos !15:5
//   body %ks             bf16[B,3,33,10] in %kc+0/10 = kv_append %kr at=%pos state=%kc          !16:5
// Frequencies of the rotated pairs of columns, in 2^-64 of a revolution per token.
TF_TABLE unsigned long long ropes_ks_kr_table[3] = { // !15:5
    0x28be60db93910600ull, 0x1e422a180698490ull, 0xeaa47914d906dull
};
struct ropes_ks_spec {
    struct args {
        const int *pos_;
        const bf16 *k_;
        bf16 *kc_;
        int B_, S_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k_far_;
    };
    static constexpr int N = 30, threads = 1, team = 1, V = 1, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / p.S_; // !15:5
        c.position = p.pos_[c.sequence] + row % p.S_; // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 30ll + col); // !10:5
        const vec<float, V> k_far_ = load_aligned<V>(p.k_ + row * 30ll + rope_partner<10, 6>(col)); // !10:5
        return {k_, k_far_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr_ = rope_half<10, 6>(e.k_, e.k_far_, col, c.position, ropes_ks_kr_table); // !15:5
        if (c.position >= 0 && c.position < 33) // !16:5
            store_aligned<V>(p.kc_ + ((c.sequence * 3ll + col / 10) * 33 + c.position) * 10 + col % 10, kr_); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(ropes_ks_spec::args, pos_, 0);
TF_LAYOUT(ropes_ks_spec::args, k_, 8);
TF_LAYOUT(ropes_ks_spec::args, kc_, 16);
TF_LAYOUT(ropes_ks_spec::args, B_, 24);
TF_LAYOUT(ropes_ks_spec::args, S_, 28);
static_assert(sizeof(ropes_ks_spec::args) == 32, "size of args");
