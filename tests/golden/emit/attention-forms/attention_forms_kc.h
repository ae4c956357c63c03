// Written by tfgen: attention_forms_kc of tests/specs/attention-forms.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase kc:
//   body %kc             bf16[3,2,150,24] in %k_cache+0/24 = kv_append %k at=%pos state=%k_cache !9:5
struct attention_forms_kc_1_kc_spec {
    struct args {
        const int *pos_;
        const bf16 *k_;
        bf16 *k_cache_;
        int S_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 48, threads = 1, team = 1, V = 8, passes = 0;
    DEV static int rows(const args &p) { return 3 * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / p.S_; // !9:5
        c.position = p.pos_[c.sequence] + row % p.S_; // !9:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 48ll + col); // !6:27
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 150) // !9:5
            store_aligned<V>(p.k_cache_ + ((c.sequence * 2ll + col / 24) * 150 + c.position) * 24 + col % 24, e.k_); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(attention_forms_kc_1_kc_spec::args, pos_, 0);
TF_LAYOUT(attention_forms_kc_1_kc_spec::args, k_, 8);
TF_LAYOUT(attention_forms_kc_1_kc_spec::args, k_cache_, 16);
TF_LAYOUT(attention_forms_kc_1_kc_spec::args, S_, 24);
static_assert(sizeof(attention_forms_kc_1_kc_spec::args) == 32, "size of args");
// Kernel k0, phase vc:
//   body %vc             bf16[3,2,150,24] in %v_cache+0/24 = kv_append %v at=%pos state=%v_cache !10:5
struct attention_forms_kc_2_vc_spec {
    struct args {
        const int *pos_;
        const bf16 *v_;
        bf16 *v_cache_;
        int S_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v_;
    };
    static constexpr int N = 48, threads = 1, team = 1, V = 8, passes = 0;
    DEV static int rows(const args &p) { return 3 * p.S_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row / p.S_; // !10:5
        c.position = p.pos_[c.sequence] + row % p.S_; // !10:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load_aligned<V>(p.v_ + row * 48ll + col); // !6:45
        return {v_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 150) // !10:5
            store_aligned<V>(p.v_cache_ + ((c.sequence * 2ll + col / 24) * 150 + c.position) * 24 + col % 24, e.v_); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(attention_forms_kc_2_vc_spec::args, pos_, 0);
TF_LAYOUT(attention_forms_kc_2_vc_spec::args, v_, 8);
TF_LAYOUT(attention_forms_kc_2_vc_spec::args, v_cache_, 16);
TF_LAYOUT(attention_forms_kc_2_vc_spec::args, S_, 24);
static_assert(sizeof(attention_forms_kc_2_vc_spec::args) == 32, "size of args");
// Kernel k0: phases that do not wait for each other, side by side.
struct attention_forms_kc_spec {
    struct args {
        attention_forms_kc_1_kc_spec::args phase_1;
        attention_forms_kc_2_vc_spec::args phase_2;
    };
    using first = rows<attention_forms_kc_1_kc_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<attention_forms_kc_1_kc_spec>::signals && rows<attention_forms_kc_2_vc_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<attention_forms_kc_1_kc_spec>(), p.phase_1);
        what(rows<attention_forms_kc_2_vc_spec>(), p.phase_2);
    }
};
TF_LAYOUT(attention_forms_kc_spec::args, phase_1, 0);
TF_LAYOUT(attention_forms_kc_spec::args, phase_2, 32);
static_assert(sizeof(attention_forms_kc_spec::args) == 64, "size of args");
