// The products of isa/mma_pieces.h for operands of two dtypes: pieces of a packed weight in f16, bf16 or f32, and rows of A in another
// 16-bit dtype. After they are loaded, both operands become sums of bf16 terms (isa/term_pairs.h), and m16n8k16 multiplies each pair of
// terms. A lane has the same elements along K of a column and of a row: 8 adjacent ones or, for a weight in f32, whose pieces are half as
// long, 4.
#pragma once
#include "templates/isa/mma_pieces.h"
#include "templates/isa/term_pairs.h"

#if defined(TF_ON_HOST)

template <> struct piece_of_weights<float> {
    float x[2][16];
    DEV void load(const float *piece)
    {
        const int column = thread_index() % 32 / 4;
        tf_hs_stands_in();
        for (int h = 0; h < 2; h++) tf_hs_says(piece + thread_index() % 4 * 32 + column * 4 + h * 128, 16, HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 16; k++) x[h][k] = piece[h * 128 + k / 4 * 32 + column * 4 + k % 4];
    }
};
template <class A, class B> struct piece_of_rows<beside<A, B>> {
    static constexpr int length = 64 / sizeof(B), run = length / 4; // elements along K: of a piece; of a lane
    float x[2][length];
    DEV void load(const beside<A, B> *row, int first, long long stride, int rows, int left)
    {
        const int line = first + thread_index() % 32 / 4, at = thread_index() % 4 * run;
        tf_hs_stands_in();
        if (line < rows && at < left) tf_hs_says(row + line * stride + at, run * sizeof(A), HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < length; k++) {
                const int in = first + piece_results::row(h);
                x[h][k] = in < rows && k < left ? to_float(row[in * stride + k].value) : 0;
            }
    }
};
template <class A, class B> DEV void multiply(piece_results &r, const piece_of_weights<B> &w, const piece_of_rows<beside<A, B>> &a)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 64 / static_cast<int>(sizeof(B)); k++) {
            const auto term = [](float x, int count, int index) {
                const unsigned some = nonzero(x);
                for (int t = count - 1; t > index; t--) take_bf16(x, some);
                return index ? bits_float(take_bf16(x, some) & 0xffff0000u) : x;
            };
            each_pair_of_terms<A, B>([&](int of_a, int of_b) {
                r.sum[i] += term(w.x[i / 2][k], term_count<B>, of_b) * term(a.x[i % 2][k], term_count<A>, of_a);
            });
        }
}
template <class A, class B> DEV void multiply_rows(piece_results &r, const piece_of_rows<beside<A, B>> &a)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 64 / static_cast<int>(sizeof(B)) && piece_results::row(i) == piece_results::column(i); k++)
            r.sum[i] += a.x[i % 2][k] * a.x[i % 2][k];
}

#else

template <> struct piece_of_weights<float> {
    chunk half[2];
    DEV void load(const float *piece)
    {
        piece_of_weights<bf16> same;
        same.load(reinterpret_cast<const bf16 *>(piece));
        half[0] = same.half[0], half[1] = same.half[1];
    }
};
template <class A, class B> struct piece_of_rows<beside<A, B>> {
    static constexpr int length = 64 / sizeof(B), run = length / 4, words = run / 2; // elements of a piece; a lane's elements and words
    struct alignas(2 * run) part {
        unsigned word[words];
    };
    part x;
    DEV void load(const beside<A, B> *row, int first, long long stride, int rows, int left)
    {
        const int in = first + thread_index() % 32 / 4, k = thread_index() % 4 * run;
        x = {};
        if (in < rows && k < left) x = element_of(reinterpret_cast<const part *>(row + in * stride + k));
        if (left >= length) return;
#pragma unroll
        for (int i = 0; i < words; i++) {
            const int some = left - k - 2 * i;
            x.word[i] = some > 1 ? x.word[i] : some > 0 ? x.word[i] & 0xffffu : 0u;
        }
    }
};
template <class A, class B> DEV void multiply(piece_results &r, const piece_of_weights<B> &w, const piece_of_rows<beside<A, B>> &a)
{
    constexpr int words = piece_of_rows<beside<A, B>>::words;
    unsigned low[term_count<B>][words], high[term_count<B>][words], row[term_count<A>][words];
    put_terms<B, 4>(w.half[0].word, low);
    put_terms<B, 4>(w.half[1].word, high);
    put_terms<A, words>(a.x.word, row);
    each_pair_of_terms<A, B>([&](int of_a, int of_b) {
#pragma unroll
        for (int i = 0; i < words; i += 2)
            mma_add(bf16(), r.sum, low[of_b][i], high[of_b][i], low[of_b][i + 1], high[of_b][i + 1], row[of_a][i], row[of_a][i + 1]);
    });
}
template <class A, class B> DEV void multiply_rows(piece_results &r, const piece_of_rows<beside<A, B>> &a)
{
#pragma unroll
    for (int i = 0; i < a.words; i += 2) mma_add(A(), r.sum, a.x.word[i], 0, a.x.word[i + 1], 0, a.x.word[i], a.x.word[i + 1]);
}
#endif
