// In: pieces of a packed weight in f16, bf16 or f32 in shared memory, rows of A in another 16-bit dtype in memory. Out: operands as
// isa/pieces_in_memory.h has them, for the products of isa/mma_terms.h. ldmatrix hands a lane pairs of 16-bit elements; of f32 it hands
// single ones: elements t, 4 + t, 8 + t and 12 + t of a column, where t is the lane modulo 4.
#pragma once
#include "templates/isa/mma_terms.h"
#include "templates/isa/pieces_in_memory.h"

#if defined(TF_ON_HOST)
template <> struct piece_in_memory<float> : piece_of_weights<float> {
    DEV unsigned bits() const { return 0; }
    DEV void load(const char *piece)
    {
        tf_hs_stands_in();
        const float *at = reinterpret_cast<const float *>(piece);
        for (int h = 0; h < 2; h++) tf_hs_says(at + h * 128 + thread_index() % 32 * 4, 16, HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 16; k++) x[h][k] = at[h * 128 + k / 4 * 32 + thread_index() % 32 / 4 * 4 + k % 4];
    }
};
#else
template <class A> struct piece_in_order<beside<A, float>> : piece_of_rows<beside<A, float>> {
    using place = const unsigned short *; // of the lane's first element
    DEV static place at(const beside<A, float> *row, int first, long long stride, int rows)
    {
        const int in = first + thread_index() % 32 / 4;
        return reinterpret_cast<place>(row + (in < rows ? in : rows - 1) * stride + thread_index() % 4);
    }
    // Elements from k on; `left` of them exist.
    DEV void load(place from, int k, int left)
    {
        unsigned x[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] = 0;
            if (left >= 16 || i * 4 + thread_index() % 4 < left) x[i] = element_of(from + k + i * 4);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) this->x.word[i] = x[2 * i] | x[2 * i + 1] << 16;
    }
};
#endif
