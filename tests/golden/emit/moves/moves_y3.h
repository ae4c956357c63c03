// Written by tfgen: moves_y3 of tests/specs/moves.yaml for host; read it beside templates/rows/rows.h.
// Kernel k5, phase y3:
//   body %y3.ss          f32[B,S,3,1]        = row_sumsq %y2                                    !15:5
//   epi  %y3.ms          f32[B,S,3,1]        = div %y3.ss, 7                                    !15:5
//   epi  %y3.me          f32[B,S,3,1]        = add %y3.ms, 1e-05                                !15:5
//   epi  %y3.r           f32[B,S,3,1]        = rsqrt %y3.me                                     !15:5
//   epi  %y3.n           f32[B,S,3,7]        = mul %y2, %y3.r                                   !15:5
//   epi  %y3             bf16[B,S,3,7]       = mul %y3.n, %nw                                   !15:5
//   epi  %y4             bf16[B,S,21] in %y3+0/21 = reshape %y3                                 !16:5
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
    static constexpr int N = 7, threads = 1, team = 1, V = 16, steps = 1;
    DEV static int rows(const args &p) { return 3 * p.B * p.S; }
    DEV static void begin(const args &p, int row, context &c) {}
    template <int V> DEV static element<V> read(const args &p, int row, int col, int left)
    {
        const vec<float, V> y2 = load<V>(p.y1 + row * 7ll + col, left); // !14:5
        const vec<float, V> nw = load<V>(p.nw + col, left); // !7:25
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
        c.y3_r = y3_r; // !15:5
    }
    template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int row, int col, int left)
    {
        const vec<float, V> y3_n = op_mul(e.y2, c.y3_r); // !15:5
        const vec<float, V> y3 = op_mul(y3_n, e.nw); // !15:5
        store<V>(p.y3 + row * 7ll + col, left, y3); // !15:5
    }
    DEV static void write_row(const args &p, const context &c, int row) {}
};
TF_LAYOUT(k5_y3::args, y1, 0);
TF_LAYOUT(k5_y3::args, nw, 8);
TF_LAYOUT(k5_y3::args, y3, 16);
TF_LAYOUT(k5_y3::args, B, 24);
TF_LAYOUT(k5_y3::args, S, 28);
static_assert(sizeof(k5_y3::args) == 32, "size of args");
