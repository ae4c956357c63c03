// Written by tfgen: elementwise_power of specs/elementwise.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase power:
//   body %aa             bf16[B,S,256]       = square %a                                        !16:5
//   body %bb             bf16[B,S,256]       = mul %b, %b                                       !17:5
//   body %sum            bf16[B,S,256]       = add %aa, %bb                                     !18:5
//   body %r              bf16[B,S,256]       = sqrt %sum                                        !19:5
//   body %sine           bf16[B,S,256]       = sin %r                                           !20:5
//   body %cosine         bf16[B,S,256]       = cos %r                                           !21:5
//   body %power          bf16[B,S,256]       = exp %r                                           !22:5
struct elementwise_power_spec {
    struct args {
        const bf16 *a_;
        const bf16 *b_;
        bf16 *r_;
        bf16 *sine_;
        bf16 *cosine_;
        bf16 *power_;
        int B_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> r_, sine_, cosine_, power_;
    };
    static constexpr int N = 256, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> a_ = load_aligned<V>(p.a_ + row * 256ll + col); // !14:10
        const vec<float, V> aa_ = op_square(a_); // !16:5
        const vec<float, V> b_ = load_aligned<V>(p.b_ + row * 256ll + col); // !14:24
        const vec<float, V> bb_ = op_mul(b_, b_); // !17:5
        const vec<float, V> sum_ = op_add(aa_, bb_); // !18:5
        const vec<float, V> r_ = op_cast<bf16>(op_sqrt(sum_)); // !19:5
        const vec<float, V> sine_ = op_sin(r_); // !20:5
        const vec<float, V> cosine_ = op_cos(r_); // !21:5
        const vec<float, V> power_ = op_exp(r_); // !22:5
        return {r_, sine_, cosine_, power_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.r_ + row * 256ll + col, e.r_); // !19:5
        store_aligned<V>(p.sine_ + row * 256ll + col, e.sine_); // !20:5
        store_aligned<V>(p.cosine_ + row * 256ll + col, e.cosine_); // !21:5
        store_aligned<V>(p.power_ + row * 256ll + col, e.power_); // !22:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(elementwise_power_spec::args, a_, 0);
TF_LAYOUT(elementwise_power_spec::args, b_, 8);
TF_LAYOUT(elementwise_power_spec::args, r_, 16);
TF_LAYOUT(elementwise_power_spec::args, sine_, 24);
TF_LAYOUT(elementwise_power_spec::args, cosine_, 32);
TF_LAYOUT(elementwise_power_spec::args, power_, 40);
TF_LAYOUT(elementwise_power_spec::args, B_, 48);
TF_LAYOUT(elementwise_power_spec::args, S_, 52);
static_assert(sizeof(elementwise_power_spec::args) == 56, "size of args");
