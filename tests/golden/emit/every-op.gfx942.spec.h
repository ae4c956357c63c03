// ---- level none
// Written by tfgen: every_op_a1 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_a1 {
    struct args {
        const float *x;
        float *a1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> x;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 37ll + col); // !6:10
        return {x};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a1 = op_neg(e.x); // !8:5
        store_aligned<V>(p.a1 + row * 37ll + col, a1); // !8:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k0_a1::args, x, 0);
TF_LAYOUT(k0_a1::args, a1, 8);
TF_LAYOUT(k0_a1::args, B, 16);
TF_LAYOUT(k0_a1::args, S, 20);
static_assert(sizeof(k0_a1::args) == 24, "size of args");

// Written by tfgen: every_op_a2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_a2 {
    struct args {
        const float *a1;
        float *a2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a1;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a1 = load_aligned<V>(p.a1 + row * 37ll + col); // !8:5
        return {a1};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a2 = op_exp(e.a1); // !9:5
        store_aligned<V>(p.a2 + row * 37ll + col, a2); // !9:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k1_a2::args, a1, 0);
TF_LAYOUT(k1_a2::args, a2, 8);
TF_LAYOUT(k1_a2::args, B, 16);
TF_LAYOUT(k1_a2::args, S, 20);
static_assert(sizeof(k1_a2::args) == 24, "size of args");

// Written by tfgen: every_op_a3 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_a3 {
    struct args {
        const float *a2;
        float *a3;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a2;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2 = load_aligned<V>(p.a2 + row * 37ll + col); // !9:5
        return {a2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a3 = op_log(e.a2); // !10:5
        store_aligned<V>(p.a3 + row * 37ll + col, a3); // !10:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k2_a3::args, a2, 0);
TF_LAYOUT(k2_a3::args, a3, 8);
TF_LAYOUT(k2_a3::args, B, 16);
TF_LAYOUT(k2_a3::args, S, 20);
static_assert(sizeof(k2_a3::args) == 24, "size of args");

// Written by tfgen: every_op_a4 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_a4 {
    struct args {
        const float *a2;
        float *a4;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a2;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2 = load_aligned<V>(p.a2 + row * 37ll + col); // !9:5
        return {a2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a4 = op_sqrt(e.a2); // !11:5
        store_aligned<V>(p.a4 + row * 37ll + col, a4); // !11:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k3_a4::args, a2, 0);
TF_LAYOUT(k3_a4::args, a4, 8);
TF_LAYOUT(k3_a4::args, B, 16);
TF_LAYOUT(k3_a4::args, S, 20);
static_assert(sizeof(k3_a4::args) == 24, "size of args");

// Written by tfgen: every_op_a5 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_a5 {
    struct args {
        const float *a4;
        float *a5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a4;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a4 = load_aligned<V>(p.a4 + row * 37ll + col); // !11:5
        return {a4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a5 = op_square(e.a4); // !12:5
        store_aligned<V>(p.a5 + row * 37ll + col, a5); // !12:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k4_a5::args, a4, 0);
TF_LAYOUT(k4_a5::args, a5, 8);
TF_LAYOUT(k4_a5::args, B, 16);
TF_LAYOUT(k4_a5::args, S, 20);
static_assert(sizeof(k4_a5::args) == 24, "size of args");

// Written by tfgen: every_op_a6 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_a6 {
    struct args {
        const float *a2;
        float *a6;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a2;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a2 = load_aligned<V>(p.a2 + row * 37ll + col); // !9:5
        return {a2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a6 = op_rsqrt(e.a2); // !13:5
        store_aligned<V>(p.a6 + row * 37ll + col, a6); // !13:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_a6::args, a2, 0);
TF_LAYOUT(k5_a6::args, a6, 8);
TF_LAYOUT(k5_a6::args, B, 16);
TF_LAYOUT(k5_a6::args, S, 20);
static_assert(sizeof(k5_a6::args) == 24, "size of args");

// Written by tfgen: every_op_a7 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k6_a7 {
    struct args {
        const float *a6;
        float *a7;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a6;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a6 = load_aligned<V>(p.a6 + row * 37ll + col); // !13:5
        return {a6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a7 = op_sin(e.a6); // !14:5
        store_aligned<V>(p.a7 + row * 37ll + col, a7); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k6_a7::args, a6, 0);
TF_LAYOUT(k6_a7::args, a7, 8);
TF_LAYOUT(k6_a7::args, B, 16);
TF_LAYOUT(k6_a7::args, S, 20);
static_assert(sizeof(k6_a7::args) == 24, "size of args");

// Written by tfgen: every_op_a8 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k7_a8 {
    struct args {
        const float *a3;
        float *a8;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a3;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a3 = load_aligned<V>(p.a3 + row * 37ll + col); // !10:5
        return {a3};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a8 = op_cos(e.a3); // !15:5
        store_aligned<V>(p.a8 + row * 37ll + col, a8); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k7_a8::args, a3, 0);
TF_LAYOUT(k7_a8::args, a8, 8);
TF_LAYOUT(k7_a8::args, B, 16);
TF_LAYOUT(k7_a8::args, S, 20);
static_assert(sizeof(k7_a8::args) == 24, "size of args");

// Written by tfgen: every_op_a9 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k8_a9 {
    struct args {
        const float *a7;
        float *a9;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a7;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a7 = load_aligned<V>(p.a7 + row * 37ll + col); // !14:5
        return {a7};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> a9 = op_tanh(e.a7); // !16:5
        store_aligned<V>(p.a9 + row * 37ll + col, a9); // !16:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k8_a9::args, a7, 0);
TF_LAYOUT(k8_a9::args, a9, 8);
TF_LAYOUT(k8_a9::args, B, 16);
TF_LAYOUT(k8_a9::args, S, 20);
static_assert(sizeof(k8_a9::args) == 24, "size of args");

// Written by tfgen: every_op_b1 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k9_b1 {
    struct args {
        const float *a8;
        float *b1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a8;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a8 = load_aligned<V>(p.a8 + row * 37ll + col); // !15:5
        return {a8};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> b1 = op_sigmoid(e.a8); // !17:5
        store_aligned<V>(p.b1 + row * 37ll + col, b1); // !17:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k9_b1::args, a8, 0);
TF_LAYOUT(k9_b1::args, b1, 8);
TF_LAYOUT(k9_b1::args, B, 16);
TF_LAYOUT(k9_b1::args, S, 20);
static_assert(sizeof(k9_b1::args) == 24, "size of args");

// Written by tfgen: every_op_b2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k10_b2 {
    struct args {
        const float *b1;
        float *b2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b1;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b1 = load_aligned<V>(p.b1 + row * 37ll + col); // !17:5
        return {b1};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> b2 = op_silu(e.b1); // !18:5
        store_aligned<V>(p.b2 + row * 37ll + col, b2); // !18:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k10_b2::args, b1, 0);
TF_LAYOUT(k10_b2::args, b2, 8);
TF_LAYOUT(k10_b2::args, B, 16);
TF_LAYOUT(k10_b2::args, S, 20);
static_assert(sizeof(k10_b2::args) == 24, "size of args");

// Written by tfgen: every_op_b3 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k11_b3 {
    struct args {
        const float *b2;
        float *b3;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b2;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b2 = load_aligned<V>(p.b2 + row * 37ll + col); // !18:5
        return {b2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> b3 = op_gelu_erf(e.b2); // !19:5
        store_aligned<V>(p.b3 + row * 37ll + col, b3); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k11_b3::args, b2, 0);
TF_LAYOUT(k11_b3::args, b3, 8);
TF_LAYOUT(k11_b3::args, B, 16);
TF_LAYOUT(k11_b3::args, S, 20);
static_assert(sizeof(k11_b3::args) == 24, "size of args");

// Written by tfgen: every_op_b4 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k12_b4 {
    struct args {
        const float *a9;
        float *b4;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> a9;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a9 = load_aligned<V>(p.a9 + row * 37ll + col); // !16:5
        return {a9};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> b4 = op_gelu_tanh(e.a9); // !20:5
        store_aligned<V>(p.b4 + row * 37ll + col, b4); // !20:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k12_b4::args, a9, 0);
TF_LAYOUT(k12_b4::args, b4, 8);
TF_LAYOUT(k12_b4::args, B, 16);
TF_LAYOUT(k12_b4::args, S, 20);
static_assert(sizeof(k12_b4::args) == 24, "size of args");

// Written by tfgen: every_op_b5 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k13_b5 {
    struct args {
        const float *b4;
        float *b5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b4;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b4 = load_aligned<V>(p.b4 + row * 37ll + col); // !20:5
        return {b4};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> b5 = op_relu(e.b4); // !21:5
        store_aligned<V>(p.b5 + row * 37ll + col, b5); // !21:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k13_b5::args, b4, 0);
TF_LAYOUT(k13_b5::args, b5, 8);
TF_LAYOUT(k13_b5::args, B, 16);
TF_LAYOUT(k13_b5::args, S, 20);
static_assert(sizeof(k13_b5::args) == 24, "size of args");

// Written by tfgen: every_op_c1 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k14_c1 {
    struct args {
        const float *b5;
        const float *z;
        float *c1;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> b5, z;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b5 = load_aligned<V>(p.b5 + row * 37ll + col); // !21:5
        const vec<float, V> z = load_aligned<V>(p.z + (row % p.S) * 37ll + col); // !6:24
        return {b5, z};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c1 = op_add(e.b5, e.z); // !22:5
        store_aligned<V>(p.c1 + row * 37ll + col, c1); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k14_c1::args, b5, 0);
TF_LAYOUT(k14_c1::args, z, 8);
TF_LAYOUT(k14_c1::args, c1, 16);
TF_LAYOUT(k14_c1::args, B, 24);
TF_LAYOUT(k14_c1::args, S, 28);
static_assert(sizeof(k14_c1::args) == 32, "size of args");

// Written by tfgen: every_op_c2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k15_c2 {
    struct args {
        const float *c1;
        const float *u;
        float *c2;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c1, u;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c1 = load_aligned<V>(p.c1 + row * 37ll + col); // !22:5
        const vec<float, V> u = load_aligned<V>(p.u + (row / p.S) * 37ll + col); // !6:35
        return {c1, u};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c2 = op_sub(e.c1, e.u); // !23:5
        store_aligned<V>(p.c2 + row * 37ll + col, c2); // !23:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k15_c2::args, c1, 0);
TF_LAYOUT(k15_c2::args, u, 8);
TF_LAYOUT(k15_c2::args, c2, 16);
TF_LAYOUT(k15_c2::args, B, 24);
TF_LAYOUT(k15_c2::args, S, 28);
static_assert(sizeof(k15_c2::args) == 32, "size of args");

// Written by tfgen: every_op_c3 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k16_c3 {
    struct args {
        const float *r;
        const float *c2;
        float *c3;
        int B, S;
    };
    struct context {
        float r;
    };
    template <int V> struct element {
        vec<float, V> c2;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !6:49
        c.r = r;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c2 = load_aligned<V>(p.c2 + row * 37ll + col); // !23:5
        return {c2};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c3 = op_mul(e.c2, c.r); // !24:5
        store_aligned<V>(p.c3 + row * 37ll + col, c3); // !24:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k16_c3::args, r, 0);
TF_LAYOUT(k16_c3::args, c2, 8);
TF_LAYOUT(k16_c3::args, c3, 16);
TF_LAYOUT(k16_c3::args, B, 24);
TF_LAYOUT(k16_c3::args, S, 28);
static_assert(sizeof(k16_c3::args) == 32, "size of args");

// Written by tfgen: every_op_c4 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k17_c4 {
    struct args {
        const float *c3;
        float *c4;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c3;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c3 = load_aligned<V>(p.c3 + row * 37ll + col); // !24:5
        return {c3};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c4 = op_div(e.c3, 3.5f); // !25:5
        store_aligned<V>(p.c4 + row * 37ll + col, c4); // !25:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k17_c4::args, c3, 0);
TF_LAYOUT(k17_c4::args, c4, 8);
TF_LAYOUT(k17_c4::args, B, 16);
TF_LAYOUT(k17_c4::args, S, 20);
static_assert(sizeof(k17_c4::args) == 24, "size of args");

// Written by tfgen: every_op_c5 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k18_c5 {
    struct args {
        const float *c4;
        const float *c_;
        float *c5;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c4, c_;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c4 = load_aligned<V>(p.c4 + row * 37ll + col); // !25:5
        const vec<float, V> c_ = load_aligned<V>(p.c_ + col); // !6:63
        return {c4, c_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c5 = op_max(e.c4, e.c_); // !26:5
        store_aligned<V>(p.c5 + row * 37ll + col, c5); // !26:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k18_c5::args, c4, 0);
TF_LAYOUT(k18_c5::args, c_, 8);
TF_LAYOUT(k18_c5::args, c5, 16);
TF_LAYOUT(k18_c5::args, B, 24);
TF_LAYOUT(k18_c5::args, S, 28);
static_assert(sizeof(k18_c5::args) == 32, "size of args");

// Written by tfgen: every_op_c6 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k19_c6 {
    struct args {
        const float *t;
        const float *c5;
        float *c6;
        int B, S;
    };
    struct context {
        float t;
    };
    template <int V> struct element {
        vec<float, V> c5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float t = load_one(p.t + (row / p.S)); // !6:71
        c.t = t;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c5 = load_aligned<V>(p.c5 + row * 37ll + col); // !26:5
        return {c5};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c6 = op_min(e.c5, c.t); // !27:5
        store_aligned<V>(p.c6 + row * 37ll + col, c6); // !27:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k19_c6::args, t, 0);
TF_LAYOUT(k19_c6::args, c5, 8);
TF_LAYOUT(k19_c6::args, c6, 16);
TF_LAYOUT(k19_c6::args, B, 24);
TF_LAYOUT(k19_c6::args, S, 28);
static_assert(sizeof(k19_c6::args) == 32, "size of args");

// Written by tfgen: every_op_c7 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k20_c7 {
    struct args {
        const float *c6;
        bf16 *c7;
        int B, S;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c6;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c6 = load_aligned<V>(p.c6 + row * 37ll + col); // !27:5
        return {c6};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> c7 = op_cast<bf16>(e.c6); // !28:5
        store_aligned<V>(p.c7 + row * 37ll + col, c7); // !28:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k20_c7::args, c6, 0);
TF_LAYOUT(k20_c7::args, c7, 8);
TF_LAYOUT(k20_c7::args, B, 16);
TF_LAYOUT(k20_c7::args, S, 20);
static_assert(sizeof(k20_c7::args) == 24, "size of args");

// Written by tfgen: every_op_stats of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k21_stats {
    struct args {
        const bf16 *c7;
        float *d1;
        int B, S;
    };
    struct context {
        float d1;
    };
    template <int V> struct element {
        vec<float, V> c7;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c7 = load_aligned<V>(p.c7 + row * 37ll + col); // !28:5
        return {c7};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.c7; // !29:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d1 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d1 + row, c.d1); // !29:5
    }
};
TF_LAYOUT(k21_stats::args, c7, 0);
TF_LAYOUT(k21_stats::args, d1, 8);
TF_LAYOUT(k21_stats::args, B, 16);
TF_LAYOUT(k21_stats::args, S, 20);
static_assert(sizeof(k21_stats::args) == 24, "size of args");

// Written by tfgen: every_op_d2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k22_d2 {
    struct args {
        const float *b3;
        float *d2;
        int B, S;
    };
    struct context {
        float d2;
    };
    template <int V> struct element {
        vec<float, V> b3;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b3 = load_aligned<V>(p.b3 + row * 37ll + col); // !19:5
        return {b3};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3; // !30:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float d2 = op_div(total, 37.0f); // !30:5
        c.d2 = d2;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d2 + row, c.d2); // !30:5
    }
};
TF_LAYOUT(k22_d2::args, b3, 0);
TF_LAYOUT(k22_d2::args, d2, 8);
TF_LAYOUT(k22_d2::args, B, 16);
TF_LAYOUT(k22_d2::args, S, 20);
static_assert(sizeof(k22_d2::args) == 24, "size of args");

// Written by tfgen: every_op_stats_2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k23_stats_2 {
    struct args {
        const float *a5;
        float *d3;
        int B, S;
    };
    struct context {
        float d3;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load_aligned<V>(p.a5 + row * 37ll + col); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !31:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !31:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d3 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d3 + row, c.d3); // !31:5
    }
};
TF_LAYOUT(k23_stats_2::args, a5, 0);
TF_LAYOUT(k23_stats_2::args, d3, 8);
TF_LAYOUT(k23_stats_2::args, B, 16);
TF_LAYOUT(k23_stats_2::args, S, 20);
static_assert(sizeof(k23_stats_2::args) == 24, "size of args");

// Written by tfgen: every_op_stats_3 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k24_stats_3 {
    struct args {
        const float *a5;
        float *d4;
        int B, S;
    };
    struct context {
        float d4;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load_aligned<V>(p.a5 + row * 37ll + col); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::min; } // !32:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !32:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d4 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d4 + row, c.d4); // !32:5
    }
};
TF_LAYOUT(k24_stats_3::args, a5, 0);
TF_LAYOUT(k24_stats_3::args, d4, 8);
TF_LAYOUT(k24_stats_3::args, B, 16);
TF_LAYOUT(k24_stats_3::args, S, 20);
static_assert(sizeof(k24_stats_3::args) == 24, "size of args");

// Written by tfgen: every_op_stats_4 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k25_stats_4 {
    struct args {
        const float *a5;
        float *d5;
        int B, S;
    };
    struct context {
        float d5;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load_aligned<V>(p.a5 + row * 37ll + col); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d5 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d5 + row, c.d5); // !33:5
    }
};
TF_LAYOUT(k25_stats_4::args, a5, 0);
TF_LAYOUT(k25_stats_4::args, d5, 8);
TF_LAYOUT(k25_stats_4::args, B, 16);
TF_LAYOUT(k25_stats_4::args, S, 20);
static_assert(sizeof(k25_stats_4::args) == 24, "size of args");

// Written by tfgen: every_op_e1 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k26_e1 {
    struct args {
        const float *d1;
        const float *d2;
        float *e1;
        int B, S;
    };
    struct context {
        float e1;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float d1 = load_one(p.d1 + row); // !29:5
        const float d2 = load_one(p.d2 + row); // !30:5
        const float e1 = op_add(d1, d2); // !34:5
        c.e1 = e1;
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
        store_one(p.e1 + row, c.e1); // !34:5
    }
};
TF_LAYOUT(k26_e1::args, d1, 0);
TF_LAYOUT(k26_e1::args, d2, 8);
TF_LAYOUT(k26_e1::args, e1, 16);
TF_LAYOUT(k26_e1::args, B, 24);
TF_LAYOUT(k26_e1::args, S, 28);
static_assert(sizeof(k26_e1::args) == 32, "size of args");

// Written by tfgen: every_op_e2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k27_e2 {
    struct args {
        const float *d3;
        const float *d4;
        float *e2;
        int B, S;
    };
    struct context {
        float e2;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float d3 = load_one(p.d3 + row); // !31:5
        const float d4 = load_one(p.d4 + row); // !32:5
        const float e2 = op_add(d3, d4); // !35:5
        c.e2 = e2;
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
        store_one(p.e2 + row, c.e2); // !35:5
    }
};
TF_LAYOUT(k27_e2::args, d3, 0);
TF_LAYOUT(k27_e2::args, d4, 8);
TF_LAYOUT(k27_e2::args, e2, 16);
TF_LAYOUT(k27_e2::args, B, 24);
TF_LAYOUT(k27_e2::args, S, 28);
static_assert(sizeof(k27_e2::args) == 32, "size of args");

// Written by tfgen: every_op_e3 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k28_e3 {
    struct args {
        const float *e1;
        const float *e2;
        float *e3;
        int B, S;
    };
    struct context {
        float e3;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e1 = load_one(p.e1 + row); // !34:5
        const float e2 = load_one(p.e2 + row); // !35:5
        const float e3 = op_add(e1, e2); // !36:5
        c.e3 = e3;
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
        store_one(p.e3 + row, c.e3); // !36:5
    }
};
TF_LAYOUT(k28_e3::args, e1, 0);
TF_LAYOUT(k28_e3::args, e2, 8);
TF_LAYOUT(k28_e3::args, e3, 16);
TF_LAYOUT(k28_e3::args, B, 24);
TF_LAYOUT(k28_e3::args, S, 28);
static_assert(sizeof(k28_e3::args) == 32, "size of args");

// Written by tfgen: every_op_e4 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k29_e4 {
    struct args {
        const float *e3;
        const float *d5;
        float *e4;
        int B, S;
    };
    struct context {
        float e4;
    };
    template <int V> struct element {};
    static constexpr int N = 1, threads = 128, team = 1, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e3 = load_one(p.e3 + row); // !36:5
        const float d5 = load_one(p.d5 + row); // !33:5
        const float e4 = op_add(e3, d5); // !37:5
        c.e4 = e4;
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
        store_one(p.e4 + row, c.e4); // !37:5
    }
};
TF_LAYOUT(k29_e4::args, e3, 0);
TF_LAYOUT(k29_e4::args, d5, 8);
TF_LAYOUT(k29_e4::args, e4, 16);
TF_LAYOUT(k29_e4::args, B, 24);
TF_LAYOUT(k29_e4::args, S, 28);
static_assert(sizeof(k29_e4::args) == 32, "size of args");

// Written by tfgen: every_op_e5 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k30_e5 {
    struct args {
        const float *e4;
        const bf16 *c7;
        float *e5;
        int B, S;
    };
    struct context {
        float e4;
    };
    template <int V> struct element {
        vec<float, V> c7;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 0;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float e4 = load_one(p.e4 + row); // !37:5
        c.e4 = e4;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> c7 = load_aligned<V>(p.c7 + row * 37ll + col); // !28:5
        return {c7};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e5 = op_add(e.c7, c.e4); // !38:5
        store_aligned<V>(p.e5 + row * 37ll + col, e5); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k30_e5::args, e4, 0);
TF_LAYOUT(k30_e5::args, c7, 8);
TF_LAYOUT(k30_e5::args, e5, 16);
TF_LAYOUT(k30_e5::args, B, 24);
TF_LAYOUT(k30_e5::args, S, 28);
static_assert(sizeof(k30_e5::args) == 32, "size of args");

// Written by tfgen: every_op_f of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k31_f {
    struct args {
        const float *e5;
        float *f;
        int B, S;
    };
    struct context {
        float f_f, f_s;
    };
    template <int V> struct element {
        vec<float, V> e5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> e5 = load_aligned<V>(p.e5 + row * 37ll + col); // !38:5
        return {e5};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.e5; // !39:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float f_f = op_finite(total); // !39:5
        c.f_f = f_f;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> f_d = op_sub(e.e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        return f_e; // !39:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        c.f_s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> f_d = op_sub(e.e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        const vec<float, V> f = op_div_or_zero(f_e, c.f_s); // !39:5
        store_aligned<V>(p.f + row * 37ll + col, f); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k31_f::args, e5, 0);
TF_LAYOUT(k31_f::args, f, 8);
TF_LAYOUT(k31_f::args, B, 16);
TF_LAYOUT(k31_f::args, S, 20);
static_assert(sizeof(k31_f::args) == 24, "size of args");

// ---- level ops
// Written by tfgen: every_op_b3 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_b3 {
    struct args {
        const float *r;
        const float *t;
        const float *x;
        const float *z;
        const float *u;
        const float *c_;
        bf16 *c7;
        float *a5;
        float *b3;
        float *d1;
        int B, S;
    };
    TF_CALLED static float tf_chain1_c7(float x, float z, float u, float r, float c_, float t)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a6 = op_rsqrt(a2); // !13:5
        const float a7 = op_sin(a6); // !14:5
        const float a9 = op_tanh(a7); // !16:5
        const float b4 = op_gelu_tanh(a9); // !20:5
        const float b5 = op_relu(b4); // !21:5
        const float c1 = op_add(b5, z); // !22:5
        const float c2 = op_sub(c1, u); // !23:5
        const float c3 = op_mul(c2, r); // !24:5
        const float c4 = op_div(c3, 3.5f); // !25:5
        const float c5 = op_max(c4, c_); // !26:5
        const float c6 = op_min(c5, t); // !27:5
        const float c7 = op_cast<bf16>(c6); // !28:5
        return c7;
    }
    TF_CALLED static float tf_chain2_a5(float x)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a4 = op_sqrt(a2); // !11:5
        const float a5 = op_square(a4); // !12:5
        return a5;
    }
    TF_CALLED static float tf_chain3_b3(float x)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a3 = op_log(a2); // !10:5
        const float a8 = op_cos(a3); // !15:5
        const float b1 = op_sigmoid(a8); // !17:5
        const float b2 = op_silu(b1); // !18:5
        const float b3 = op_gelu_erf(b2); // !19:5
        return b3;
    }
    struct context {
        float r, t, d1;
    };
    template <int V> struct element {
        vec<float, V> x, z, u, c_, a5, b3;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !6:49
        c.r = r;
        const float t = load_one(p.t + (row / p.S)); // !6:71
        c.t = t;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 37ll + col); // !6:10
        const vec<float, V> z = load_aligned<V>(p.z + (row % p.S) * 37ll + col); // !6:24
        const vec<float, V> u = load_aligned<V>(p.u + (row / p.S) * 37ll + col); // !6:35
        const vec<float, V> c_ = load_aligned<V>(p.c_ + col); // !6:63
        vec<float, V> a5 = splat<V>(0.0f); // !12:5
        #pragma unroll
        for (int i = 0; i < V; i++) a5[i] = tf_chain2_a5(x[i]); // !12:5
        vec<float, V> b3 = splat<V>(0.0f); // !19:5
        #pragma unroll
        for (int i = 0; i < V; i++) b3[i] = tf_chain3_b3(x[i]); // !19:5
        return {x, z, u, c_, a5, b3};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        vec<float, V> c7 = splat<V>(0.0f); // !28:5
        #pragma unroll
        for (int i = 0; i < V; i++) c7[i] = tf_chain1_c7(e.x[i], e.z[i], e.u[i], c.r, e.c_[i], c.t); // !28:5
        return c7; // !29:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d1 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        vec<float, V> c7 = splat<V>(0.0f); // !28:5
        #pragma unroll
        for (int i = 0; i < V; i++) c7[i] = tf_chain1_c7(e.x[i], e.z[i], e.u[i], c.r, e.c_[i], c.t); // !28:5
        store_aligned<V>(p.c7 + row * 37ll + col, c7); // !28:5
        store_aligned<V>(p.a5 + row * 37ll + col, e.a5); // !12:5
        store_aligned<V>(p.b3 + row * 37ll + col, e.b3); // !19:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d1 + row, c.d1); // !29:5
    }
};
TF_LAYOUT(k0_b3::args, r, 0);
TF_LAYOUT(k0_b3::args, t, 8);
TF_LAYOUT(k0_b3::args, x, 16);
TF_LAYOUT(k0_b3::args, z, 24);
TF_LAYOUT(k0_b3::args, u, 32);
TF_LAYOUT(k0_b3::args, c_, 40);
TF_LAYOUT(k0_b3::args, c7, 48);
TF_LAYOUT(k0_b3::args, a5, 56);
TF_LAYOUT(k0_b3::args, b3, 64);
TF_LAYOUT(k0_b3::args, d1, 72);
TF_LAYOUT(k0_b3::args, B, 80);
TF_LAYOUT(k0_b3::args, S, 84);
static_assert(sizeof(k0_b3::args) == 88, "size of args");

// Written by tfgen: every_op_stats of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k1_stats {
    struct args {
        const float *a5;
        float *d4;
        int B, S;
    };
    struct context {
        float d4;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load_aligned<V>(p.a5 + row * 37ll + col); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::min; } // !32:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !32:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d4 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d4 + row, c.d4); // !32:5
    }
};
TF_LAYOUT(k1_stats::args, a5, 0);
TF_LAYOUT(k1_stats::args, d4, 8);
TF_LAYOUT(k1_stats::args, B, 16);
TF_LAYOUT(k1_stats::args, S, 20);
static_assert(sizeof(k1_stats::args) == 24, "size of args");

// Written by tfgen: every_op_e2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k2_e2 {
    struct args {
        const float *a5;
        const float *d4;
        float *e2;
        int B, S;
    };
    struct context {
        float e2;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load_aligned<V>(p.a5 + row * 37ll + col); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !31:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !31:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float d4 = load_one(p.d4 + row); // !32:5
        const float e2 = op_add(total, d4); // !35:5
        c.e2 = e2;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.e2 + row, c.e2); // !35:5
    }
};
TF_LAYOUT(k2_e2::args, a5, 0);
TF_LAYOUT(k2_e2::args, d4, 8);
TF_LAYOUT(k2_e2::args, e2, 16);
TF_LAYOUT(k2_e2::args, B, 24);
TF_LAYOUT(k2_e2::args, S, 28);
static_assert(sizeof(k2_e2::args) == 32, "size of args");

// Written by tfgen: every_op_stats_2 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k3_stats_2 {
    struct args {
        const float *a5;
        float *d5;
        int B, S;
    };
    struct context {
        float d5;
    };
    template <int V> struct element {
        vec<float, V> a5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a5 = load_aligned<V>(p.a5 + row * 37ll + col); // !12:5
        return {a5};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d5 = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.d5 + row, c.d5); // !33:5
    }
};
TF_LAYOUT(k3_stats_2::args, a5, 0);
TF_LAYOUT(k3_stats_2::args, d5, 8);
TF_LAYOUT(k3_stats_2::args, B, 16);
TF_LAYOUT(k3_stats_2::args, S, 20);
static_assert(sizeof(k3_stats_2::args) == 24, "size of args");

// Written by tfgen: every_op_e5 of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k4_e5 {
    struct args {
        const float *b3;
        const bf16 *c7;
        const float *d1;
        const float *e2;
        const float *d5;
        float *e5;
        float *e4;
        int B, S;
    };
    struct context {
        float e4;
    };
    template <int V> struct element {
        vec<float, V> b3, c7;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 1;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> b3 = load_aligned<V>(p.b3 + row * 37ll + col); // !19:5
        const vec<float, V> c7 = load_aligned<V>(p.c7 + row * 37ll + col); // !28:5
        return {b3, c7};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3; // !30:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float d1 = load_one(p.d1 + row); // !29:5
        const float d2 = op_div(total, 37.0f); // !30:5
        const float e1 = op_add(d1, d2); // !34:5
        const float e2 = load_one(p.e2 + row); // !35:5
        const float e3 = op_add(e1, e2); // !36:5
        const float d5 = load_one(p.d5 + row); // !33:5
        const float e4 = op_add(e3, d5); // !37:5
        c.e4 = e4;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> e5 = op_add(e.c7, c.e4); // !38:5
        store_aligned<V>(p.e5 + row * 37ll + col, e5); // !38:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.e4 + row, c.e4); // !37:5
    }
};
TF_LAYOUT(k4_e5::args, b3, 0);
TF_LAYOUT(k4_e5::args, c7, 8);
TF_LAYOUT(k4_e5::args, d1, 16);
TF_LAYOUT(k4_e5::args, e2, 24);
TF_LAYOUT(k4_e5::args, d5, 32);
TF_LAYOUT(k4_e5::args, e5, 40);
TF_LAYOUT(k4_e5::args, e4, 48);
TF_LAYOUT(k4_e5::args, B, 56);
TF_LAYOUT(k4_e5::args, S, 60);
static_assert(sizeof(k4_e5::args) == 64, "size of args");

// Written by tfgen: every_op_f of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k5_f {
    struct args {
        const float *e5;
        float *f;
        int B, S;
    };
    struct context {
        float f_f, f_s;
    };
    template <int V> struct element {
        vec<float, V> e5;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 2;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> e5 = load_aligned<V>(p.e5 + row * 37ll + col); // !38:5
        return {e5};
    }
    static constexpr reduction kind(step<0>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.e5; // !39:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        const float f_f = op_finite(total); // !39:5
        c.f_f = f_f;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        const vec<float, V> f_d = op_sub(e.e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        return f_e; // !39:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        c.f_s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> f_d = op_sub(e.e5, c.f_f); // !39:5
        const vec<float, V> f_e = op_exp(f_d); // !39:5
        const vec<float, V> f = op_div_or_zero(f_e, c.f_s); // !39:5
        store_aligned<V>(p.f + row * 37ll + col, f); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
    }
};
TF_LAYOUT(k5_f::args, e5, 0);
TF_LAYOUT(k5_f::args, f, 8);
TF_LAYOUT(k5_f::args, B, 16);
TF_LAYOUT(k5_f::args, S, 20);
static_assert(sizeof(k5_f::args) == 24, "size of args");

// ---- level tile
// Written by tfgen: every_op_f of tests/specs/every-op.yaml for cdna; read it beside templates/rows/rows.h.
struct k0_f {
    struct args {
        const float *r;
        const float *t;
        const float *x;
        const float *z;
        const float *u;
        const float *c_;
        float *f;
        float *e4;
        int B, S;
    };
    TF_CALLED static float tf_chain1_c7(float x, float z, float u, float r, float c_, float t)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a6 = op_rsqrt(a2); // !13:5
        const float a7 = op_sin(a6); // !14:5
        const float a9 = op_tanh(a7); // !16:5
        const float b4 = op_gelu_tanh(a9); // !20:5
        const float b5 = op_relu(b4); // !21:5
        const float c1 = op_add(b5, z); // !22:5
        const float c2 = op_sub(c1, u); // !23:5
        const float c3 = op_mul(c2, r); // !24:5
        const float c4 = op_div(c3, 3.5f); // !25:5
        const float c5 = op_max(c4, c_); // !26:5
        const float c6 = op_min(c5, t); // !27:5
        const float c7 = op_cast<bf16>(c6); // !28:5
        return c7;
    }
    TF_CALLED static float tf_chain2_f_e(float e5, float f_f)
    {
        const float f_d = op_sub(e5, f_f); // !39:5
        const float f_e = op_exp(f_d); // !39:5
        return f_e;
    }
    TF_CALLED static float tf_chain3_a5(float x)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a4 = op_sqrt(a2); // !11:5
        const float a5 = op_square(a4); // !12:5
        return a5;
    }
    TF_CALLED static float tf_chain4_b3(float x)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a3 = op_log(a2); // !10:5
        const float a8 = op_cos(a3); // !15:5
        const float b1 = op_sigmoid(a8); // !17:5
        const float b2 = op_silu(b1); // !18:5
        const float b3 = op_gelu_erf(b2); // !19:5
        return b3;
    }
    TF_CALLED static float tf_chain5_e5(float x, float z, float u, float r, float c_, float t, float e4)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a6 = op_rsqrt(a2); // !13:5
        const float a7 = op_sin(a6); // !14:5
        const float a9 = op_tanh(a7); // !16:5
        const float b4 = op_gelu_tanh(a9); // !20:5
        const float b5 = op_relu(b4); // !21:5
        const float c1 = op_add(b5, z); // !22:5
        const float c2 = op_sub(c1, u); // !23:5
        const float c3 = op_mul(c2, r); // !24:5
        const float c4 = op_div(c3, 3.5f); // !25:5
        const float c5 = op_max(c4, c_); // !26:5
        const float c6 = op_min(c5, t); // !27:5
        const float c7 = op_cast<bf16>(c6); // !28:5
        const float e5 = op_add(c7, e4); // !38:5
        return e5;
    }
    TF_CALLED static float tf_chain6_f_e(float x, float z, float u, float r, float c_, float t, float e4, float f_f)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a6 = op_rsqrt(a2); // !13:5
        const float a7 = op_sin(a6); // !14:5
        const float a9 = op_tanh(a7); // !16:5
        const float b4 = op_gelu_tanh(a9); // !20:5
        const float b5 = op_relu(b4); // !21:5
        const float c1 = op_add(b5, z); // !22:5
        const float c2 = op_sub(c1, u); // !23:5
        const float c3 = op_mul(c2, r); // !24:5
        const float c4 = op_div(c3, 3.5f); // !25:5
        const float c5 = op_max(c4, c_); // !26:5
        const float c6 = op_min(c5, t); // !27:5
        const float c7 = op_cast<bf16>(c6); // !28:5
        const float e5 = op_add(c7, e4); // !38:5
        const float f_d = op_sub(e5, f_f); // !39:5
        const float f_e = op_exp(f_d); // !39:5
        return f_e;
    }
    TF_CALLED static float tf_chain7_f(float x, float z, float u, float r, float c_, float t, float e4, float f_f, float f_s)
    {
        const float a1 = op_neg(x); // !8:5
        const float a2 = op_exp(a1); // !9:5
        const float a6 = op_rsqrt(a2); // !13:5
        const float a7 = op_sin(a6); // !14:5
        const float a9 = op_tanh(a7); // !16:5
        const float b4 = op_gelu_tanh(a9); // !20:5
        const float b5 = op_relu(b4); // !21:5
        const float c1 = op_add(b5, z); // !22:5
        const float c2 = op_sub(c1, u); // !23:5
        const float c3 = op_mul(c2, r); // !24:5
        const float c4 = op_div(c3, 3.5f); // !25:5
        const float c5 = op_max(c4, c_); // !26:5
        const float c6 = op_min(c5, t); // !27:5
        const float c7 = op_cast<bf16>(c6); // !28:5
        const float e5 = op_add(c7, e4); // !38:5
        const float f_d = op_sub(e5, f_f); // !39:5
        const float f_e = op_exp(f_d); // !39:5
        const float f = op_div_or_zero(f_e, f_s); // !39:5
        return f;
    }
    struct context {
        float r, t, e4, f_f, f_s, d2_s, d3, d4, d5;
    };
    template <int V> struct element {
        vec<float, V> a5, b3, x, z, u, c_;
    };
    static constexpr int N = 37, threads = 128, team = 64, V = 1, steps = 7;
    DEV static int rows(const args &p) { return p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c)
    {
        const float r = load_one(p.r + row); // !6:49
        c.r = r;
        const float t = load_one(p.t + (row / p.S)); // !6:71
        c.t = t;
    }
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> x = load_aligned<V>(p.x + row * 37ll + col); // !6:10
        vec<float, V> a5 = splat<V>(0.0f); // !12:5
        #pragma unroll
        for (int i = 0; i < V; i++) a5[i] = tf_chain3_a5(x[i]); // !12:5
        vec<float, V> b3 = splat<V>(0.0f); // !19:5
        #pragma unroll
        for (int i = 0; i < V; i++) b3[i] = tf_chain4_b3(x[i]); // !19:5
        const vec<float, V> z = load_aligned<V>(p.z + (row % p.S) * 37ll + col); // !6:24
        const vec<float, V> u = load_aligned<V>(p.u + (row / p.S) * 37ll + col); // !6:35
        const vec<float, V> c_ = load_aligned<V>(p.c_ + col); // !6:63
        return {a5, b3, x, z, u, c_};
    }
    static constexpr reduction kind(step<0>) { return reduction::sum; } // !33:5
    template <int V> DEV static vec<float, V> term(step<0>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return op_square(e.a5); // !33:5
    }
    DEV static void reduced(step<0>, const args &p, context &c, int row, float total)
    {
        c.d5 = total;
    }
    static constexpr reduction kind(step<1>) { return reduction::sum; } // !30:5
    template <int V> DEV static vec<float, V> term(step<1>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.b3; // !30:5
    }
    DEV static void reduced(step<1>, const args &p, context &c, int row, float total)
    {
        c.d2_s = total;
    }
    static constexpr reduction kind(step<2>) { return reduction::min; } // !32:5
    template <int V> DEV static vec<float, V> term(step<2>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !32:5
    }
    DEV static void reduced(step<2>, const args &p, context &c, int row, float total)
    {
        c.d4 = total;
    }
    static constexpr reduction kind(step<3>) { return reduction::max; } // !31:5
    template <int V> DEV static vec<float, V> term(step<3>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        return e.a5; // !31:5
    }
    DEV static void reduced(step<3>, const args &p, context &c, int row, float total)
    {
        c.d3 = total;
    }
    static constexpr reduction kind(step<4>) { return reduction::sum; } // !29:5
    template <int V> DEV static vec<float, V> term(step<4>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        vec<float, V> c7 = splat<V>(0.0f); // !28:5
        #pragma unroll
        for (int i = 0; i < V; i++) c7[i] = tf_chain1_c7(e.x[i], e.z[i], e.u[i], c.r, e.c_[i], c.t); // !28:5
        return c7; // !29:5
    }
    DEV static void reduced(step<4>, const args &p, context &c, int row, float total)
    {
        const float d2 = op_div(c.d2_s, 37.0f); // !30:5
        const float e1 = op_add(total, d2); // !34:5
        const float e2 = op_add(c.d3, c.d4); // !35:5
        const float e3 = op_add(e1, e2); // !36:5
        const float e4 = op_add(e3, c.d5); // !37:5
        c.e4 = e4;
    }
    static constexpr reduction kind(step<5>) { return reduction::max; } // !39:5
    template <int V> DEV static vec<float, V> term(step<5>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        vec<float, V> e5 = splat<V>(0.0f); // !38:5
        #pragma unroll
        for (int i = 0; i < V; i++) e5[i] = tf_chain5_e5(e.x[i], e.z[i], e.u[i], c.r, e.c_[i], c.t, c.e4); // !38:5
        return e5; // !39:5
    }
    DEV static void reduced(step<5>, const args &p, context &c, int row, float total)
    {
        const float f_f = op_finite(total); // !39:5
        c.f_f = f_f;
    }
    static constexpr reduction kind(step<6>) { return reduction::sum; } // !39:5
    template <int V> DEV static vec<float, V> term(step<6>, const args &p, const context &c, const element<V> &e, int row, int col)
    {
        vec<float, V> f_e = splat<V>(0.0f); // !39:5
        #pragma unroll
        for (int i = 0; i < V; i++) f_e[i] = tf_chain6_f_e(e.x[i], e.z[i], e.u[i], c.r, e.c_[i], c.t, c.e4, c.f_f); // !39:5
        return f_e; // !39:5
    }
    DEV static void reduced(step<6>, const args &p, context &c, int row, float total)
    {
        c.f_s = total;
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        vec<float, V> f = splat<V>(0.0f); // !39:5
        #pragma unroll
        for (int i = 0; i < V; i++) f[i] = tf_chain7_f(e.x[i], e.z[i], e.u[i], c.r, e.c_[i], c.t, c.e4, c.f_f, c.f_s); // !39:5
        store_aligned<V>(p.f + row * 37ll + col, f); // !39:5
    }
    DEV static void write_row(const args &p, const context &c, int row)
    {
        store_one(p.e4 + row, c.e4); // !37:5
    }
};
TF_LAYOUT(k0_f::args, r, 0);
TF_LAYOUT(k0_f::args, t, 8);
TF_LAYOUT(k0_f::args, x, 16);
TF_LAYOUT(k0_f::args, z, 24);
TF_LAYOUT(k0_f::args, u, 32);
TF_LAYOUT(k0_f::args, c_, 40);
TF_LAYOUT(k0_f::args, f, 48);
TF_LAYOUT(k0_f::args, e4, 56);
TF_LAYOUT(k0_f::args, B, 64);
TF_LAYOUT(k0_f::args, S, 68);
static_assert(sizeof(k0_f::args) == 72, "size of args");

