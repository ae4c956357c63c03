// Written by tfgen: odd_rows_flat_rows of tests/specs/odd-rows.yaml for hopper; read it beside templates/gemm/align.h.
// Kernel k0_align, phase flat_rows:
//   pro  %flat           bf16[2*S,37] in %x+0/37 = reshape %x                                   !10:5
//   body %flat.rows      bf16[2*S,37]/40     = align %flat                                      !11:5
//   epi  %x.rows         bf16[2,S,37] in %flat.rows+0/40 = reshape %flat.rows                   !12:5
struct odd_rows_flat_rows_spec {
    struct args {
        const bf16 *x_;
        bf16 *flat_rows_;
        int S_;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    static constexpr bool across = false;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S_; }
    DEV static const type *from(const args &p, int row) { return p.x_ + row * 37ll; } // !11:5
    DEV static type *to(const args &p, int row) { return p.flat_rows_ + row * 40ll; } // !11:5
};
TF_LAYOUT(odd_rows_flat_rows_spec::args, x_, 0);
TF_LAYOUT(odd_rows_flat_rows_spec::args, flat_rows_, 8);
TF_LAYOUT(odd_rows_flat_rows_spec::args, S_, 16);
static_assert(sizeof(odd_rows_flat_rows_spec::args) == 24, "size of args");
