// ---- level none
// Written by tfgen: odd_rows_flat_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k0_align_flat_rows {
    struct args {
        const bf16 *x;
        bf16 *flat_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 37ll; // !11:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.flat_rows + row * 40ll; // !11:5
    }
};
TF_LAYOUT(k0_align_flat_rows::args, x, 0);
TF_LAYOUT(k0_align_flat_rows::args, flat_rows, 8);
TF_LAYOUT(k0_align_flat_rows::args, S, 16);
static_assert(sizeof(k0_align_flat_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_a of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_a {
    struct args {
        const bf16 *flat_rows;
        const bf16 *packed;
        bf16 *a;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.flat_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_a(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.a + row * 51ll + col, left, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_a<W, 0>(p, c, row, n, lo, sum, out);
        columns_a<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_a::args, flat_rows, 0);
TF_LAYOUT(k0_a::args, packed, 8);
TF_LAYOUT(k0_a::args, a, 16);
TF_LAYOUT(k0_a::args, S, 24);
static_assert(sizeof(k0_a::args) == 32, "size of args");

// Written by tfgen: odd_rows_x_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k1_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 37ll; // !12:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 40ll; // !12:5
    }
};
TF_LAYOUT(k1_align_x_rows::args, x, 0);
TF_LAYOUT(k1_align_x_rows::args, x_rows, 8);
TF_LAYOUT(k1_align_x_rows::args, S, 16);
static_assert(sizeof(k1_align_x_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_t of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_t {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        bf16 *t;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_t(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.t + row * 37ll + col, left, product); // !12:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_t<W, 0>(p, c, row, n, lo, sum, out);
        columns_t<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_t::args, x_rows, 0);
TF_LAYOUT(k1_t::args, packed, 8);
TF_LAYOUT(k1_t::args, t, 16);
TF_LAYOUT(k1_t::args, S, 24);
static_assert(sizeof(k1_t::args) == 32, "size of args");

// Written by tfgen: odd_rows_h of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_h {
    struct args {
        const bf16 *x;
        const bf16 *t;
        bf16 *h;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x, t;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 37ll + col); // !7:10
        const vec<float, V> t = load_aligned<V>(p.t + row * 37ll + col); // !12:5
        return {x, t};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> h = op_add(e.x, e.t); // !13:5
        store_aligned<V>(p.h + row * 37ll + col, h); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_h::args, x, 0);
TF_LAYOUT(k2_h::args, t, 8);
TF_LAYOUT(k2_h::args, h, 16);
TF_LAYOUT(k2_h::args, S, 24);
static_assert(sizeof(k2_h::args) == 32, "size of args");

// Written by tfgen: odd_rows_s of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_s {
    struct args {
        const bf16 *h;
        const bf16 *nw;
        bf16 *s;
        int S;
    };
    struct context {
        float s_r;
    };
    template <int V> struct element {
        vec<float, V> h, nw;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> h = load_aligned<V>(p.h + row * 37ll + col); // !13:5
        const vec<float, V> nw = load_aligned<V>(p.nw + col); // !8:46
        return {h, nw};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !14:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.h); // !14:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float s_ms = op_div(total, 37.0f); // !14:5
        const float s_me = op_add(s_ms, 1e-05f); // !14:5
        const float s_r = op_rsqrt(s_me); // !14:5
        c.s_r = s_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s_n = op_mul(e.h, c.s_r); // !14:5
        const vec<float, V> s = op_mul(s_n, e.nw); // !14:5
        store_aligned<V>(p.s + row * 40ll + col, s); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_s::args, h, 0);
TF_LAYOUT(k3_s::args, nw, 8);
TF_LAYOUT(k3_s::args, s, 16);
TF_LAYOUT(k3_s::args, S, 24);
static_assert(sizeof(k3_s::args) == 32, "size of args");

// Written by tfgen: odd_rows_u of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_u {
    struct args {
        const bf16 *s;
        const bf16 *packed;
        bf16 *u;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.s + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_u(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.u + row * 51ll + col, left, product); // !15:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_u<W, 0>(p, c, row, n, lo, sum, out);
        columns_u<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_u::args, s, 0);
TF_LAYOUT(k4_u::args, packed, 8);
TF_LAYOUT(k4_u::args, u, 16);
TF_LAYOUT(k4_u::args, S, 24);
static_assert(sizeof(k4_u::args) == 32, "size of args");

// Written by tfgen: odd_rows_v of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_v {
    struct args {
        const bf16 *u;
        bf16 *v;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> u;
    };
    static constexpr int N = 51, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> u = load_aligned<V>(p.u + row * 51ll + col); // !15:5
        return {u};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> v = op_silu(e.u); // !16:5
        store_aligned<V>(p.v + row * 56ll + col, v); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_v::args, u, 0);
TF_LAYOUT(k5_v::args, v, 8);
TF_LAYOUT(k5_v::args, S, 16);
static_assert(sizeof(k5_v::args) == 24, "size of args");

// Written by tfgen: odd_rows_y of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_y {
    struct args {
        const bf16 *v;
        const bf16 *packed;
        bf16 *y;
        int S;
    };
    static constexpr int K = 51, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 56;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.v + row * 56ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.y + row * 37ll + col, left, product); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y<W, 0>(p, c, row, n, lo, sum, out);
        columns_y<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_y::args, v, 0);
TF_LAYOUT(k6_y::args, packed, 8);
TF_LAYOUT(k6_y::args, y, 16);
TF_LAYOUT(k6_y::args, S, 24);
static_assert(sizeof(k6_y::args) == 32, "size of args");

// Written by tfgen: odd_rows_rest of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_rest {
    struct args {
        const bf16 *wide;
        bf16 *few;
        bf16 *rest;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> wide;
    };
    static constexpr int N = 40, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> wide = load_aligned<V>(p.wide + row * 40ll + col); // !7:24
        return {wide};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> few = e.wide; // !18:5
        if (col < 3) store_aligned<V>(p.few + row * 3ll + col, few); // !18:5
        const vec<float, V> rest_from3 = e.wide; // !18:5
        if (col >= 3 && col < 40) store_aligned<V>(p.rest + row * 40ll + col - 3, rest_from3); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_rest::args, wide, 0);
TF_LAYOUT(k7_rest::args, few, 8);
TF_LAYOUT(k7_rest::args, rest, 16);
TF_LAYOUT(k7_rest::args, S, 24);
static_assert(sizeof(k7_rest::args) == 32, "size of args");

// Written by tfgen: odd_rows_z of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k8_z {
    struct args {
        const bf16 *rest;
        const bf16 *packed;
        bf16 *z;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.rest + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_z(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.z + row * 51ll + col, left, product); // !19:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_z<W, 0>(p, c, row, n, lo, sum, out);
        columns_z<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k8_z::args, rest, 0);
TF_LAYOUT(k8_z::args, packed, 8);
TF_LAYOUT(k8_z::args, z, 16);
TF_LAYOUT(k8_z::args, S, 24);
static_assert(sizeof(k8_z::args) == 32, "size of args");

// Written by tfgen: odd_rows_b of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k9_b {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        bf16 *b;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_b(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.b + row * 51ll + col, left, product); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_b<W, 0>(p, c, row, n, lo, sum, out);
        columns_b<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k9_b::args, x_rows, 0);
TF_LAYOUT(k9_b::args, packed, 8);
TF_LAYOUT(k9_b::args, b, 16);
TF_LAYOUT(k9_b::args, S, 24);
static_assert(sizeof(k9_b::args) == 32, "size of args");

// Written by tfgen: odd_rows_c of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_c {
    struct args {
        const bf16 *few;
        bf16 *c_;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> few;
    };
    static constexpr int N = 3, threads = 128, team = 4, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> few = load_aligned<V>(p.few + row * 3ll + col); // !18:5
        return {few};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c_ = op_relu(e.few); // !21:5
        store_aligned<V>(p.c_ + row * 3ll + col, c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_c::args, few, 0);
TF_LAYOUT(k10_c::args, c_, 8);
TF_LAYOUT(k10_c::args, S, 16);
static_assert(sizeof(k10_c::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: odd_rows_flat_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k0_align_flat_rows {
    struct args {
        const bf16 *x;
        bf16 *flat_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 37ll; // !11:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.flat_rows + row * 40ll; // !11:5
    }
};
TF_LAYOUT(k0_align_flat_rows::args, x, 0);
TF_LAYOUT(k0_align_flat_rows::args, flat_rows, 8);
TF_LAYOUT(k0_align_flat_rows::args, S, 16);
static_assert(sizeof(k0_align_flat_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_a of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_a {
    struct args {
        const bf16 *flat_rows;
        const bf16 *packed;
        bf16 *a;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.flat_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_a(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.a + row * 51ll + col, left, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_a<W, 0>(p, c, row, n, lo, sum, out);
        columns_a<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_a::args, flat_rows, 0);
TF_LAYOUT(k0_a::args, packed, 8);
TF_LAYOUT(k0_a::args, a, 16);
TF_LAYOUT(k0_a::args, S, 24);
static_assert(sizeof(k0_a::args) == 32, "size of args");

// Written by tfgen: odd_rows_x_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k1_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 37ll; // !12:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 40ll; // !12:5
    }
};
TF_LAYOUT(k1_align_x_rows::args, x, 0);
TF_LAYOUT(k1_align_x_rows::args, x_rows, 8);
TF_LAYOUT(k1_align_x_rows::args, S, 16);
static_assert(sizeof(k1_align_x_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_qkv of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        const bf16 *x;
        bf16 *h;
        bf16 *b;
        int S;
    };
    static constexpr int K = 37, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_t(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        const vec<float, W> x = load<W>(p.x + row * 37ll + col, left); // !7:10
        const vec<float, W> h = op_add(x, product); // !13:5
        out.template put_some<Slot, W>(p.h + row * 37ll + col, left, h); // !13:5
    }
    template <int W, int Slot, class Out> DEV static void columns_b(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.b + row * 51ll + col, left, product); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 64) {
            columns_t<W, 0>(p, c, row, n, lo, sum, out);
            columns_t<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        columns_b<W, 0>(p, c, row, n - 64, lo, sum, out);
        columns_b<W, 1>(p, c, row, n - 64 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, x_rows, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, x, 16);
TF_LAYOUT(k1_qkv::args, h, 24);
TF_LAYOUT(k1_qkv::args, b, 32);
TF_LAYOUT(k1_qkv::args, S, 40);
static_assert(sizeof(k1_qkv::args) == 48, "size of args");

// Written by tfgen: odd_rows_s of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_s {
    struct args {
        const bf16 *h;
        const bf16 *nw;
        bf16 *s;
        int S;
    };
    struct context {
        float s_r;
    };
    template <int V> struct element {
        vec<float, V> h, nw;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> h = load_aligned<V>(p.h + row * 37ll + col); // !13:5
        const vec<float, V> nw = load_aligned<V>(p.nw + col); // !8:46
        return {h, nw};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !14:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.h); // !14:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float s_ms = op_div(total, 37.0f); // !14:5
        const float s_me = op_add(s_ms, 1e-05f); // !14:5
        const float s_r = op_rsqrt(s_me); // !14:5
        c.s_r = s_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> s_n = op_mul(e.h, c.s_r); // !14:5
        const vec<float, V> s = op_mul(s_n, e.nw); // !14:5
        store_aligned<V>(p.s + row * 40ll + col, s); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_s::args, h, 0);
TF_LAYOUT(k2_s::args, nw, 8);
TF_LAYOUT(k2_s::args, s, 16);
TF_LAYOUT(k2_s::args, S, 24);
static_assert(sizeof(k2_s::args) == 32, "size of args");

// Written by tfgen: odd_rows_u of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_u {
    struct args {
        const bf16 *s;
        const bf16 *packed;
        bf16 *v;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.s + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_u(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        const vec<float, W> v = op_silu(product); // !16:5
        out.template put_some<Slot, W>(p.v + row * 56ll + col, left, v); // !16:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_u<W, 0>(p, c, row, n, lo, sum, out);
        columns_u<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_u::args, s, 0);
TF_LAYOUT(k3_u::args, packed, 8);
TF_LAYOUT(k3_u::args, v, 16);
TF_LAYOUT(k3_u::args, S, 24);
static_assert(sizeof(k3_u::args) == 32, "size of args");

// Written by tfgen: odd_rows_y of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_y {
    struct args {
        const bf16 *v;
        const bf16 *packed;
        bf16 *y;
        int S;
    };
    static constexpr int K = 51, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 56;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.v + row * 56ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.y + row * 37ll + col, left, product); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y<W, 0>(p, c, row, n, lo, sum, out);
        columns_y<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_y::args, v, 0);
TF_LAYOUT(k4_y::args, packed, 8);
TF_LAYOUT(k4_y::args, y, 16);
TF_LAYOUT(k4_y::args, S, 24);
static_assert(sizeof(k4_y::args) == 32, "size of args");

// Written by tfgen: odd_rows_rest of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_rest {
    struct args {
        const bf16 *wide;
        bf16 *few;
        bf16 *rest;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> wide;
    };
    static constexpr int N = 40, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> wide = load_aligned<V>(p.wide + row * 40ll + col); // !7:24
        return {wide};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> few = e.wide; // !18:5
        if (col < 3) store_aligned<V>(p.few + row * 3ll + col, few); // !18:5
        const vec<float, V> rest_from3 = e.wide; // !18:5
        if (col >= 3 && col < 40) store_aligned<V>(p.rest + row * 40ll + col - 3, rest_from3); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_rest::args, wide, 0);
TF_LAYOUT(k5_rest::args, few, 8);
TF_LAYOUT(k5_rest::args, rest, 16);
TF_LAYOUT(k5_rest::args, S, 24);
static_assert(sizeof(k5_rest::args) == 32, "size of args");

// Written by tfgen: odd_rows_z of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k6_z {
    struct args {
        const bf16 *rest;
        const bf16 *packed;
        bf16 *z;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.rest + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_z(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.z + row * 51ll + col, left, product); // !19:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_z<W, 0>(p, c, row, n, lo, sum, out);
        columns_z<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k6_z::args, rest, 0);
TF_LAYOUT(k6_z::args, packed, 8);
TF_LAYOUT(k6_z::args, z, 16);
TF_LAYOUT(k6_z::args, S, 24);
static_assert(sizeof(k6_z::args) == 32, "size of args");

// Written by tfgen: odd_rows_c of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_c {
    struct args {
        const bf16 *few;
        bf16 *c_;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> few;
    };
    static constexpr int N = 3, threads = 128, team = 4, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> few = load_aligned<V>(p.few + row * 3ll + col); // !18:5
        return {few};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c_ = op_relu(e.few); // !21:5
        store_aligned<V>(p.c_ + row * 3ll + col, c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_c::args, few, 0);
TF_LAYOUT(k7_c::args, c_, 8);
TF_LAYOUT(k7_c::args, S, 16);
static_assert(sizeof(k7_c::args) == 24, "size of args");

// ---- level tile
// Written by tfgen: odd_rows_flat_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k0_align_flat_rows {
    struct args {
        const bf16 *x;
        bf16 *flat_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 37ll; // !11:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.flat_rows + row * 40ll; // !11:5
    }
};
TF_LAYOUT(k0_align_flat_rows::args, x, 0);
TF_LAYOUT(k0_align_flat_rows::args, flat_rows, 8);
TF_LAYOUT(k0_align_flat_rows::args, S, 16);
static_assert(sizeof(k0_align_flat_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_a of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_a {
    struct args {
        const bf16 *flat_rows;
        const bf16 *packed;
        bf16 *a;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.flat_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_a(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.a + row * 51ll + col, left, product); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_a<W, 0>(p, c, row, n, lo, sum, out);
        columns_a<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_a::args, flat_rows, 0);
TF_LAYOUT(k0_a::args, packed, 8);
TF_LAYOUT(k0_a::args, a, 16);
TF_LAYOUT(k0_a::args, S, 24);
static_assert(sizeof(k0_a::args) == 32, "size of args");

// Written by tfgen: odd_rows_x_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k1_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 37ll; // !12:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 40ll; // !12:5
    }
};
TF_LAYOUT(k1_align_x_rows::args, x, 0);
TF_LAYOUT(k1_align_x_rows::args, x_rows, 8);
TF_LAYOUT(k1_align_x_rows::args, S, 16);
static_assert(sizeof(k1_align_x_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_qkv of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_qkv {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        const bf16 *x;
        bf16 *h;
        bf16 *b;
        int S;
    };
    static constexpr int K = 37, packed_n = 128, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_t(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        const vec<float, W> x = load<W>(p.x + row * 37ll + col, left); // !7:10
        const vec<float, W> h = op_add(x, product); // !13:5
        out.template put_some<Slot, W>(p.h + row * 37ll + col, left, h); // !13:5
    }
    template <int W, int Slot, class Out> DEV static void columns_b(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.b + row * 51ll + col, left, product); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        if (n < 64) {
            columns_t<W, 0>(p, c, row, n, lo, sum, out);
            columns_t<W, 1>(p, c, row, n + granule, hi, sum, out);
            return;
        }
        columns_b<W, 0>(p, c, row, n - 64, lo, sum, out);
        columns_b<W, 1>(p, c, row, n - 64 + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_qkv::args, x_rows, 0);
TF_LAYOUT(k1_qkv::args, packed, 8);
TF_LAYOUT(k1_qkv::args, x, 16);
TF_LAYOUT(k1_qkv::args, h, 24);
TF_LAYOUT(k1_qkv::args, b, 32);
TF_LAYOUT(k1_qkv::args, S, 40);
static_assert(sizeof(k1_qkv::args) == 48, "size of args");

// Written by tfgen: odd_rows_h_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k2_align_h_rows {
    struct args {
        const bf16 *h;
        bf16 *h_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.h + row * 37ll; // !14:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.h_rows + row * 40ll; // !14:5
    }
};
TF_LAYOUT(k2_align_h_rows::args, h, 0);
TF_LAYOUT(k2_align_h_rows::args, h_rows, 8);
TF_LAYOUT(k2_align_h_rows::args, S, 16);
static_assert(sizeof(k2_align_h_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_u of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_u {
    struct args {
        const bf16 *h_rows;
        const bf16 *packed;
        bf16 *v;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = true;
    using a_type = bf16;
    using b_type = a_type;
    struct context {
        float u_r;
    };
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.h_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c = {};
        return c;
    }
    DEV static void summed(const args &p, context &c, int batch, int row, float squares)
    {
        const float u_ms = op_div(squares, 37.0f); // !14:5
        const float u_me = op_add(u_ms, 1e-05f); // !14:5
        const float u_r = op_rsqrt(u_me); // !14:5
        c.u_r = u_r;
    }
    template <int W, int Slot, class Out> DEV static void columns_u_raw(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        const vec<float, W> u = op_mul(product, c.u_r); // !14:5
        const vec<float, W> v = op_silu(u); // !16:5
        out.template put_some<Slot, W>(p.v + row * 56ll + col, left, v); // !16:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_u_raw<W, 0>(p, c, row, n, lo, sum, out);
        columns_u_raw<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_u::args, h_rows, 0);
TF_LAYOUT(k2_u::args, packed, 8);
TF_LAYOUT(k2_u::args, v, 16);
TF_LAYOUT(k2_u::args, S, 24);
static_assert(sizeof(k2_u::args) == 32, "size of args");

// Written by tfgen: odd_rows_y of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k3_y {
    struct args {
        const bf16 *v;
        const bf16 *packed;
        bf16 *y;
        int S;
    };
    static constexpr int K = 51, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 56;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.v + row * 56ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 37 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.y + row * 37ll + col, left, product); // !17:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y<W, 0>(p, c, row, n, lo, sum, out);
        columns_y<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k3_y::args, v, 0);
TF_LAYOUT(k3_y::args, packed, 8);
TF_LAYOUT(k3_y::args, y, 16);
TF_LAYOUT(k3_y::args, S, 24);
static_assert(sizeof(k3_y::args) == 32, "size of args");

// Written by tfgen: odd_rows_rest_rows of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/align.h.
struct k4_align_rest_rows {
    struct args {
        const bf16 *wide;
        bf16 *rest_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.wide + row * 40ll + 3; // !19:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.rest_rows + row * 40ll; // !19:5
    }
};
TF_LAYOUT(k4_align_rest_rows::args, wide, 0);
TF_LAYOUT(k4_align_rest_rows::args, rest_rows, 8);
TF_LAYOUT(k4_align_rest_rows::args, S, 16);
static_assert(sizeof(k4_align_rest_rows::args) == 24, "size of args");

// Written by tfgen: odd_rows_z of tests/specs/odd-rows.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_z {
    struct args {
        const bf16 *rest_rows;
        const bf16 *packed;
        bf16 *z;
        int S;
    };
    static constexpr int K = 37, packed_n = 64, packed_k = 64, granule = 16;
    static constexpr int tile_m = 48, tile_n = 32, threads = 128, ahead = 1, resident = 4;
    static constexpr int width = 4;
    static constexpr long long a_stride = 40;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.rest_rows + row * 40ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_z(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 51 - col;
        if (left <= 0) return;
        out.template put_some<Slot, W>(p.z + row * 51ll + col, left, product); // !19:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_z<W, 0>(p, c, row, n, lo, sum, out);
        columns_z<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_z::args, rest_rows, 0);
TF_LAYOUT(k4_z::args, packed, 8);
TF_LAYOUT(k4_z::args, z, 16);
TF_LAYOUT(k4_z::args, S, 24);
static_assert(sizeof(k4_z::args) == 32, "size of args");

// Written by tfgen: odd_rows_c of tests/specs/odd-rows.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_c {
    struct args {
        const bf16 *wide;
        bf16 *c_;
        int S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> few;
    };
    static constexpr int N = 3, threads = 128, team = 4, V = 1, steps = 0;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> few = load_aligned<V>(p.wide + row * 40ll + col); // !18:5
        return {few};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c_ = op_relu(e.few); // !21:5
        store_aligned<V>(p.c_ + row * 3ll + col, c_); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_c::args, wide, 0);
TF_LAYOUT(k5_c::args, c_, 8);
TF_LAYOUT(k5_c::args, S, 16);
static_assert(sizeof(k5_c::args) == 24, "size of args");

