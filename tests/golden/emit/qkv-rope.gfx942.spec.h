// ---- level none
// Written by tfgen: qkv_rope_q of specs/qkv-rope.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_q {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *q;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 256, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.q + row * 256ll + col, product); // !19:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_q<W, 0>(p, c, row, n, lo, sum, out);
        columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_q::args, x, 0);
TF_LAYOUT(k0_q::args, packed, 8);
TF_LAYOUT(k0_q::args, q, 16);
TF_LAYOUT(k0_q::args, B, 24);
TF_LAYOUT(k0_q::args, S, 28);
static_assert(sizeof(k0_q::args) == 32, "size of args");

// Written by tfgen: qkv_rope_k of specs/qkv-rope.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_k {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *k_;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 64, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.k_ + row * 64ll + col, product); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_k_<W, 0>(p, c, row, n, lo, sum, out);
        columns_k_<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_k::args, x, 0);
TF_LAYOUT(k1_k::args, packed, 8);
TF_LAYOUT(k1_k::args, k_, 16);
TF_LAYOUT(k1_k::args, B, 24);
TF_LAYOUT(k1_k::args, S, 28);
static_assert(sizeof(k1_k::args) == 32, "size of args");

// Written by tfgen: qkv_rope_v of specs/qkv-rope.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_v {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 64, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !21:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_v<W, 0>(p, c, row, n, lo, sum, out);
        columns_v<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_v::args, x, 0);
TF_LAYOUT(k2_v::args, packed, 8);
TF_LAYOUT(k2_v::args, v, 16);
TF_LAYOUT(k2_v::args, B, 24);
TF_LAYOUT(k2_v::args, S, 28);
static_assert(sizeof(k2_v::args) == 32, "size of args");

// Written by tfgen: qkv_rope_qr of specs/qkv-rope.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k3_qr_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !23:5
struct k3_qr {
    struct args {
        const bf16 *q;
        bf16 *qr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> q, q_far;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !23:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 256ll + col); // !19:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 256ll + rope_partner<32, 32>(col)); // !19:5
        return {pack(q), pack(q_far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<32, 32>(unpack(e.q), unpack(e.q_far), col, c.position, k3_qr_qr_turns); // !23:5
        store_aligned<V>(p.qr + row * 256ll + col, qr); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_qr::args, q, 0);
TF_LAYOUT(k3_qr::args, qr, 8);
TF_LAYOUT(k3_qr::args, B, 16);
TF_LAYOUT(k3_qr::args, S, 20);
static_assert(sizeof(k3_qr::args) == 24, "size of args");

// Written by tfgen: qkv_rope_kr of specs/qkv-rope.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k4_kr_kr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !24:5
struct k4_kr {
    struct args {
        const bf16 *k_;
        bf16 *kr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> k_, k__far;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !24:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 64ll + col); // !20:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 64ll + rope_partner<32, 32>(col)); // !20:5
        return {pack(k_), pack(k__far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<32, 32>(unpack(e.k_), unpack(e.k__far), col, c.position, k4_kr_kr_turns); // !24:5
        store_aligned<V>(p.kr + row * 64ll + col, kr); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_kr::args, k_, 0);
TF_LAYOUT(k4_kr::args, kr, 8);
TF_LAYOUT(k4_kr::args, B, 16);
TF_LAYOUT(k4_kr::args, S, 20);
static_assert(sizeof(k4_kr::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: qkv_rope_qkv of specs/qkv-rope.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *q;
        bf16 *k_;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_q(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.q + row * 256ll + col, product); // !19:5
    }
    template <int W, int Slot, class Out> DEV static void columns_k_(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.k_ + row * 64ll + col, product); // !20:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !21:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 256) {
            columns_q<W, 0>(p, c, row, n, lo, sum, out);
            columns_q<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        if (n < 320) {
            columns_k_<W, 0>(p, c, row, n - 256, lo, sum, out);
            columns_k_<W, 1>(p, c, row, n - 256 + granule, hi, sum, out);
            return;
        }
        columns_v<W, 0>(p, c, row, n - 320, lo, sum, out);
        columns_v<W, 1>(p, c, row, n - 320 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_qkv::args, x, 0);
TF_LAYOUT(k0_qkv::args, packed, 8);
TF_LAYOUT(k0_qkv::args, q, 16);
TF_LAYOUT(k0_qkv::args, k_, 24);
TF_LAYOUT(k0_qkv::args, v, 32);
TF_LAYOUT(k0_qkv::args, B, 40);
TF_LAYOUT(k0_qkv::args, S, 44);
static_assert(sizeof(k0_qkv::args) == 48, "size of args");

// Written by tfgen: qkv_rope_qr of specs/qkv-rope.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k1_qr_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !23:5
struct k1_qr {
    struct args {
        const bf16 *q;
        bf16 *qr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> q, q_far;
    };
    static constexpr int N = 256, threads = 128, team = 32, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !23:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q = load_aligned<V>(p.q + row * 256ll + col); // !19:5
        const vec<float, V> q_far = load_aligned<V>(p.q + row * 256ll + rope_partner<32, 32>(col)); // !19:5
        return {pack(q), pack(q_far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> qr = rope_half<32, 32>(unpack(e.q), unpack(e.q_far), col, c.position, k1_qr_qr_turns); // !23:5
        store_aligned<V>(p.qr + row * 256ll + col, qr); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_qr::args, q, 0);
TF_LAYOUT(k1_qr::args, qr, 8);
TF_LAYOUT(k1_qr::args, B, 16);
TF_LAYOUT(k1_qr::args, S, 20);
static_assert(sizeof(k1_qr::args) == 24, "size of args");

// Written by tfgen: qkv_rope_kr of specs/qkv-rope.yaml for cdna; read it beside templates/rows/rows.h.
TF_TABLE unsigned long long k2_kr_kr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !24:5
struct k2_kr {
    struct args {
        const bf16 *k_;
        bf16 *kr;
        int B, S;
    };
    struct context {
        int position;
    };
    template <int V> struct element {
        packed<V> k_, k__far;
    };
    static constexpr int N = 64, threads = 128, team = 8, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        c.position = (row % p.S); // !24:5
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 64ll + col); // !20:5
        const vec<float, V> k__far = load_aligned<V>(p.k_ + row * 64ll + rope_partner<32, 32>(col)); // !20:5
        return {pack(k_), pack(k__far)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> kr = rope_half<32, 32>(unpack(e.k_), unpack(e.k__far), col, c.position, k2_kr_kr_turns); // !24:5
        store_aligned<V>(p.kr + row * 64ll + col, kr); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_kr::args, k_, 0);
TF_LAYOUT(k2_kr::args, kr, 8);
TF_LAYOUT(k2_kr::args, B, 16);
TF_LAYOUT(k2_kr::args, S, 20);
static_assert(sizeof(k2_kr::args) == 24, "size of args");

// ---- level tile
// Written by tfgen: qkv_rope_qkv of specs/qkv-rope.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
TF_TABLE unsigned long long k0_qkv_qr_turns[16] = {0x28be60db93910600ull, 0x11f130b61c287900ull, 0x7e6b006746579c0ull, 0x37ab95c63e892c0ull, 0x1883ec0e5870a90ull, 0xacbb4dc9a23f68ull, 0x4c10b4617af38cull, 0x217f20f7661d20ull, 0xec0334892a2e2ull, 0x67ee99a2a4482ull, 0x2dc4a879fd26full, 0x14279ffb3a5e5ull, 0x8e0206251efcull, 0x3e8919196a4cull, 0x1b89df4317adull, 0xc20873a521cull}; // !23:5
struct k0_qkv {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *qr;
        bf16 *kr;
        bf16 *v;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 384, packed_k = 256, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 512, ahead = 1, resident = 1;
    static constexpr int width = 4;
    static constexpr long long a_stride = 256;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        int position;
    };
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x + row * 256ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        c.position = (row % p.S); // !23:5
        return c;
    }
    template <int W, class Out> DEV static void pairs_q(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const rope_turn<W> qr_turn = rope_turn_at<W, 16>(pair, c.position, k0_qkv_qr_turns); // !23:5
        const vec<float, W> qr = rope_low(qr_turn, lo, hi); // !23:5
        out.template put<0, W>(p.qr + row * 256ll + col, qr); // !23:5
        const vec<float, W> qr_far = rope_high(qr_turn, lo, hi); // !23:5
        out.template put<1, W>(p.qr + row * 256ll + far, qr_far); // !23:5
    }
    template <int W, class Out> DEV static void pairs_k_(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int head = pair / 16;
        pair %= 16;
        const int col = head * 32 + pair, far = col + 16;
        const rope_turn<W> kr_turn = rope_turn_at<W, 16>(pair, c.position, k0_qkv_qr_turns); // !24:5
        const vec<float, W> kr = rope_low(kr_turn, lo, hi); // !24:5
        out.template put<0, W>(p.kr + row * 64ll + col, kr); // !24:5
        const vec<float, W> kr_far = rope_high(kr_turn, lo, hi); // !24:5
        out.template put<1, W>(p.kr + row * 64ll + far, kr_far); // !24:5
    }
    template <int W, int Slot, class Out> DEV static void columns_v(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.v + row * 64ll + col, product); // !21:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 256) {
            pairs_q<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
            return;
        }
        if (n < 320) {
            pairs_k_<W>(p, c, row, (n - 256) / (2 * granule) * granule + (n - 256) % (2 * granule), lo, hi, sum, out);
            return;
        }
        columns_v<W, 0>(p, c, row, n - 320, lo, sum, out);
        columns_v<W, 1>(p, c, row, n - 320 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_qkv::args, x, 0);
TF_LAYOUT(k0_qkv::args, packed, 8);
TF_LAYOUT(k0_qkv::args, qr, 16);
TF_LAYOUT(k0_qkv::args, kr, 24);
TF_LAYOUT(k0_qkv::args, v, 32);
TF_LAYOUT(k0_qkv::args, B, 40);
TF_LAYOUT(k0_qkv::args, S, 44);
static_assert(sizeof(k0_qkv::args) == 48, "size of args");

