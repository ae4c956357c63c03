// ---- level none
// Written by tfgen: elementwise_aa of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k0_aa {
    struct args {
        const bf16 *a;
        bf16 *aa;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> aa;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 256ll + col); // !14:10
        const vec<float, V> aa = op_square(a); // !16:5
        return {aa};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.aa + row * 256ll + col, e.aa); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_aa::args, a, 0);
TF_LAYOUT(k0_aa::args, aa, 8);
TF_LAYOUT(k0_aa::args, B, 16);
TF_LAYOUT(k0_aa::args, S, 20);
static_assert(sizeof(k0_aa::args) == 24, "size of args");

// Written by tfgen: elementwise_bb of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k1_bb {
    struct args {
        const bf16 *b;
        bf16 *bb;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> bb;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b = load_aligned<V>(p.b + row * 256ll + col); // !14:24
        const vec<float, V> bb = op_mul(b, b); // !17:5
        return {bb};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.bb + row * 256ll + col, e.bb); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_bb::args, b, 0);
TF_LAYOUT(k1_bb::args, bb, 8);
TF_LAYOUT(k1_bb::args, B, 16);
TF_LAYOUT(k1_bb::args, S, 20);
static_assert(sizeof(k1_bb::args) == 24, "size of args");

// Written by tfgen: elementwise_sum of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k2_sum {
    struct args {
        const bf16 *aa;
        const bf16 *bb;
        bf16 *sum_;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> sum_;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> aa = load_aligned<V>(p.aa + row * 256ll + col); // !16:5
        const vec<float, V> bb = load_aligned<V>(p.bb + row * 256ll + col); // !17:5
        const vec<float, V> sum_ = op_add(aa, bb); // !18:5
        return {sum_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.sum_ + row * 256ll + col, e.sum_); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_sum::args, aa, 0);
TF_LAYOUT(k2_sum::args, bb, 8);
TF_LAYOUT(k2_sum::args, sum_, 16);
TF_LAYOUT(k2_sum::args, B, 24);
TF_LAYOUT(k2_sum::args, S, 28);
static_assert(sizeof(k2_sum::args) == 32, "size of args");

// Written by tfgen: elementwise_r of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k3_r {
    struct args {
        const bf16 *sum_;
        bf16 *r;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> r;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> sum_ = load_aligned<V>(p.sum_ + row * 256ll + col); // !18:5
        const vec<float, V> r = op_sqrt(sum_); // !19:5
        return {r};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.r + row * 256ll + col, e.r); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_r::args, sum_, 0);
TF_LAYOUT(k3_r::args, r, 8);
TF_LAYOUT(k3_r::args, B, 16);
TF_LAYOUT(k3_r::args, S, 20);
static_assert(sizeof(k3_r::args) == 24, "size of args");

// Written by tfgen: elementwise_sine of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k4_sine {
    struct args {
        const bf16 *r;
        bf16 *sine;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> sine;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> r = load_aligned<V>(p.r + row * 256ll + col); // !19:5
        const vec<float, V> sine = op_sin(r); // !20:5
        return {sine};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.sine + row * 256ll + col, e.sine); // !20:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_sine::args, r, 0);
TF_LAYOUT(k4_sine::args, sine, 8);
TF_LAYOUT(k4_sine::args, B, 16);
TF_LAYOUT(k4_sine::args, S, 20);
static_assert(sizeof(k4_sine::args) == 24, "size of args");

// Written by tfgen: elementwise_cosine of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k5_cosine {
    struct args {
        const bf16 *r;
        bf16 *cosine;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> cosine;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> r = load_aligned<V>(p.r + row * 256ll + col); // !19:5
        const vec<float, V> cosine = op_cos(r); // !21:5
        return {cosine};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.cosine + row * 256ll + col, e.cosine); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_cosine::args, r, 0);
TF_LAYOUT(k5_cosine::args, cosine, 8);
TF_LAYOUT(k5_cosine::args, B, 16);
TF_LAYOUT(k5_cosine::args, S, 20);
static_assert(sizeof(k5_cosine::args) == 24, "size of args");

// Written by tfgen: elementwise_power of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k6_power {
    struct args {
        const bf16 *r;
        bf16 *power;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> power;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> r = load_aligned<V>(p.r + row * 256ll + col); // !19:5
        const vec<float, V> power = op_exp(r); // !22:5
        return {power};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.power + row * 256ll + col, e.power); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_power::args, r, 0);
TF_LAYOUT(k6_power::args, power, 8);
TF_LAYOUT(k6_power::args, B, 16);
TF_LAYOUT(k6_power::args, S, 20);
static_assert(sizeof(k6_power::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: elementwise_power of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
struct k0_power {
    struct args {
        const bf16 *a;
        const bf16 *b;
        bf16 *r;
        bf16 *sine;
        bf16 *cosine;
        bf16 *power;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> r, sine, cosine, power;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a = load_aligned<V>(p.a + row * 256ll + col); // !14:10
        const vec<float, V> aa = op_square(a); // !16:5
        const vec<float, V> b = load_aligned<V>(p.b + row * 256ll + col); // !14:24
        const vec<float, V> bb = op_mul(b, b); // !17:5
        const vec<float, V> sum_ = op_add(aa, bb); // !18:5
        const vec<float, V> r = op_cast<bf16>(op_sqrt(sum_)); // !19:5
        const vec<float, V> sine = op_sin(r); // !20:5
        const vec<float, V> cosine = op_cos(r); // !21:5
        const vec<float, V> power = op_exp(r); // !22:5
        return {r, sine, cosine, power};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.r + row * 256ll + col, e.r); // !19:5
        store_aligned<V>(p.sine + row * 256ll + col, e.sine); // !20:5
        store_aligned<V>(p.cosine + row * 256ll + col, e.cosine); // !21:5
        store_aligned<V>(p.power + row * 256ll + col, e.power); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_power::args, a, 0);
TF_LAYOUT(k0_power::args, b, 8);
TF_LAYOUT(k0_power::args, r, 16);
TF_LAYOUT(k0_power::args, sine, 24);
TF_LAYOUT(k0_power::args, cosine, 32);
TF_LAYOUT(k0_power::args, power, 40);
TF_LAYOUT(k0_power::args, B, 48);
TF_LAYOUT(k0_power::args, S, 52);
static_assert(sizeof(k0_power::args) == 56, "size of args");

// ---- level tile: as the one before
