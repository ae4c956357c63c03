// The products of isa/wave_pieces.h for operands of two dtypes: pieces of a packed weight in f16, bf16 or f32, and rows of A in another
// 16-bit dtype. After they are loaded, both operands become sums of bf16 terms (isa/term_pairs.h), and matrix instructions multiply each
// pair of terms. A lane has the same elements along K of a column and of a row.
#pragma once
#include "templates/isa/wave_pieces.h"
#include "templates/isa/term_pairs.h"

template <class A, class B> struct piece_of_rows<beside<A, B>> : piece_of_rows<A> {
    // If B is f32, a piece has 16 elements along K instead of 32, so a chunk has 4, and its words 2 and 3 are zero.
    DEV void load(const beside<A, B> *row, int first, long long stride, int rows, int left)
    {
        const A *from = reinterpret_cast<const A *>(row);
        if constexpr (sizeof(B) == 2) {
            piece_of_rows<A>::load(from, first, stride, rows, left);
        } else {
            const int line = piece_lanes::line(), in = first + line < rows ? first + line : rows - 1, last = (left - 1) / 8;
            const unsigned at = static_cast<unsigned>(in) * static_cast<unsigned>(stride * sizeof(A));
            const global_address base = scalar_of(from);
#pragma unroll
            for (int i = 0; i < piece_lanes::loads; i++) {
                // Two chunks are the 8 elements of A that are loaded together.
                const int own = piece_lanes::part() + i * piece_lanes::parts, both = own / 2 < last ? own / 2 : last;
                sixteen_bytes x = global_read(base + (at + both * 16));
                x = own % 2 ? sixteen_bytes{x[2], x[3], 0, 0} : sixteen_bytes{x[0], x[1], 0, 0};
                if (left < 16) cut_chunk(x, left - own * 4);
                this->chunk[i] = x;
            }
        }
    }
};
template <class A, class B, int Count> struct piece_squares<beside<A, B>, Count> : piece_squares<A, Count> {};

DEV void multiply_words(piece_results &r, sixteen_bytes w, sixteen_bytes a)
{
#if TF_WAVE == 32
    r.sum = matrix<bf16>::multiply(weights_operand<bf16>(w), weights_operand<bf16>(a), r.sum);
#else
    using operand = matrix<bf16>::operand;
    r.sum = matrix<bf16>::multiply(__builtin_bit_cast(operand, w), __builtin_bit_cast(operand, a), r.sum);
#endif
}

// A matrix instruction takes 4 words of each operand: one term of 8 elements, or two terms of 4 elements one after the other.
template <class A, class B> DEV void multiply(piece_results &r, const piece_of_weights<B> &w, const piece_of_rows<beside<A, B>> &a)
{
    constexpr int loads = piece_lanes::loads, words = 8 / sizeof(B); // words of one term of a chunk's elements
    unsigned of_w[loads][term_count<B>][words], of_a[loads][term_count<A>][words];
#pragma unroll
    for (int i = 0; i < loads; i++) {
        const unsigned in_w[4] = {w.chunk[i][0], w.chunk[i][1], w.chunk[i][2], w.chunk[i][3]};
        const unsigned in_a[4] = {a.chunk[i][0], a.chunk[i][1], a.chunk[i][2], a.chunk[i][3]};
        put_terms<B, 4>(in_w, of_w[i]);
        put_terms<A, words>(in_a, of_a[i]);
    }
    sixteen_bytes x = {0, 0, 0, 0}, y = {0, 0, 0, 0};
    int filled = 0;
    each_pair_of_terms<A, B>([&](int in_a, int in_b) {
#pragma unroll
        for (int i = 0; i < loads; i++)
#pragma unroll
            for (int k = 0; k < words; k++) {
                x[filled] = of_w[i][in_b][k], y[filled] = of_a[i][in_a][k];
                if (++filled < 4) continue;
                multiply_words(r, x, y);
                x = y = sixteen_bytes{0, 0, 0, 0};
                filled = 0;
            }
    });
    if (filled) multiply_words(r, x, y);
}
