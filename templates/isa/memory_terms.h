// In: pieces of a packed weight in f16, bf16 or f32 in shared memory, rows of A in another 16-bit dtype in memory. Out: operands as
// isa/pieces_in_memory.h has them, for the products of isa/mma_terms.h. ldmatrix hands a lane pairs of 16-bit elements; of f32 it hands
// single ones: elements t, 4 + t, 8 + t and 12 + t of a column, where t is the lane modulo 4.
#pragma once
#include "templates/isa/mma_terms.h"
#include "templates/isa/pieces_in_memory.h"

#if defined(TF_ON_HOST)
template <class A> struct piece_in_memory<float, A> : piece_of_weights<float> {
    DEV unsigned bits() const { return 0; }
    DEV void load(const char *piece, unsigned)
    {
        tf_hs_stands_in();
        const float *at = reinterpret_cast<const float *>(piece);
        for (int h = 0; h < 2; h++) tf_hs_says(at + h * 128 + thread_index() % 32 * 4, 16, HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 16; k++) this->x[h][k] = at[h * 128 + k / 4 * 32 + thread_index() % 32 / 4 * 4 + k % 4];
    }
};
#else
template <class A> struct piece_in_order<beside<A, float>> : piece_of_rows<beside<A, float>> {
    using place = const char *; // of the lane's first element
    DEV static place at(const char *rows, unsigned lane, int first, int pitch, int held)
    {
        const int row = first + lane / 4;
        return rows + (row < held ? row : held - 1) * pitch + lane % 4 * 2;
    }
    DEV void load(place from, int offset)
    {
        unsigned x[4];
#pragma unroll
        for (int i = 0; i < 4; i++) x[i] = element_of(reinterpret_cast<const unsigned short *>(from + offset) + i * 4);
#pragma unroll
        for (int i = 0; i < 2; i++) this->x.word[i] = x[2 * i] | x[2 * i + 1] << 16;
    }
};
#endif
