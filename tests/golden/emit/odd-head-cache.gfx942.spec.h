// ---- level none
// Written by tfgen: odd_head_cache_x_rows of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/align.h.
struct k0_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
    };
    static constexpr int N = 44, stride = 48, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 10; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 44ll; // !9:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 48ll; // !9:5
    }
};
TF_LAYOUT(k0_align_x_rows::args, x, 0);
TF_LAYOUT(k0_align_x_rows::args, x_rows, 8);
static_assert(sizeof(k0_align_x_rows::args) == 16, "size of args");

// Written by tfgen: odd_head_cache_q of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_q {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        bf16 *q;
    };
    static constexpr int K = 44, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 48;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 48ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.q + row * 44ll + col, product); // !9:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_q<W, 0>(p, c, row, n, lo, sum, out);
        columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_q::args, x_rows, 0);
TF_LAYOUT(k0_q::args, packed, 8);
TF_LAYOUT(k0_q::args, q, 16);
static_assert(sizeof(k0_q::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_k of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_k {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        bf16 *k_;
    };
    static constexpr int K = 44, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 48;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 48ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.k_ + row * 44ll + col, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_k_<W, 0>(p, c, row, n, lo, sum, out);
        columns_k_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_k::args, x_rows, 0);
TF_LAYOUT(k1_k::args, packed, 8);
TF_LAYOUT(k1_k::args, k_, 16);
static_assert(sizeof(k1_k::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_v of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_v {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        bf16 *v;
    };
    static constexpr int K = 44, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 48;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 48ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.v + row * 44ll + col, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_v<W, 0>(p, c, row, n, lo, sum, out);
        columns_v<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_v::args, x_rows, 0);
TF_LAYOUT(k2_v::args, packed, 8);
TF_LAYOUT(k2_v::args, v, 16);
static_assert(sizeof(k2_v::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_qr of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k3_qr_qr_turns[11] = {0x28be60db93910600ull, 0x11a30fd1cd021100ull, 0x7a276644dc26940ull, 0x34e0a46fcdbd2e0ull, 0x16e3b077439a450ull, 0x9e885061f8e2d0ull, 0x449ffb0f6bd994ull, 0x1db4c26c5ab1abull, 0xcdbeb389fec1dull, 0x590fe3a627487ull, 0x268d871cb1c30ull}; // !12:5
struct k3_qr {
    struct args {
        const int *pos;
        const bf16 *q;
        bf16 *qr;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> q, q_far;
    };
    static constexpr int N = 44, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !12:5
        c.position = (p.pos[c.sequence] + row % 5); // !12:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 44ll + col); // !9:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 44ll + rope_partner<22, 22>(col)); // !9:5
        return {q, q_far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<22, 22>(e.q, e.q_far, col, c.position, k3_qr_qr_turns); // !12:5
        store_aligned<V>(p.qr + row * 44ll + col, qr); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_qr::args, pos, 0);
TF_LAYOUT(k3_qr::args, q, 8);
TF_LAYOUT(k3_qr::args, qr, 16);
static_assert(sizeof(k3_qr::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_kr of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k4_kr_kr_turns[11] = {0x28be60db93910600ull, 0x11a30fd1cd021100ull, 0x7a276644dc26940ull, 0x34e0a46fcdbd2e0ull, 0x16e3b077439a450ull, 0x9e885061f8e2d0ull, 0x449ffb0f6bd994ull, 0x1db4c26c5ab1abull, 0xcdbeb389fec1dull, 0x590fe3a627487ull, 0x268d871cb1c30ull}; // !13:5
struct k4_kr {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kr;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k__far;
    };
    static constexpr int N = 44, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !13:5
        c.position = (p.pos[c.sequence] + row % 5); // !13:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 44ll + col); // !10:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 44ll + rope_partner<22, 22>(col)); // !10:5
        return {k_, k__far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<22, 22>(e.k_, e.k__far, col, c.position, k4_kr_kr_turns); // !13:5
        store_aligned<V>(p.kr + row * 44ll + col, kr); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_kr::args, pos, 0);
TF_LAYOUT(k4_kr::args, k_, 8);
TF_LAYOUT(k4_kr::args, kr, 16);
static_assert(sizeof(k4_kr::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_kc of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_kc {
    struct args {
        const int *pos;
        const bf16 *kr;
        bf16 *k_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> kr;
    };
    static constexpr int N = 44, threads = 128, team = 32, V = 2, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !14:5
        c.position = (p.pos[c.sequence] + row % 5); // !14:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> kr = load_aligned<V>(p.kr + row * 44ll + col); // !13:5
        return {pack(kr)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) store_aligned<V>(p.k_cache + ((c.sequence * 2ll + col / 22) * 9 + c.position) * 22 + col % 22, unpack(e.kr)); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_kc::args, pos, 0);
TF_LAYOUT(k5_kc::args, kr, 8);
TF_LAYOUT(k5_kc::args, k_cache, 16);
static_assert(sizeof(k5_kc::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_vc of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 44, threads = 128, team = 32, V = 2, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !15:5
        c.position = (p.pos[c.sequence] + row % 5); // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 44ll + col); // !11:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) store_aligned<V>(p.v_cache + ((c.sequence * 2ll + col / 22) * 9 + c.position) * 22 + col % 22, unpack(e.v)); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_vc::args, pos, 0);
TF_LAYOUT(k6_vc::args, v, 8);
TF_LAYOUT(k6_vc::args, v_cache, 16);
static_assert(sizeof(k6_vc::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_decode of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/attention/decode.h.
struct k7_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
    };
    static constexpr int head_dim = 22, heads = 2, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.21320072f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 5, most = 9; // !16:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * 5 + token) * 44ll + head * 22; // !16:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
};
TF_LAYOUT(k7_decode::args, pos, 0);
TF_LAYOUT(k7_decode::args, qr, 8);
TF_LAYOUT(k7_decode::args, k_cache, 16);
TF_LAYOUT(k7_decode::args, v_cache, 24);
TF_LAYOUT(k7_decode::args, a_part, 32);
static_assert(sizeof(k7_decode::args) == 40, "size of args");

// Written by tfgen: odd_head_cache_combine of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/attention/decode.h.
struct k7_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
    };
    static constexpr int head_dim = 22, heads = 2, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 5 + token) * 44ll + head * 22 + col, left, o); // !16:5
    }
};
TF_LAYOUT(k7_join_combine::args, a_part, 0);
TF_LAYOUT(k7_join_combine::args, a, 8);
static_assert(sizeof(k7_join_combine::args) == 16, "size of args");

// ---- level ops
// Written by tfgen: odd_head_cache_x_rows of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/align.h.
struct k0_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
    };
    static constexpr int N = 44, stride = 48, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 10; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 44ll; // !9:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 48ll; // !9:5
    }
};
TF_LAYOUT(k0_align_x_rows::args, x, 0);
TF_LAYOUT(k0_align_x_rows::args, x_rows, 8);
static_assert(sizeof(k0_align_x_rows::args) == 16, "size of args");

// Written by tfgen: odd_head_cache_qkv of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_qkv {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
    };
    static constexpr int K = 44, packed_n = 192, packed_k = 64, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 48;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 48ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.q + row * 44ll + col, product); // !9:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.k_ + row * 44ll + col, product); // !10:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.v + row * 44ll + col, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 64) {
            columns_q<W, 0>(p, c, row, n, lo, sum, out);
            columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        if (n < 128) {
            columns_k_<W, 0>(p, c, row, n - 64, lo, sum, out);
            columns_k_<W, 1>(p, c, row, n - 64 + granule, hi, sum, out);
            return;
        }
        columns_v<W, 0>(p, c, row, n - 128, lo, sum, out);
        columns_v<W, 1>(p, c, row, n - 128 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_qkv::args, x_rows, 0);
TF_LAYOUT(k0_qkv::args, packed, 8);
TF_LAYOUT(k0_qkv::args, q, 16);
TF_LAYOUT(k0_qkv::args, k_, 24);
TF_LAYOUT(k0_qkv::args, v, 32);
static_assert(sizeof(k0_qkv::args) == 40, "size of args");

// Written by tfgen: odd_head_cache_qr of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k1_qr_qr_turns[11] = {0x28be60db93910600ull, 0x11a30fd1cd021100ull, 0x7a276644dc26940ull, 0x34e0a46fcdbd2e0ull, 0x16e3b077439a450ull, 0x9e885061f8e2d0ull, 0x449ffb0f6bd994ull, 0x1db4c26c5ab1abull, 0xcdbeb389fec1dull, 0x590fe3a627487ull, 0x268d871cb1c30ull}; // !12:5
struct k1_qr {
    struct args {
        const int *pos;
        const bf16 *q;
        bf16 *qr;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> q, q_far;
    };
    static constexpr int N = 44, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !12:5
        c.position = (p.pos[c.sequence] + row % 5); // !12:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 44ll + col); // !9:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 44ll + rope_partner<22, 22>(col)); // !9:5
        return {q, q_far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<22, 22>(e.q, e.q_far, col, c.position, k1_qr_qr_turns); // !12:5
        store_aligned<V>(p.qr + row * 44ll + col, qr); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_qr::args, pos, 0);
TF_LAYOUT(k1_qr::args, q, 8);
TF_LAYOUT(k1_qr::args, qr, 16);
static_assert(sizeof(k1_qr::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_kr of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k2_kr_kr_turns[11] = {0x28be60db93910600ull, 0x11a30fd1cd021100ull, 0x7a276644dc26940ull, 0x34e0a46fcdbd2e0ull, 0x16e3b077439a450ull, 0x9e885061f8e2d0ull, 0x449ffb0f6bd994ull, 0x1db4c26c5ab1abull, 0xcdbeb389fec1dull, 0x590fe3a627487ull, 0x268d871cb1c30ull}; // !13:5
struct k2_kr {
    struct args {
        const int *pos;
        const bf16 *k_;
        bf16 *kr;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        vec<float, V> k_, k__far;
    };
    static constexpr int N = 44, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !13:5
        c.position = (p.pos[c.sequence] + row % 5); // !13:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 44ll + col); // !10:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 44ll + rope_partner<22, 22>(col)); // !10:5
        return {k_, k__far};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<22, 22>(e.k_, e.k__far, col, c.position, k2_kr_kr_turns); // !13:5
        store_aligned<V>(p.kr + row * 44ll + col, kr); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_kr::args, pos, 0);
TF_LAYOUT(k2_kr::args, k_, 8);
TF_LAYOUT(k2_kr::args, kr, 16);
static_assert(sizeof(k2_kr::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_kc of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_kc {
    struct args {
        const int *pos;
        const bf16 *kr;
        bf16 *k_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> kr;
    };
    static constexpr int N = 44, threads = 128, team = 32, V = 2, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !14:5
        c.position = (p.pos[c.sequence] + row % 5); // !14:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> kr = load_aligned<V>(p.kr + row * 44ll + col); // !13:5
        return {pack(kr)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) store_aligned<V>(p.k_cache + ((c.sequence * 2ll + col / 22) * 9 + c.position) * 22 + col % 22, unpack(e.kr)); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_kc::args, pos, 0);
TF_LAYOUT(k3_kc::args, kr, 8);
TF_LAYOUT(k3_kc::args, k_cache, 16);
static_assert(sizeof(k3_kc::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_vc of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_vc {
    struct args {
        const int *pos;
        const bf16 *v;
        bf16 *v_cache;
    };
    struct context {
        int position, sequence;
    };
    template <int V> struct element {
        packed<V> v;
    };
    static constexpr int N = 44, threads = 128, team = 32, V = 2, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.sequence = (row / 5); // !15:5
        c.position = (p.pos[c.sequence] + row % 5); // !15:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> v = load_aligned<V>(p.v + row * 44ll + col); // !11:5
        return {pack(v)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        if (c.position >= 0 && c.position < 9) store_aligned<V>(p.v_cache + ((c.sequence * 2ll + col / 22) * 9 + c.position) * 22 + col % 22, unpack(e.v)); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_vc::args, pos, 0);
TF_LAYOUT(k4_vc::args, v, 8);
TF_LAYOUT(k4_vc::args, v_cache, 16);
static_assert(sizeof(k4_vc::args) == 24, "size of args");

// Written by tfgen: odd_head_cache_decode of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/attention/decode.h.
struct k5_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
    };
    static constexpr int head_dim = 22, heads = 2, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.21320072f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 5, most = 9; // !16:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * 5 + token) * 44ll + head * 22; // !16:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
};
TF_LAYOUT(k5_decode::args, pos, 0);
TF_LAYOUT(k5_decode::args, qr, 8);
TF_LAYOUT(k5_decode::args, k_cache, 16);
TF_LAYOUT(k5_decode::args, v_cache, 24);
TF_LAYOUT(k5_decode::args, a_part, 32);
static_assert(sizeof(k5_decode::args) == 40, "size of args");

// Written by tfgen: odd_head_cache_combine of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/attention/decode.h.
struct k5_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
    };
    static constexpr int head_dim = 22, heads = 2, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 5 + token) * 44ll + head * 22 + col, left, o); // !16:5
    }
};
TF_LAYOUT(k5_join_combine::args, a_part, 0);
TF_LAYOUT(k5_join_combine::args, a, 8);
static_assert(sizeof(k5_join_combine::args) == 16, "size of args");

// ---- level tile
// Written by tfgen: odd_head_cache_x_rows of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/align.h.
struct k0_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
    };
    static constexpr int N = 44, stride = 48, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 10; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 44ll; // !9:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 48ll; // !9:5
    }
};
TF_LAYOUT(k0_align_x_rows::args, x, 0);
TF_LAYOUT(k0_align_x_rows::args, x_rows, 8);
static_assert(sizeof(k0_align_x_rows::args) == 16, "size of args");

// Written by tfgen: odd_head_cache_qkv of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
TF_TABLE unsigned long long k0_qkv_qr_turns[11] = {0x28be60db93910600ull, 0x11a30fd1cd021100ull, 0x7a276644dc26940ull, 0x34e0a46fcdbd2e0ull, 0x16e3b077439a450ull, 0x9e885061f8e2d0ull, 0x449ffb0f6bd994ull, 0x1db4c26c5ab1abull, 0xcdbeb389fec1dull, 0x590fe3a627487ull, 0x268d871cb1c30ull}; // !12:5
struct k0_qkv {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        const int *pos;
        bf16 *qr;
        bf16 *k_cache;
        bf16 *v_cache;
    };
    static constexpr int K = 44, packed_n = 192, packed_k = 64, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 2;
    static constexpr long long a_stride = 48;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        int position, sequence;
    };
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 48ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        c.sequence = (row / 5); // !12:5
        c.position = (p.pos[c.sequence] + row % 5); // !12:5
        return c;
    }
    template <int W, class Out> DEV static void pairs_q(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 22 + pair, far = col + 11;
        const int left = 11 - pair;
        if (left <= 0) return;
        const rope_turn<W> qr_turn = rope_turn_at<W, 11>(pair, c.position, k0_qkv_qr_turns); // !12:5
        const vec<float, W> qr = rope_low(qr_turn, lo, hi); // !12:5
        out.template put_some<0, W>(p.qr + row * 44ll + col, left, qr); // !12:5
        const vec<float, W> qr_far = rope_high(qr_turn, lo, hi); // !12:5
        out.template put_some<1, W>(p.qr + row * 44ll + far, left, qr_far); // !12:5
    }
    template <int W, class Out> DEV static void pairs_k_(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 22 + pair, far = col + 11;
        const int left = 11 - pair;
        if (left <= 0) return;
        const rope_turn<W> kr_turn = rope_turn_at<W, 11>(pair, c.position, k0_qkv_qr_turns); // !13:5
        const vec<float, W> kr = rope_low(kr_turn, lo, hi); // !13:5
        if (c.position >= 0 && c.position < 9) out.template put_some<0, W>(p.k_cache + ((c.sequence * 2ll + col / 22) * 9 + c.position) * 22 + col % 22, left, kr); // !14:5
        const vec<float, W> kr_far = rope_high(kr_turn, lo, hi); // !13:5
        if (c.position >= 0 && c.position < 9) out.template put_some<1, W>(p.k_cache + ((c.sequence * 2ll + far / 22) * 9 + c.position) * 22 + far % 22, left, kr_far); // !14:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 44 - col;
        if (left <= 0) return;
        if (c.position >= 0 && c.position < 9) out.template put<Slot, W>(p.v_cache + ((c.sequence * 2ll + col / 22) * 9 + c.position) * 22 + col % 22, product); // !15:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 64) {
            pairs_q<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
            return;
        }
        if (n < 128) {
            pairs_k_<W>(p, c, row, (n - 64) / (2 * granule) * granule + (n - 64) % (2 * granule), lo, hi, sum, out);
            return;
        }
        columns_v<W, 0>(p, c, row, n - 128, lo, sum, out);
        columns_v<W, 1>(p, c, row, n - 128 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_qkv::args, x_rows, 0);
TF_LAYOUT(k0_qkv::args, packed, 8);
TF_LAYOUT(k0_qkv::args, pos, 16);
TF_LAYOUT(k0_qkv::args, qr, 24);
TF_LAYOUT(k0_qkv::args, k_cache, 32);
TF_LAYOUT(k0_qkv::args, v_cache, 40);
static_assert(sizeof(k0_qkv::args) == 48, "size of args");

// Written by tfgen: odd_head_cache_decode of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/attention/decode.h.
struct k1_decode {
    struct args {
        const int *pos;
        const bf16 *qr;
        const bf16 *k_cache;
        const bf16 *v_cache;
        float *a_part;
    };
    static constexpr int head_dim = 22, heads = 2, kv_heads = 2;
    static constexpr int team = 4, threads = 256, splits = 1;
    static constexpr bool causal = true;
    static constexpr int window = 0;
    static constexpr float softcap = 0.0f, scale = 0.21320072f;
    static constexpr bool aligned = false;
    using type = bf16;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static int keys(const args &p, int batch)
    {
        const int keys = p.pos[batch] + 5, most = 9; // !16:5
        return keys < 0 ? 0 : keys < most ? keys : most;
    }
    DEV static int position(const args &p, int batch, int token) { return p.pos[batch] + token; }
    static constexpr bool long_lists = false;
    DEV static const type *q(const args &p, int batch, int token, int head)
    {
        return p.qr + (batch * 5 + token) * 44ll + head * 22; // !16:5
    }
    DEV static const type *k(const args &p, int batch, int key, int head)
    {
        return p.k_cache + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static const type *v(const args &p, int batch, int key, int head)
    {
        return p.v_cache + (batch * 2ll + head) * 9 * 22ll + key * 22ll; // !16:5
    }
    DEV static float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
};
TF_LAYOUT(k1_decode::args, pos, 0);
TF_LAYOUT(k1_decode::args, qr, 8);
TF_LAYOUT(k1_decode::args, k_cache, 16);
TF_LAYOUT(k1_decode::args, v_cache, 24);
TF_LAYOUT(k1_decode::args, a_part, 32);
static_assert(sizeof(k1_decode::args) == 40, "size of args");

// Written by tfgen: odd_head_cache_combine of tests/specs/odd-head-cache.yaml for cdna; read it beside templates/attention/decode.h.
struct k1_join_combine {
    struct args {
        const float *a_part;
        bf16 *a;
    };
    static constexpr int head_dim = 22, heads = 2, splits = 1;
    static constexpr int threads = 32;
    DEV static int batches(const args &p) { return 2; }
    DEV static int queries(const args &p) { return 5; }
    DEV static const float *partial(const args &p, int batch, int head, int token, int split)
    {
        return p.a_part + (((batch * 5 + token) * 2 + head) * 1ll + split) * 24; // !16:5
    }
    template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int left, vec<float, V> o)
    {
        store<V>(p.a + (batch * 5 + token) * 44ll + head * 22 + col, left, o); // !16:5
    }
};
TF_LAYOUT(k1_join_combine::args, a_part, 0);
TF_LAYOUT(k1_join_combine::args, a, 8);
static_assert(sizeof(k1_join_combine::args) == 16, "size of args");

