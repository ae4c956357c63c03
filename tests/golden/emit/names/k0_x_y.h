// Written by tfgen: k0_x_y of tests/specs/names.yaml for host; read it beside templates/rows/rows.h.
// Kernel k0, phase x__y:
//   body %c              bf16[int,S,16]      = add %load, %p                                    !9:5
//   body %template       bf16[int,S,16]      = mul %c, %V                                       !10:5
//   body %row            bf16[int,S,16]      = add %template, %op_add                           !11:5
//   body %e              bf16[int,S,16]      = add %row, %vec                                   !12:5
//   body %_x             bf16[int,S,16]      = add %e, %linux                                   !13:5
//   body %x__y           bf16[int,S,16]      = add %_x, %S_                                     !14:5
struct k0_x_y_spec {
    struct args {
        const bf16 *load_;
        const bf16 *p_;
        const bf16 *V_;
        const bf16 *op_add_;
        const bf16 *vec_;
        const bf16 *linux_;
        const bf16 *S_2_;
        bf16 *c_;
        bf16 *x_y_;
        int int_, S_;
    };
    struct context {};
    template <int V> struct element {
        vec<float, V> c_, x_y_;
    };
    static constexpr int N = 16, threads = 1, team = 1, V = 16, passes = 0;
    DEV static int rows(const args &p) { return p.int_ * p.S_; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> load_ = load_aligned<V>(p.load_ + row * 16ll + col); // !6:10
        const vec<float, V> p_ = load_aligned<V>(p.p_ + row * 16ll + col); // !6:29
        const vec<float, V> c_ = op_cast<bf16>(op_add(load_, p_)); // !9:5
        const vec<float, V> V_ = load_aligned<V>(p.V_ + col); // !6:45
        const vec<float, V> template_ = op_mul(c_, V_); // !10:5
        const vec<float, V> op_add_ = load_aligned<V>(p.op_add_ + row * 16ll + col); // !6:53
        const vec<float, V> row_ = op_add(template_, op_add_); // !11:5
        const vec<float, V> vec_ = load_aligned<V>(p.vec_ + col); // !6:74
        const vec<float, V> e_ = op_add(row_, vec_); // !12:5
        const vec<float, V> linux_ = load_aligned<V>(p.linux_ + col); // !6:84
        const vec<float, V> x_x_ = op_add(e_, linux_); // !13:5
        const vec<float, V> S_2_ = load_aligned<V>(p.S_2_ + col); // !6:96
        const vec<float, V> x_y_ = op_add(x_x_, S_2_); // !14:5
        return {c_, x_y_};
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        store_aligned<V>(p.c_ + row * 16ll + col, e.c_); // !9:5
        store_aligned<V>(p.x_y_ + row * 16ll + col, e.x_y_); // !14:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k0_x_y_spec::args, load_, 0);
TF_LAYOUT(k0_x_y_spec::args, p_, 8);
TF_LAYOUT(k0_x_y_spec::args, V_, 16);
TF_LAYOUT(k0_x_y_spec::args, op_add_, 24);
TF_LAYOUT(k0_x_y_spec::args, vec_, 32);
TF_LAYOUT(k0_x_y_spec::args, linux_, 40);
TF_LAYOUT(k0_x_y_spec::args, S_2_, 48);
TF_LAYOUT(k0_x_y_spec::args, c_, 56);
TF_LAYOUT(k0_x_y_spec::args, x_y_, 64);
TF_LAYOUT(k0_x_y_spec::args, int_, 72);
TF_LAYOUT(k0_x_y_spec::args, S_, 76);
static_assert(sizeof(k0_x_y_spec::args) == 80, "size of args");
