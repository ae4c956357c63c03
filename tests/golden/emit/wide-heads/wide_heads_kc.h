// Written by tfgen: wide_heads_kc of tests/specs/wide-heads.yaml for host; read it beside templates/rows/rows.h.
// Kernel k1, phase kc:
//   body %kc             bf16[2,1,9,1021] in %k_cache+0/1021 = kv_append %k at=%pos state=%k_cache !17:5
struct wide_heads_kc_1_kc_spec {
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
    static constexpr int N = 1021, threads = 1, team = 1, V = 1, passes = 0;
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
TF_LAYOUT(wide_heads_kc_1_kc_spec::args, pos_, 0);
TF_LAYOUT(wide_heads_kc_1_kc_spec::args, k_, 8);
TF_LAYOUT(wide_heads_kc_1_kc_spec::args, k_cache_, 16);
static_assert(sizeof(wide_heads_kc_1_kc_spec::args) == 24, "size of args");
// Kernel k1, phase vc:
//   body %vc             bf16[2,1,9,1021] in %v_cache+0/1021 = kv_append %v at=%pos state=%v_cache !18:5
struct wide_heads_kc_2_vc_spec {
    struct args {
        const int *pos_;
        const bf16 *v_;
        bf16 *v_cache_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v_;
    };
    static constexpr int N = 1021, threads = 1, team = 1, V = 1, passes = 0;
    DEV static int rows(const args &p) { return 6; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / 3; // !18:5
        c.position = p.pos_[c.sequence] + row % 3; // !18:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load_aligned<V>(p.v_ + row * 1021ll + col); // !10:3
        return {v_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) // !18:5
            store_aligned<V>(p.v_cache_ + ((c.sequence * 1ll + col / 1021) * 9 + c.position) * 1021 + col % 1021, e.v_); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(wide_heads_kc_2_vc_spec::args, pos_, 0);
TF_LAYOUT(wide_heads_kc_2_vc_spec::args, v_, 8);
TF_LAYOUT(wide_heads_kc_2_vc_spec::args, v_cache_, 16);
static_assert(sizeof(wide_heads_kc_2_vc_spec::args) == 24, "size of args");
// Kernel k1: phases that do not wait for each other, side by side.
struct wide_heads_kc_spec {
    struct args {
        wide_heads_kc_1_kc_spec::args phase_1;
        wide_heads_kc_2_vc_spec::args phase_2;
    };
    using first = rows<wide_heads_kc_1_kc_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<wide_heads_kc_1_kc_spec>::signals && rows<wide_heads_kc_2_vc_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<wide_heads_kc_1_kc_spec>(), p.phase_1);
        what(rows<wide_heads_kc_2_vc_spec>(), p.phase_2);
    }
};
TF_LAYOUT(wide_heads_kc_spec::args, phase_1, 0);
TF_LAYOUT(wide_heads_kc_spec::args, phase_2, 24);
static_assert(sizeof(wide_heads_kc_spec::args) == 48, "size of args");
