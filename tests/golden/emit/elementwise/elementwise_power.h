// Written by tfgen: elementwise_power of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase power:
//   body %aa             bf16[B,S,256]       = square %a                                        !16:5
//   body %bb             bf16[B,S,256]       = mul %b, %b                                       !17:5
//   body %sum            bf16[B,S,256]       = add %aa, %bb                                     !18:5
//   body %r              bf16[B,S,256]       = sqrt %sum                                        !19:5
//   body %sine           bf16[B,S,256]       = sin %r                                           !20:5
//   body %cosine         bf16[B,S,256]       = cos %r                                           !21:5
//   body %power          bf16[B,S,256]       = exp %r                                           !22:5
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
    DEV static void begin(const args &p, int row, context &c) {}
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
    DEV static void write_row(const args &p, const context &c, int row) {}
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
