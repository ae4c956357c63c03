// ---- level none
// Written by tfgen: layernorm_gelu_linear_l of specs/layernorm-gelu-linear.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_l {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *b;
        bf16 *l;
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
    template <int W, int Slot, class Out> DEV static void columns_l_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        const vec<float, W> b = load_aligned<W>(p.b + col); // !16:3
        const vec<float, W> l = op_add(product, b); // !20:5
        out.template put<Slot, W>(p.l + row * 344ll + col, l); // !20:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_l_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_l_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_l::args, x, 0);
TF_LAYOUT(k0_l::args, packed, 8);
TF_LAYOUT(k0_l::args, b, 16);
TF_LAYOUT(k0_l::args, l, 24);
TF_LAYOUT(k0_l::args, B, 32);
TF_LAYOUT(k0_l::args, S, 36);
static_assert(sizeof(k0_l::args) == 40, "size of args");

// Written by tfgen: layernorm_gelu_linear_g of specs/layernorm-gelu-linear.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_g {
    struct args {
        const bf16 *l;
        bf16 *g;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        packed<V> l;
    };
    static constexpr int N = 344, threads = 128, team = 64, V = 8, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> l = load_aligned<V>(p.l + row * 344ll + col); // !20:5
        return {pack(l)};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> g = near_gelu_erf(unpack(e.l)); // !21:5
        store_aligned<V>(p.g + row * 344ll + col, g); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_g::args, l, 0);
TF_LAYOUT(k1_g::args, g, 8);
TF_LAYOUT(k1_g::args, B, 16);
TF_LAYOUT(k1_g::args, S, 20);
static_assert(sizeof(k1_g::args) == 24, "size of args");

// Written by tfgen: layernorm_gelu_linear_n of specs/layernorm-gelu-linear.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_n {
    struct args {
        const bf16 *g;
        const bf16 *norm_w;
        const bf16 *norm_b;
        bf16 *n_;
        int B, S;
    };
    struct context {
        float n_mu, n_r;
    };
    template <int V> struct element {
        packed<V> g, norm_w, norm_b;
    };
    static constexpr int N = 344, threads = 128, team = 64, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g = load_aligned<V>(p.g + row * 344ll + col); // !21:5
        const vec<float, V> norm_w = load_aligned<V>(p.norm_w + col); // !17:3
        const vec<float, V> norm_b = load_aligned<V>(p.norm_b + col); // !18:3
        return {pack(g), pack(norm_w), pack(norm_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !22:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.g); // !22:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float n_mu = op_div(total, 344.0f); // !22:5
        c.n_mu = n_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !22:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> n_c = op_sub(unpack(e.g), c.n_mu); // !22:5
        return op_square(n_c); // !22:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float n_vm = op_div(total, 344.0f); // !22:5
        const float n_ve = op_add(n_vm, 1e-05f); // !22:5
        const float n_r = op_rsqrt(n_ve); // !22:5
        c.n_r = n_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_c = op_sub(unpack(e.g), c.n_mu); // !22:5
        const vec<float, V> n_n = op_mul(n_c, c.n_r); // !22:5
        const vec<float, V> n_t = op_mul(n_n, unpack(e.norm_w)); // !22:5
        const vec<float, V> n_ = op_add(n_t, unpack(e.norm_b)); // !22:5
        store_aligned<V>(p.n_ + row * 344ll + col, n_); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_n::args, g, 0);
TF_LAYOUT(k2_n::args, norm_w, 8);
TF_LAYOUT(k2_n::args, norm_b, 16);
TF_LAYOUT(k2_n::args, n_, 24);
TF_LAYOUT(k2_n::args, B, 32);
TF_LAYOUT(k2_n::args, S, 36);
static_assert(sizeof(k2_n::args) == 40, "size of args");

// ---- level ops
// Written by tfgen: layernorm_gelu_linear_l of specs/layernorm-gelu-linear.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k0_l {
    struct args {
        const bf16 *x;
        const bf16 *packed;
        const bf16 *b;
        bf16 *g;
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
    template <int W, int Slot, class Out> DEV static void columns_l_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 344 - col;
        if (left <= 0) return;
        const vec<float, W> b = load_aligned<W>(p.b + col); // !16:3
        const vec<float, W> l = op_add(product, b); // !20:5
        const vec<float, W> g = op_gelu_erf(l); // !21:5
        out.template put<Slot, W>(p.g + row * 344ll + col, g); // !21:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_l_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_l_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k0_l::args, x, 0);
TF_LAYOUT(k0_l::args, packed, 8);
TF_LAYOUT(k0_l::args, b, 16);
TF_LAYOUT(k0_l::args, g, 24);
TF_LAYOUT(k0_l::args, B, 32);
TF_LAYOUT(k0_l::args, S, 36);
static_assert(sizeof(k0_l::args) == 40, "size of args");

// Written by tfgen: layernorm_gelu_linear_n of specs/layernorm-gelu-linear.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_n {
    struct args {
        const bf16 *g;
        const bf16 *norm_w;
        const bf16 *norm_b;
        bf16 *n_;
        int B, S;
    };
    struct context {
        float n_mu, n_r;
    };
    template <int V> struct element {
        packed<V> g, norm_w, norm_b;
    };
    static constexpr int N = 344, threads = 128, team = 64, V = 8, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> g = load_aligned<V>(p.g + row * 344ll + col); // !21:5
        const vec<float, V> norm_w = load_aligned<V>(p.norm_w + col); // !17:3
        const vec<float, V> norm_b = load_aligned<V>(p.norm_b + col); // !18:3
        return {pack(g), pack(norm_w), pack(norm_b)};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !22:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return unpack(e.g); // !22:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float n_mu = op_div(total, 344.0f); // !22:5
        c.n_mu = n_mu;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !22:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> n_c = op_sub(unpack(e.g), c.n_mu); // !22:5
        return op_square(n_c); // !22:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        const float n_vm = op_div(total, 344.0f); // !22:5
        const float n_ve = op_add(n_vm, 1e-05f); // !22:5
        const float n_r = op_rsqrt(n_ve); // !22:5
        c.n_r = n_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> n_c = op_sub(unpack(e.g), c.n_mu); // !22:5
        const vec<float, V> n_n = op_mul(n_c, c.n_r); // !22:5
        const vec<float, V> n_t = op_mul(n_n, unpack(e.norm_w)); // !22:5
        const vec<float, V> n_ = op_add(n_t, unpack(e.norm_b)); // !22:5
        store_aligned<V>(p.n_ + row * 344ll + col, n_); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_n::args, g, 0);
TF_LAYOUT(k1_n::args, norm_w, 8);
TF_LAYOUT(k1_n::args, norm_b, 16);
TF_LAYOUT(k1_n::args, n_, 24);
TF_LAYOUT(k1_n::args, B, 32);
TF_LAYOUT(k1_n::args, S, 36);
static_assert(sizeof(k1_n::args) == 40, "size of args");

// ---- level tile: as the one before
