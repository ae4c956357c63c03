// Written by tfgen: odd_rows_flat_rows of tests/specs/odd-rows.yaml for hopper; read it beside templates/gemm/align.h.
// Kernel k0_align, phase flat_rows:
//   pro  %flat           bf16[2*S,37] in %x+0/37 = reshape %x                                   !10:5
//   body %flat.rows      bf16[2*S,37]/40     = align %flat                                      !11:5
struct k0_align_flat_rows {
    struct args {
        const bf16 *x;
        bf16 *flat_rows;
        int S;
    };
    static constexpr int N = 37, stride = 40, threads = 256, each = 4;
    using type = bf16;
    DEV static int rows(const args &p) { return 2 * p.S; }
    DEV static const type *from(const args &p, int row) { return p.x + row * 37ll; } // !11:5
    DEV static type *to(const args &p, int row) { return p.flat_rows + row * 40ll; } // !11:5
};
TF_LAYOUT(k0_align_flat_rows::args, x, 0);
TF_LAYOUT(k0_align_flat_rows::args, flat_rows, 8);
TF_LAYOUT(k0_align_flat_rows::args, S, 16);
static_assert(sizeof(k0_align_flat_rows::args) == 24, "size of args");
