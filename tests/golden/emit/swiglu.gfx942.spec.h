// ---- level none
// Written by tfgen: swiglu_gate of specs/swiglu.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_gate {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *gate;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 352, packed_k = 256, granule = 16;
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
    template <int W, int Slot, class Out> DEV static void columns_gate(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.gate + row * 344ll + col, product); // !19:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_gate<W, 0>(p, c, row, n, lo, sum, out);
        columns_gate<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_gate::args, x, 0);
TF_LAYOUT(k0_gate::args, packed, 8);
TF_LAYOUT(k0_gate::args, gate, 16);
TF_LAYOUT(k0_gate::args, B, 24);
TF_LAYOUT(k0_gate::args, S, 28);
static_assert(sizeof(k0_gate::args) == 32, "size of args");

// Written by tfgen: swiglu_up of specs/swiglu.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_up {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *up;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 352, packed_k = 256, granule = 16;
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
    template <int W, int Slot, class Out> DEV static void columns_up(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.up + row * 344ll + col, product); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_up<W, 0>(p, c, row, n, lo, sum, out);
        columns_up<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_up::args, x, 0);
TF_LAYOUT(k1_up::args, packed, 8);
TF_LAYOUT(k1_up::args, up, 16);
TF_LAYOUT(k1_up::args, B, 24);
TF_LAYOUT(k1_up::args, S, 28);
static_assert(sizeof(k1_up::args) == 32, "size of args");

// Written by tfgen: swiglu_act of specs/swiglu.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_act {
    struct args {
        const bf16 *gate;
        bf16 *act;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> gate;
    };
    static constexpr int N = 344, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> gate = load_aligned<V>(p.gate + row * 344ll + col); // !19:5
        return {pack(gate)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> act = op_silu(unpack(e.gate)); // !21:5
        store_aligned<V>(p.act + row * 344ll + col, act); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_act::args, gate, 0);
TF_LAYOUT(k2_act::args, act, 8);
TF_LAYOUT(k2_act::args, B, 16);
TF_LAYOUT(k2_act::args, S, 20);
static_assert(sizeof(k2_act::args) == 24, "size of args");

// Written by tfgen: swiglu_prod of specs/swiglu.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_prod {
    struct args {
        const bf16 *act;
        const bf16 *up;
        bf16 *prod;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> act, up;
    };
    static constexpr int N = 344, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> act = load_aligned<V>(p.act + row * 344ll + col); // !21:5
        const vec<float, V> up = load_aligned<V>(p.up + row * 344ll + col); // !20:5
        return {pack(act), pack(up)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> prod = op_mul(unpack(e.act), unpack(e.up)); // !22:5
        store_aligned<V>(p.prod + row * 344ll + col, prod); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_prod::args, act, 0);
TF_LAYOUT(k3_prod::args, up, 8);
TF_LAYOUT(k3_prod::args, prod, 16);
TF_LAYOUT(k3_prod::args, B, 24);
TF_LAYOUT(k3_prod::args, S, 28);
static_assert(sizeof(k3_prod::args) == 32, "size of args");

// ---- level ops
// Written by tfgen: swiglu_gate_up of specs/swiglu.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_gate_up {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        bf16 *prod;
        int B, S;
    };
    static constexpr int K = 256, packed_n = 704, packed_k = 256, granule = 16;
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
    template <int W, class Out> DEV static void pairs_gate(const args &p, const context &c, int row, int pair, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        const int col = pair;
        const int left = 344 - pair;
        if (left <= 0) return;
        const vec<float, W> act = op_silu(lo); // !21:5
        const vec<float, W> prod = op_mul(act, hi); // !22:5
        out.template put<0, W>(p.prod + row * 344ll + col, prod); // !22:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        pairs_gate<W>(p, c, row, n / (2 * granule) * granule + n % (2 * granule), lo, hi, sum, out);
    }
};
TF_LAYOUT(k0_gate_up::args, x, 0);
TF_LAYOUT(k0_gate_up::args, packed, 8);
TF_LAYOUT(k0_gate_up::args, prod, 16);
TF_LAYOUT(k0_gate_up::args, B, 24);
TF_LAYOUT(k0_gate_up::args, S, 28);
static_assert(sizeof(k0_gate_up::args) == 32, "size of args");

// ---- level tile: as the one before
