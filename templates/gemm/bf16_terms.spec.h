// Written by tfgen: rows_in_terms_x_bf16 of tests/specs/rows-in-terms.yaml for ampere; read it beside templates/gemm/bf16_terms.h.
// Kernel k0_bf16, phase x_bf16:
//   body %x.bf16         bf16[M,148]/384     = bf16_terms %x                                    !9:5
struct rows_in_terms_x_bf16_spec {
    struct args {
        const f16 *x_;
        bf16 *x_bf16_;
        int M_;
    };
    static constexpr int K = 148, terms = 2, stride = 384, threads = 256, each = 2;
    static constexpr bool whole = false;
    DEV static int rows(const args &p) { return p.M_; }
    DEV static const f16 *from(const args &p, int row) { return p.x_ + row * 148ll; } // !9:5
    DEV static bf16 *to(const args &p, int row) { return p.x_bf16_ + row * 384ll; } // !9:5
};
TF_LAYOUT(rows_in_terms_x_bf16_spec::args, x_, 0);
TF_LAYOUT(rows_in_terms_x_bf16_spec::args, x_bf16_, 8);
TF_LAYOUT(rows_in_terms_x_bf16_spec::args, M_, 16);
static_assert(sizeof(rows_in_terms_x_bf16_spec::args) == 24, "size of args");
