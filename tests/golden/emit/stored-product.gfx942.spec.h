// ---- level none
// Written by tfgen: stored_product_h of tests/specs/stored-product.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_h {
    struct args {
        const bf16 *k_;
        const bf16 *packed;
        bf16 *h;
    };
    static constexpr int K = 32, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 32;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.k_ + row * 32ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_h(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 24 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.h + row * 24ll + col, product); // !8:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_h<W, 0>(p, c, row, n, lo, sum, out);
        columns_h<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_h::args, k_, 0);
TF_LAYOUT(k0_h::args, packed, 8);
TF_LAYOUT(k0_h::args, h, 16);
static_assert(sizeof(k0_h::args) == 24, "size of args");

// Written by tfgen: stored_product_a of tests/specs/stored-product.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_a {
    struct args {
        const bf16 *h;
        bf16 *a;
    };
    struct context {};
    template <int V> struct element {
        packed<V> h;
    };
    static constexpr int N = 24, threads = 128, team = 4, V = 8, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> h = load_aligned<V>(p.h + row * 24ll + col); // !8:5
        return {pack(h)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a = op_relu(unpack(e.h)); // !9:5
        store_aligned<V>(p.a + row * 24ll + col, a); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_a::args, h, 0);
TF_LAYOUT(k1_a::args, a, 8);
static_assert(sizeof(k1_a::args) == 16, "size of args");

// Written by tfgen: stored_product_u of tests/specs/stored-product.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_u {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        bf16 *u;
    };
    static constexpr int K = 24, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_u(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.u + row * 32ll + col, product); // !10:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_u<W, 0>(p, c, row, n, lo, sum, out);
        columns_u<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_u::args, a, 0);
TF_LAYOUT(k2_u::args, packed, 8);
TF_LAYOUT(k2_u::args, u, 16);
static_assert(sizeof(k2_u::args) == 24, "size of args");

// Written by tfgen: stored_product_r of tests/specs/stored-product.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_r {
    struct args {
        const bf16 *u;
        const bf16 *k_;
        bf16 *r;
    };
    struct context {};
    template <int V> struct element {
        packed<V> u, k_;
    };
    static constexpr int N = 32, threads = 128, team = 4, V = 8, steps = 0;
    DEV static int rows(const args &p) { return 10; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> u = load_aligned<V>(p.u + row * 32ll + col); // !10:5
        const vec<float, V> k_ = load_aligned<V>(p.k_ + row * 32ll + col); // !5:10
        return {pack(u), pack(k_)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> r = op_add(unpack(e.u), unpack(e.k_)); // !11:5
        store_aligned<V>(p.r + row * 32ll + col, r); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_r::args, u, 0);
TF_LAYOUT(k3_r::args, k_, 8);
TF_LAYOUT(k3_r::args, r, 16);
static_assert(sizeof(k3_r::args) == 24, "size of args");

// Written by tfgen: stored_product_z of tests/specs/stored-product.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_z {
    struct args {
        const bf16 *r;
        const bf16 *packed;
        bf16 *z;
    };
    static constexpr int K = 32, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 32;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.r + row * 32ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_z(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 24 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.z + row * 24ll + col, product); // !12:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_z<W, 0>(p, c, row, n, lo, sum, out);
        columns_z<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_z::args, r, 0);
TF_LAYOUT(k4_z::args, packed, 8);
TF_LAYOUT(k4_z::args, z, 16);
static_assert(sizeof(k4_z::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: stored_product_h of tests/specs/stored-product.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_h {
    struct args {
        const bf16 *k_;
        const bf16 *packed;
        bf16 *h;
        bf16 *a;
    };
    static constexpr int K = 32, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 32;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.k_ + row * 32ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_h(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 24 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.h + row * 24ll + col, op_cast<bf16>(product)); // !8:5
        const vec<float, W> a = op_relu(op_cast<bf16>(product)); // !9:5
        out.template put<Slot, W>(p.a + row * 24ll + col, a); // !9:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_h<W, 0>(p, c, row, n, lo, sum, out);
        columns_h<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_h::args, k_, 0);
TF_LAYOUT(k0_h::args, packed, 8);
TF_LAYOUT(k0_h::args, h, 16);
TF_LAYOUT(k0_h::args, a, 24);
static_assert(sizeof(k0_h::args) == 32, "size of args");

// Written by tfgen: stored_product_u of tests/specs/stored-product.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k1_u {
    struct args {
        const bf16 *a;
        const bf16 *packed;
        bf16 *u;
        const bf16 *k_;
        bf16 *r;
    };
    static constexpr int K = 24, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 24;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.a + row * 24ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_u(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        out.template put<Slot, W>(p.u + row * 32ll + col, op_cast<bf16>(product)); // !10:5
        const vec<float, W> k_ = load_aligned<W>(p.k_ + row * 32ll + col); // !5:10
        const vec<float, W> r = op_add(op_cast<bf16>(product), k_); // !11:5
        out.template put<Slot, W>(p.r + row * 32ll + col, r); // !11:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_u<W, 0>(p, c, row, n, lo, sum, out);
        columns_u<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k1_u::args, a, 0);
TF_LAYOUT(k1_u::args, packed, 8);
TF_LAYOUT(k1_u::args, u, 16);
TF_LAYOUT(k1_u::args, k_, 24);
TF_LAYOUT(k1_u::args, r, 32);
static_assert(sizeof(k1_u::args) == 40, "size of args");

// Written by tfgen: stored_product_z of tests/specs/stored-product.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k2_z {
    struct args {
        const bf16 *r;
        const bf16 *packed;
        bf16 *z;
    };
    static constexpr int K = 32, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 32;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return 10; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.r + row * 32ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_z(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 24 - col;
        if (left <= 0) return;
        out.template put<Slot, W>(p.z + row * 24ll + col, product); // !12:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_z<W, 0>(p, c, row, n, lo, sum, out);
        columns_z<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k2_z::args, r, 0);
TF_LAYOUT(k2_z::args, packed, 8);
TF_LAYOUT(k2_z::args, z, 16);
static_assert(sizeof(k2_z::args) == 24, "size of args");

// ---- level tile: as the one before
