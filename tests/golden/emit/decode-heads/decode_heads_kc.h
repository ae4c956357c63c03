// Written by tfgen: decode_heads_kc of tests/specs/decode-heads.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase kc:
//   body %kc             bf16[4,2,300,64] in %keys+0/64 = kv_append %k at=%pos state=%keys      !12:5
struct decode_heads_kc_1_kc_spec {
    struct args {
        const int *pos_;
        const bf16 *k_;
        bf16 *keys_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return 4; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !12:5
        c.position = p.pos_[c.sequence]; // !12:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 128ll + col); // !7:3
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 300) // !12:5
            store_aligned<V>(p.keys_ + ((c.sequence * 2ll + col / 64) * 300 + c.position) * 64 + col % 64, e.k_); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(decode_heads_kc_1_kc_spec::args, pos_, 0);
TF_LAYOUT(decode_heads_kc_1_kc_spec::args, k_, 8);
TF_LAYOUT(decode_heads_kc_1_kc_spec::args, keys_, 16);
static_assert(sizeof(decode_heads_kc_1_kc_spec::args) == 24, "size of args");
// Kernel k0, phase vc:
//   body %vc             bf16[4,2,300,64] in %values+0/64 = kv_append %v at=%pos state=%values  !13:5
struct decode_heads_kc_2_vc_spec {
    struct args {
        const int *pos_;
        const bf16 *v_;
        bf16 *values_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return 4; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !13:5
        c.position = p.pos_[c.sequence]; // !13:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load_aligned<V>(p.v_ + row * 128ll + col); // !8:3
        return {v_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 300) // !13:5
            store_aligned<V>(p.values_ + ((c.sequence * 2ll + col / 64) * 300 + c.position) * 64 + col % 64, e.v_); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(decode_heads_kc_2_vc_spec::args, pos_, 0);
TF_LAYOUT(decode_heads_kc_2_vc_spec::args, v_, 8);
TF_LAYOUT(decode_heads_kc_2_vc_spec::args, values_, 16);
static_assert(sizeof(decode_heads_kc_2_vc_spec::args) == 24, "size of args");
// Kernel k0: phases that do not wait for each other, side by side.
struct decode_heads_kc_spec {
    struct args {
        decode_heads_kc_1_kc_spec::args phase_1;
        decode_heads_kc_2_vc_spec::args phase_2;
    };
    using first = rows<decode_heads_kc_1_kc_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<decode_heads_kc_1_kc_spec>::signals && rows<decode_heads_kc_2_vc_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<decode_heads_kc_1_kc_spec>(), p.phase_1);
        what(rows<decode_heads_kc_2_vc_spec>(), p.phase_2);
    }
};
TF_LAYOUT(decode_heads_kc_spec::args, phase_1, 0);
TF_LAYOUT(decode_heads_kc_spec::args, phase_2, 24);
static_assert(sizeof(decode_heads_kc_spec::args) == 48, "size of args");
