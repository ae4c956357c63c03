// Operands for the products of isa/mma_pieces.h, from pieces of a packed weight (docs/packing.md) in shared memory and rows of A in global
// memory. Here elements along K are not permuted. ldmatrix reads a piece without bank conflicts, as each of its 8 x 8 matrices is 128
// contiguous bytes; of a row, a lane loads its pairs of elements one by one.
#pragma once
#include "templates/isa/mma_pieces.h"

#if defined(TF_ON_HOST)
template <class T> struct piece_in_memory : piece_of_weights<T> {
    DEV unsigned bits() const { return 0; }
    DEV void load(const char *piece)
    {
        tf_hs_stands_in();
        const T *at = reinterpret_cast<const T *>(piece);
        for (int h = 0; h < 2; h++) tf_hs_says(at + h * 256 + thread_index() % 32 * 8, 16, HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 32; k++) this->x[h][k] = to_float(at[h * 256 + k / 8 * 64 + thread_index() % 32 / 4 * 8 + k % 8]);
    }
};
template <class T> struct piece_in_order : piece_of_rows<T> {
    struct place {
        const T *row;
        int first;
        long long stride;
        int rows;
    };
    DEV static place at(const T *row, int first, long long stride, int rows) { return {row, first, stride, rows}; }
    DEV void load(const place &from, int k, int left) { piece_of_rows<T>::load(from.row + k, from.first, from.stride, from.rows, left); }
};
#else
template <class T> struct piece_in_memory : piece_of_weights<T> {
    DEV unsigned bits() const { return this->half[0].word[0] | this->half[1].word[0]; } // of both loads (page_reader::release)
    DEV void load(const char *piece)
    {
        const unsigned at = shared_at(piece) + thread_index() % 32 * 16;
#pragma unroll
        for (int h = 0; h < 2; h++)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(this->half[h].word[0]), "=r"(this->half[h].word[1]), "=r"(this->half[h].word[2]),
                           "=r"(this->half[h].word[3])
                         : "r"(at + h * 512)
                         : "memory");
    }
};
template <class T> struct piece_in_order : piece_of_rows<T> {
    using place = const T *; // of the lane's first pair of elements
    // The lane's row, counted from `first`. Rows begin at `row`, `stride` elements apart; `rows` of them exist. A lane whose row does not
    // exist reads the last one, and its results are never stored, so no load needs a condition.
    DEV static place at(const T *row, int first, long long stride, int rows)
    {
        const int in = first + thread_index() % 32 / 4;
        return row + (in < rows ? in : rows - 1) * stride + thread_index() % 4 * 2;
    }
    // Elements from k on; `left` of them exist.
    DEV void load(place from, int k, int left)
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int first = i * 8 + thread_index() % 4 * 2;
            unsigned pair = 0;
            if (left >= 32 || first < left) pair = element_of(reinterpret_cast<const unsigned *>(from + k + i * 8));
            this->x.word[i] = left > first + 1 ? pair : pair & 0xffffu;
        }
    }
};
#endif
