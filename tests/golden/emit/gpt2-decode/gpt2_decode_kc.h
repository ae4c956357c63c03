// Written by tfgen: gpt2_decode_kc of specs/gpt2-decode.yaml for host; read it beside templates/rows/rows.h.
// Kernel k2, phase kc:
//   body %kc             bf16[B,4,64,32] in %k_cache+0/32 = kv_append %k at=%pos state=%k_cache !36:5
struct gpt2_decode_kc_1_kc_spec {
    struct args {
        const int *pos_;
        const bf16 *qkv_;
        bf16 *k_cache_;
        int B_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !36:5
        c.position = p.pos_[c.sequence]; // !36:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.qkv_ + row * 384ll + col + 128); // !35:5
        return {k_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) // !36:5
            store_aligned<V>(p.k_cache_ + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, e.k_); // !36:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(gpt2_decode_kc_1_kc_spec::args, pos_, 0);
TF_LAYOUT(gpt2_decode_kc_1_kc_spec::args, qkv_, 8);
TF_LAYOUT(gpt2_decode_kc_1_kc_spec::args, k_cache_, 16);
TF_LAYOUT(gpt2_decode_kc_1_kc_spec::args, B_, 24);
static_assert(sizeof(gpt2_decode_kc_1_kc_spec::args) == 32, "size of args");
// Kernel k2, phase vc:
//   body %vc             bf16[B,4,64,32] in %v_cache+0/32 = kv_append %v at=%pos state=%v_cache !37:5
struct gpt2_decode_kc_2_vc_spec {
    struct args {
        const int *pos_;
        const bf16 *qkv_;
        bf16 *v_cache_;
        int B_;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> v_;
    };
    static constexpr int N = 128, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = row; // !37:5
        c.position = p.pos_[c.sequence]; // !37:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load_aligned<V>(p.qkv_ + row * 384ll + col + 256); // !35:5
        return {v_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 64) // !37:5
            store_aligned<V>(p.v_cache_ + ((c.sequence * 4ll + col / 32) * 64 + c.position) * 32 + col % 32, e.v_); // !37:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(gpt2_decode_kc_2_vc_spec::args, pos_, 0);
TF_LAYOUT(gpt2_decode_kc_2_vc_spec::args, qkv_, 8);
TF_LAYOUT(gpt2_decode_kc_2_vc_spec::args, v_cache_, 16);
TF_LAYOUT(gpt2_decode_kc_2_vc_spec::args, B_, 24);
static_assert(sizeof(gpt2_decode_kc_2_vc_spec::args) == 32, "size of args");
// Kernel k2: phases that do not wait for each other, side by side.
struct gpt2_decode_kc_spec {
    struct args {
        gpt2_decode_kc_1_kc_spec::args phase_1;
        gpt2_decode_kc_2_vc_spec::args phase_2;
    };
    using first = rows<gpt2_decode_kc_1_kc_spec>;
    static constexpr int threads = 1;
    static constexpr bool signals = rows<gpt2_decode_kc_1_kc_spec>::signals && rows<gpt2_decode_kc_2_vc_spec>::signals;
    template <class What> DEV static void each(const args &p, What what)
    {
        what(rows<gpt2_decode_kc_1_kc_spec>(), p.phase_1);
        what(rows<gpt2_decode_kc_2_vc_spec>(), p.phase_2);
    }
};
TF_LAYOUT(gpt2_decode_kc_spec::args, phase_1, 0);
TF_LAYOUT(gpt2_decode_kc_spec::args, phase_2, 32);
static_assert(sizeof(gpt2_decode_kc_spec::args) == 64, "size of args");
