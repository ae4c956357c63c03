// ---- level none
// Written by tfgen: moves_o of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_o {
    struct args {
        const bf16 *x;
        bf16 *p_;
        bf16 *q;
        bf16 *o_;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 12ll + col); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> p_ = e.x; // !9:5
        if (col < 1) store_aligned<V>(p.p_ + row + col, p_); // !9:5
        const vec<float, V> q_from1 = e.x; // !9:5
        if (col >= 1 && col < 5) store_aligned<V>(p.q + row * 4ll + col - 1, q_from1); // !9:5
        const vec<float, V> o__from5 = e.x; // !9:5
        if (col >= 5 && col < 12) store_aligned<V>(p.o_ + row * 7ll + col - 5, o__from5); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_o::args, x, 0);
TF_LAYOUT(k0_o::args, p_, 8);
TF_LAYOUT(k0_o::args, q, 16);
TF_LAYOUT(k0_o::args, o_, 24);
TF_LAYOUT(k0_o::args, B, 32);
TF_LAYOUT(k0_o::args, S, 36);
static_assert(sizeof(k0_o::args) == 40, "size of args");

// Written by tfgen: moves_pp of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_pp {
    struct args {
        const bf16 *p_;
        bf16 *pp;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float p_ = load_one(p.p_ + row); // !9:5
        const float pp = op_exp(p_); // !10:5
        c.pp = pp;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.pp + row, c.pp); // !10:5
    }
};
TF_LAYOUT(k1_pp::args, p_, 0);
TF_LAYOUT(k1_pp::args, pp, 8);
TF_LAYOUT(k1_pp::args, B, 16);
TF_LAYOUT(k1_pp::args, S, 20);
static_assert(sizeof(k1_pp::args) == 24, "size of args");

// Written by tfgen: moves_cc of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_cc {
    struct args {
        const bf16 *pp;
        const bf16 *z;
        const bf16 *o_;
        bf16 *cc;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {
        vec<float, V> z_at0, o__at6;
    };
    static constexpr int N = 13, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float pp = load_one(p.pp + row); // !10:5
        c.pp = pp;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z_at0 = load<V>(p.z + row * 5ll + col, col >= 0 && col < 5 ? V : 0); // !6:24
        const vec<float, V> o__at6 = load<V>(p.o_ + row * 7ll + col - 6, (col - 6) >= 0 && (col - 6) < 7 ? V : 0); // !9:5
        return {z_at0, o__at6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> cc = col >= 0 && col < 5 ? e.z_at0 : (col - 5) >= 0 && (col - 5) < 1 ? splat<V>(c.pp) : e.o__at6; // !11:5
        store_aligned<V>(p.cc + row * 13ll + col, cc); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_cc::args, pp, 0);
TF_LAYOUT(k2_cc::args, z, 8);
TF_LAYOUT(k2_cc::args, o_, 16);
TF_LAYOUT(k2_cc::args, cc, 24);
TF_LAYOUT(k2_cc::args, B, 32);
TF_LAYOUT(k2_cc::args, S, 36);
static_assert(sizeof(k2_cc::args) == 40, "size of args");

// Written by tfgen: moves_dd of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_dd {
    struct args {
        const bf16 *q;
        const bf16 *cc;
        bf16 *dd;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> q_at0, cc_at4;
    };
    static constexpr int N = 17, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q_at0 = load<V>(p.q + row * 4ll + col, col >= 0 && col < 4 ? V : 0); // !9:5
        const vec<float, V> cc_at4 = load<V>(p.cc + row * 13ll + col - 4, (col - 4) >= 0 && (col - 4) < 13 ? V : 0); // !11:5
        return {q_at0, cc_at4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> dd = col >= 0 && col < 4 ? e.q_at0 : e.cc_at4; // !12:5
        store_aligned<V>(p.dd + row * 17ll + col, dd); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_dd::args, q, 0);
TF_LAYOUT(k3_dd::args, cc, 8);
TF_LAYOUT(k3_dd::args, dd, 16);
TF_LAYOUT(k3_dd::args, B, 24);
TF_LAYOUT(k3_dd::args, S, 28);
static_assert(sizeof(k3_dd::args) == 32, "size of args");

// Written by tfgen: moves_x_rows of tests/specs/moves.yaml for cdna; read it beside templates/gemm/align.h.
struct k4_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
        int B, S;
    };
    static constexpr int N = 12, stride = 16, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 12ll; // !13:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 16ll; // !13:5
    }
};
TF_LAYOUT(k4_align_x_rows::args, x, 0);
TF_LAYOUT(k4_align_x_rows::args, x_rows, 8);
TF_LAYOUT(k4_align_x_rows::args, B, 16);
TF_LAYOUT(k4_align_x_rows::args, S, 20);
static_assert(sizeof(k4_align_x_rows::args) == 24, "size of args");

// Written by tfgen: moves_y1 of tests/specs/moves.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_y1 {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        const bf16 *b1;
        bf16 *y1;
        int B, S;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 16;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 16ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y1_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 21 - col;
        if (left <= 0) return;
        const vec<float, W> b1 = load<W>(p.b1 + col, left); // !7:35
        const vec<float, W> y1 = op_add(product, b1); // !13:5
        out.template put_some<Slot, W>(p.y1 + row * 21ll + col, left, y1); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y1_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_y1_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_y1::args, x_rows, 0);
TF_LAYOUT(k4_y1::args, packed, 8);
TF_LAYOUT(k4_y1::args, b1, 16);
TF_LAYOUT(k4_y1::args, y1, 24);
TF_LAYOUT(k4_y1::args, B, 32);
TF_LAYOUT(k4_y1::args, S, 36);
static_assert(sizeof(k4_y1::args) == 40, "size of args");

// Written by tfgen: moves_y3 of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_y3 {
    struct args {
        const bf16 *y1;
        const bf16 *nw;
        bf16 *y3;
        int B, S;
    };
    struct context {
        float y3_r;
    };
    template <int V> struct element {
        vec<float, V> y2, nw;
    };
    static constexpr int N = 7, threads = 128, team = 8, V = 1, steps = 1;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y2 = load_aligned<V>(p.y1 + row * 7ll + col); // !14:5
        const vec<float, V> nw = load_aligned<V>(p.nw + col); // !7:25
        return {y2, nw};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y2); // !15:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float y3_ms = op_div(total, 7.0f); // !15:5
        const float y3_me = op_add(y3_ms, 1e-05f); // !15:5
        const float y3_r = op_rsqrt(y3_me); // !15:5
        c.y3_r = y3_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y3_n = op_mul(e.y2, c.y3_r); // !15:5
        const vec<float, V> y3 = op_mul(y3_n, e.nw); // !15:5
        store_aligned<V>(p.y3 + row * 7ll + col, y3); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_y3::args, y1, 0);
TF_LAYOUT(k5_y3::args, nw, 8);
TF_LAYOUT(k5_y3::args, y3, 16);
TF_LAYOUT(k5_y3::args, B, 24);
TF_LAYOUT(k5_y3::args, S, 28);
static_assert(sizeof(k5_y3::args) == 32, "size of args");

// Written by tfgen: moves_y5 of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_y5 {
    struct args {
        const bf16 *y3;
        const bf16 *w;
        bf16 *y5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> y4, w;
    };
    static constexpr int N = 21, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y4 = load_aligned<V>(p.y3 + row * 21ll + col); // !16:5
        const vec<float, V> w = load_aligned<V>(p.w + col); // !6:38
        return {y4, w};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y5 = op_mul(e.y4, e.w); // !17:5
        store_aligned<V>(p.y5 + row * 21ll + col, y5); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_y5::args, y3, 0);
TF_LAYOUT(k6_y5::args, w, 8);
TF_LAYOUT(k6_y5::args, y5, 16);
TF_LAYOUT(k6_y5::args, B, 24);
TF_LAYOUT(k6_y5::args, S, 28);
static_assert(sizeof(k6_y5::args) == 32, "size of args");

// Written by tfgen: moves_ln of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_ln {
    struct args {
        const bf16 *y5;
        bf16 *ln;
        int B, S;
    };
    struct context {
        float ln_m;
    };
    template <int V> struct element {
        vec<float, V> y5;
    };
    static constexpr int N = 21, threads = 128, team = 32, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y5 = load_aligned<V>(p.y5 + row * 21ll + col); // !17:5
        return {y5};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y5); // !18:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float ln_q = op_sqrt(total); // !18:5
        const float ln_m = op_max(ln_q, 1e-12f); // !18:5
        c.ln_m = ln_m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> ln = near_div(e.y5, c.ln_m); // !18:5
        store_aligned<V>(p.ln + row * 21ll + col, ln); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_ln::args, y5, 0);
TF_LAYOUT(k7_ln::args, ln, 8);
TF_LAYOUT(k7_ln::args, B, 16);
TF_LAYOUT(k7_ln::args, S, 20);
static_assert(sizeof(k7_ln::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: moves_o of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_o {
    struct args {
        const bf16 *x;
        bf16 *p_;
        bf16 *q;
        bf16 *o_;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 12ll + col); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> p_ = e.x; // !9:5
        if (col < 1) store_aligned<V>(p.p_ + row + col, p_); // !9:5
        const vec<float, V> q_from1 = e.x; // !9:5
        if (col >= 1 && col < 5) store_aligned<V>(p.q + row * 4ll + col - 1, q_from1); // !9:5
        const vec<float, V> o__from5 = e.x; // !9:5
        if (col >= 5 && col < 12) store_aligned<V>(p.o_ + row * 7ll + col - 5, o__from5); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_o::args, x, 0);
TF_LAYOUT(k0_o::args, p_, 8);
TF_LAYOUT(k0_o::args, q, 16);
TF_LAYOUT(k0_o::args, o_, 24);
TF_LAYOUT(k0_o::args, B, 32);
TF_LAYOUT(k0_o::args, S, 36);
static_assert(sizeof(k0_o::args) == 40, "size of args");

// Written by tfgen: moves_pp of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_pp {
    struct args {
        const bf16 *p_;
        bf16 *pp;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float p_ = load_one(p.p_ + row); // !9:5
        const float pp = op_exp(p_); // !10:5
        c.pp = pp;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.pp + row, c.pp); // !10:5
    }
};
TF_LAYOUT(k1_pp::args, p_, 0);
TF_LAYOUT(k1_pp::args, pp, 8);
TF_LAYOUT(k1_pp::args, B, 16);
TF_LAYOUT(k1_pp::args, S, 20);
static_assert(sizeof(k1_pp::args) == 24, "size of args");

// Written by tfgen: moves_cc of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_cc {
    struct args {
        const bf16 *pp;
        const bf16 *z;
        const bf16 *o_;
        bf16 *cc;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {
        vec<float, V> z_at0, o__at6;
    };
    static constexpr int N = 13, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float pp = load_one(p.pp + row); // !10:5
        c.pp = pp;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z_at0 = load<V>(p.z + row * 5ll + col, col >= 0 && col < 5 ? V : 0); // !6:24
        const vec<float, V> o__at6 = load<V>(p.o_ + row * 7ll + col - 6, (col - 6) >= 0 && (col - 6) < 7 ? V : 0); // !9:5
        return {z_at0, o__at6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> cc = col >= 0 && col < 5 ? e.z_at0 : (col - 5) >= 0 && (col - 5) < 1 ? splat<V>(c.pp) : e.o__at6; // !11:5
        store_aligned<V>(p.cc + row * 13ll + col, cc); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_cc::args, pp, 0);
TF_LAYOUT(k2_cc::args, z, 8);
TF_LAYOUT(k2_cc::args, o_, 16);
TF_LAYOUT(k2_cc::args, cc, 24);
TF_LAYOUT(k2_cc::args, B, 32);
TF_LAYOUT(k2_cc::args, S, 36);
static_assert(sizeof(k2_cc::args) == 40, "size of args");

// Written by tfgen: moves_dd of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_dd {
    struct args {
        const bf16 *q;
        const bf16 *cc;
        bf16 *dd;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> q_at0, cc_at4;
    };
    static constexpr int N = 17, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q_at0 = load<V>(p.q + row * 4ll + col, col >= 0 && col < 4 ? V : 0); // !9:5
        const vec<float, V> cc_at4 = load<V>(p.cc + row * 13ll + col - 4, (col - 4) >= 0 && (col - 4) < 13 ? V : 0); // !11:5
        return {q_at0, cc_at4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> dd = col >= 0 && col < 4 ? e.q_at0 : e.cc_at4; // !12:5
        store_aligned<V>(p.dd + row * 17ll + col, dd); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_dd::args, q, 0);
TF_LAYOUT(k3_dd::args, cc, 8);
TF_LAYOUT(k3_dd::args, dd, 16);
TF_LAYOUT(k3_dd::args, B, 24);
TF_LAYOUT(k3_dd::args, S, 28);
static_assert(sizeof(k3_dd::args) == 32, "size of args");

// Written by tfgen: moves_x_rows of tests/specs/moves.yaml for cdna; read it beside templates/gemm/align.h.
struct k4_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
        int B, S;
    };
    static constexpr int N = 12, stride = 16, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 12ll; // !13:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 16ll; // !13:5
    }
};
TF_LAYOUT(k4_align_x_rows::args, x, 0);
TF_LAYOUT(k4_align_x_rows::args, x_rows, 8);
TF_LAYOUT(k4_align_x_rows::args, B, 16);
TF_LAYOUT(k4_align_x_rows::args, S, 20);
static_assert(sizeof(k4_align_x_rows::args) == 24, "size of args");

// Written by tfgen: moves_y1 of tests/specs/moves.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_y1 {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        const bf16 *b1;
        bf16 *y1;
        int B, S;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 16;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 16ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y1_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 21 - col;
        if (left <= 0) return;
        const vec<float, W> b1 = load<W>(p.b1 + col, left); // !7:35
        const vec<float, W> y1 = op_add(product, b1); // !13:5
        out.template put_some<Slot, W>(p.y1 + row * 21ll + col, left, y1); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y1_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_y1_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_y1::args, x_rows, 0);
TF_LAYOUT(k4_y1::args, packed, 8);
TF_LAYOUT(k4_y1::args, b1, 16);
TF_LAYOUT(k4_y1::args, y1, 24);
TF_LAYOUT(k4_y1::args, B, 32);
TF_LAYOUT(k4_y1::args, S, 36);
static_assert(sizeof(k4_y1::args) == 40, "size of args");

// Written by tfgen: moves_y3 of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_y3 {
    struct args {
        const bf16 *y1;
        const bf16 *nw;
        bf16 *y3;
        int B, S;
    };
    struct context {
        float y3_r;
    };
    template <int V> struct element {
        vec<float, V> y2, nw;
    };
    static constexpr int N = 7, threads = 128, team = 8, V = 1, steps = 1;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y2 = load_aligned<V>(p.y1 + row * 7ll + col); // !14:5
        const vec<float, V> nw = load_aligned<V>(p.nw + col); // !7:25
        return {y2, nw};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y2); // !15:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float y3_ms = op_div(total, 7.0f); // !15:5
        const float y3_me = op_add(y3_ms, 1e-05f); // !15:5
        const float y3_r = op_rsqrt(y3_me); // !15:5
        c.y3_r = y3_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y3_n = op_mul(e.y2, c.y3_r); // !15:5
        const vec<float, V> y3 = op_mul(y3_n, e.nw); // !15:5
        store_aligned<V>(p.y3 + row * 7ll + col, y3); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_y3::args, y1, 0);
TF_LAYOUT(k5_y3::args, nw, 8);
TF_LAYOUT(k5_y3::args, y3, 16);
TF_LAYOUT(k5_y3::args, B, 24);
TF_LAYOUT(k5_y3::args, S, 28);
static_assert(sizeof(k5_y3::args) == 32, "size of args");

// Written by tfgen: moves_ln of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_ln {
    struct args {
        const bf16 *y3;
        const bf16 *w;
        bf16 *ln;
        int B, S;
    };
    struct context {
        float ln_m;
    };
    template <int V> struct element {
        vec<float, V> y5;
    };
    static constexpr int N = 21, threads = 128, team = 32, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y4 = load_aligned<V>(p.y3 + row * 21ll + col); // !16:5
        const vec<float, V> w = load_aligned<V>(p.w + col); // !6:38
        const vec<float, V> y5 = op_mul(y4, w); // !17:5
        return {y5};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y5); // !18:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float ln_q = op_sqrt(total); // !18:5
        const float ln_m = op_max(ln_q, 1e-12f); // !18:5
        c.ln_m = ln_m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> ln = near_div(e.y5, c.ln_m); // !18:5
        store_aligned<V>(p.ln + row * 21ll + col, ln); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_ln::args, y3, 0);
TF_LAYOUT(k6_ln::args, w, 8);
TF_LAYOUT(k6_ln::args, ln, 16);
TF_LAYOUT(k6_ln::args, B, 24);
TF_LAYOUT(k6_ln::args, S, 28);
static_assert(sizeof(k6_ln::args) == 32, "size of args");

// ---- level tile
// Written by tfgen: moves_q of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_q {
    struct args {
        const bf16 *x;
        bf16 *q;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 12, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 12ll + col); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> q_from1 = e.x; // !9:5
        if (col >= 1 && col < 5) store_aligned<V>(p.q + row * 4ll + col - 1, q_from1); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_q::args, x, 0);
TF_LAYOUT(k0_q::args, q, 8);
TF_LAYOUT(k0_q::args, B, 16);
TF_LAYOUT(k0_q::args, S, 20);
static_assert(sizeof(k0_q::args) == 24, "size of args");

// Written by tfgen: moves_pp of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_pp {
    struct args {
        const bf16 *x;
        bf16 *pp;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float p_ = load_one(p.x + row * 12ll); // !9:5
        const float pp = op_exp(p_); // !10:5
        c.pp = pp;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        return {};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.pp + row, c.pp); // !10:5
    }
};
TF_LAYOUT(k1_pp::args, x, 0);
TF_LAYOUT(k1_pp::args, pp, 8);
TF_LAYOUT(k1_pp::args, B, 16);
TF_LAYOUT(k1_pp::args, S, 20);
static_assert(sizeof(k1_pp::args) == 24, "size of args");

// Written by tfgen: moves_cc of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_cc {
    struct args {
        const bf16 *pp;
        const bf16 *z;
        const bf16 *x;
        bf16 *cc;
        int B, S;
    };
    struct context {
        float pp;
    };
    template <int V> struct element {
        vec<float, V> z_at0, o__at6;
    };
    static constexpr int N = 13, threads = 128, team = 16, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float pp = load_one(p.pp + row); // !10:5
        c.pp = pp;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> z_at0 = load<V>(p.z + row * 5ll + col, col >= 0 && col < 5 ? V : 0); // !6:24
        const vec<float, V> o__at6 = load<V>(p.x + row * 12ll + col - 6 + 5, (col - 6) >= 0 && (col - 6) < 7 ? V : 0); // !9:5
        return {z_at0, o__at6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> cc = col >= 0 && col < 5 ? e.z_at0 : (col - 5) >= 0 && (col - 5) < 1 ? splat<V>(c.pp) : e.o__at6; // !11:5
        store_aligned<V>(p.cc + row * 13ll + col, cc); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_cc::args, pp, 0);
TF_LAYOUT(k2_cc::args, z, 8);
TF_LAYOUT(k2_cc::args, x, 16);
TF_LAYOUT(k2_cc::args, cc, 24);
TF_LAYOUT(k2_cc::args, B, 32);
TF_LAYOUT(k2_cc::args, S, 36);
static_assert(sizeof(k2_cc::args) == 40, "size of args");

// Written by tfgen: moves_dd of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_dd {
    struct args {
        const bf16 *q;
        const bf16 *cc;
        bf16 *dd;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> q_at0, cc_at4;
    };
    static constexpr int N = 17, threads = 128, team = 32, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> q_at0 = load<V>(p.q + row * 4ll + col, col >= 0 && col < 4 ? V : 0); // !9:5
        const vec<float, V> cc_at4 = load<V>(p.cc + row * 13ll + col - 4, (col - 4) >= 0 && (col - 4) < 13 ? V : 0); // !11:5
        return {q_at0, cc_at4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> dd = col >= 0 && col < 4 ? e.q_at0 : e.cc_at4; // !12:5
        store_aligned<V>(p.dd + row * 17ll + col, dd); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_dd::args, q, 0);
TF_LAYOUT(k3_dd::args, cc, 8);
TF_LAYOUT(k3_dd::args, dd, 16);
TF_LAYOUT(k3_dd::args, B, 24);
TF_LAYOUT(k3_dd::args, S, 28);
static_assert(sizeof(k3_dd::args) == 32, "size of args");

// Written by tfgen: moves_x_rows of tests/specs/moves.yaml for cdna; read it beside templates/gemm/align.h.
struct k4_align_x_rows {
    struct args {
        const bf16 *x;
        bf16 *x_rows;
        int B, S;
    };
    static constexpr int N = 12, stride = 16, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static const type *from(const args &p, int row)
    {
        return p.x + row * 12ll; // !13:5
    }
    DEV static type *to(const args &p, int row)
    {
        return p.x_rows + row * 16ll; // !13:5
    }
};
TF_LAYOUT(k4_align_x_rows::args, x, 0);
TF_LAYOUT(k4_align_x_rows::args, x_rows, 8);
TF_LAYOUT(k4_align_x_rows::args, B, 16);
TF_LAYOUT(k4_align_x_rows::args, S, 20);
static_assert(sizeof(k4_align_x_rows::args) == 24, "size of args");

// Written by tfgen: moves_y1 of tests/specs/moves.yaml for cdna; read it beside templates/gemm/gemm_frag.h.
struct k4_y1 {
    struct args {
        const bf16 *x_rows;
        const bf16 *packed;
        const bf16 *b1;
        bf16 *y1;
        int B, S;
    };
    static constexpr int K = 12, packed_n = 32, packed_k = 32, granule = 16;
    static constexpr int tile_m = 16, tile_n = 32, threads = 128, ahead = 1, resident = 8;
    static constexpr int width = 4;
    static constexpr long long a_stride = 16;
    static constexpr bool row_sums = false, input_sums = false;
    using a_type = bf16;
    using b_type = a_type;
    struct context {};
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static int batches(const args &p) { return 1; }
    DEV static const a_type *a_row(const args &p, int batch, int row)
    {
        return p.x_rows + row * 16ll;
    }
    DEV static const b_type *packed(const args &p) { return p.packed; }
    DEV static context begin(const args &p, int batch, int row)
    {
        context c;
        return c;
    }
    template <int W, int Slot, class Out> DEV static void columns_y1_l(const args &p, const context &c, int row, int col, vec<float, W> product, float &sum, Out &out)
    {
        const int left = 21 - col;
        if (left <= 0) return;
        const vec<float, W> b1 = load<W>(p.b1 + col, left); // !7:35
        const vec<float, W> y1 = op_add(product, b1); // !13:5
        out.template put_some<Slot, W>(p.y1 + row * 21ll + col, left, y1); // !13:5
    }
    template <int W, class Out> DEV static void epilogue(const args &p, const context &c, int batch, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum, Out &out)
    {
        columns_y1_l<W, 0>(p, c, row, n, lo, sum, out);
        columns_y1_l<W, 1>(p, c, row, n + granule, hi, sum, out);
    }
};
TF_LAYOUT(k4_y1::args, x_rows, 0);
TF_LAYOUT(k4_y1::args, packed, 8);
TF_LAYOUT(k4_y1::args, b1, 16);
TF_LAYOUT(k4_y1::args, y1, 24);
TF_LAYOUT(k4_y1::args, B, 32);
TF_LAYOUT(k4_y1::args, S, 36);
static_assert(sizeof(k4_y1::args) == 40, "size of args");

// Written by tfgen: moves_y3 of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_y3 {
    struct args {
        const bf16 *y1;
        const bf16 *nw;
        bf16 *y3;
        int B, S;
    };
    struct context {
        float y3_r;
    };
    template <int V> struct element {
        vec<float, V> y2, nw;
    };
    static constexpr int N = 7, threads = 128, team = 8, V = 1, steps = 1;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y2 = load_aligned<V>(p.y1 + row * 7ll + col); // !14:5
        const vec<float, V> nw = load_aligned<V>(p.nw + col); // !7:25
        return {y2, nw};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !15:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y2); // !15:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float y3_ms = op_div(total, 7.0f); // !15:5
        const float y3_me = op_add(y3_ms, 1e-05f); // !15:5
        const float y3_r = op_rsqrt(y3_me); // !15:5
        c.y3_r = y3_r;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y3_n = op_mul(e.y2, c.y3_r); // !15:5
        const vec<float, V> y3 = op_mul(y3_n, e.nw); // !15:5
        store_aligned<V>(p.y3 + row * 7ll + col, y3); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_y3::args, y1, 0);
TF_LAYOUT(k5_y3::args, nw, 8);
TF_LAYOUT(k5_y3::args, y3, 16);
TF_LAYOUT(k5_y3::args, B, 24);
TF_LAYOUT(k5_y3::args, S, 28);
static_assert(sizeof(k5_y3::args) == 32, "size of args");

// Written by tfgen: moves_ln of tests/specs/moves.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_ln {
    struct args {
        const bf16 *y3;
        const bf16 *w;
        bf16 *ln;
        int B, S;
    };
    struct context {
        float ln_m;
    };
    template <int V> struct element {
        vec<float, V> y5;
    };
    static constexpr int N = 21, threads = 128, team = 32, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y4 = load_aligned<V>(p.y3 + row * 21ll + col); // !16:5
        const vec<float, V> w = load_aligned<V>(p.w + col); // !6:38
        const vec<float, V> y5 = op_mul(y4, w); // !17:5
        return {y5};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !18:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.y5); // !18:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float ln_q = op_sqrt(total); // !18:5
        const float ln_m = op_max(ln_q, 1e-12f); // !18:5
        c.ln_m = ln_m;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> ln = near_div(e.y5, c.ln_m); // !18:5
        store_aligned<V>(p.ln + row * 21ll + col, ln); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_ln::args, y3, 0);
TF_LAYOUT(k6_ln::args, w, 8);
TF_LAYOUT(k6_ln::args, ln, 16);
TF_LAYOUT(k6_ln::args, B, 24);
TF_LAYOUT(k6_ln::args, S, 28);
static_assert(sizeof(k6_ln::args) == 32, "size of args");

