// Written by tfgen: columns_h of tests/specs/columns.yaml for host; read it beside templates/rows/columns.h.
// Kernel k1, phase h:
//   body %h.r            bf16[B,1,S,72] in %h+0/72 = column_max %v axis=1                       !12:5
//   epi  %h              bf16[B,S,72]        = reshape %h.r                                     !12:5
struct columns_h_spec {
    struct args {
        const bf16 *v_;
        bf16 *h_;
        int B_, S_;
    };
    static constexpr int N = 72, terms = 43, threads = 1, lanes = 1, V = 16, parts = 1;
    using take = take_max; // !12:5
    DEV static int rows(const args &p) { return p.B_ * p.S_; }
    DEV static int apart(const args &p) { return p.S_; }
    template <int V> DEV static vec<float, V> term(const args &p, int row, int col, int left)
    {
        const vec<float, V> v_ = load<V>(p.v_ + row * 72ll + col, left); // !6:32
        return v_; // !12:5
    }
    template <int V> DEV static void write(const args &p, int row, int col, int left, vec<float, V> total)
    {
        store<V>(p.h_ + row * 72ll + col, left, total); // !12:5
    }
};
TF_LAYOUT(columns_h_spec::args, v_, 0);
TF_LAYOUT(columns_h_spec::args, h_, 8);
TF_LAYOUT(columns_h_spec::args, B_, 16);
TF_LAYOUT(columns_h_spec::args, S_, 20);
static_assert(sizeof(columns_h_spec::args) == 24, "size of args");
