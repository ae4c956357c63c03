// Operands for the products of isa/mma_pieces.h, from pieces of a packed weight (docs/packing.md) and rows of A, both in shared memory.
// Elements along K are not permuted here. ldmatrix reads a piece without bank conflicts, as each of its 8 x 8 matrices is 128 contiguous
// bytes, and rows, too, if their pitch is an odd number of 16-byte units.
#pragma once
#include "templates/isa/mma_pieces.h"

#if defined(TF_ON_HOST)
template <class T, class A> struct piece_in_memory : piece_of_weights<T> { // A: the type of the rows
    DEV unsigned bits() const { return 0; }
    DEV void load(const char *piece, unsigned)
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
        const char *rows;
        int first, pitch, held;
    };
    DEV static place at(const char *rows, unsigned, int first, int pitch, int held) { return {rows, first, pitch, held}; }
    DEV void load(const place &from, int offset)
    {
        piece_of_rows<T>::load(reinterpret_cast<const T *>(from.rows + offset), from.first, from.pitch / static_cast<int>(sizeof(T)),
                               from.held, 32);
    }
};
#else
template <class T> DEV void load_matrices(T &to, unsigned at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.word[0]), "=r"(to.word[1]), "=r"(to.word[2]), "=r"(to.word[3])
                 : "r"(at)
                 : "memory");
}
// A: the type of the rows.
template <class T, class A> struct piece_in_memory : piece_of_weights<T> {
    DEV unsigned bits() const { return this->half[0].word[0] | this->half[1].word[0]; } // of both loads (page_reader::give_back)
    DEV void load(const char *piece, unsigned lane)
    {
        const unsigned at = shared_at(piece) + lane * 16;
        load_matrices(this->half[0], at);
        load_matrices(this->half[1], at + 512);
    }
};
// Rows of the same type: a product takes a load's four matrices as they are, those of 16 columns and 16 elements along K.
template <class T> struct piece_in_memory<T, T> {
    chunk step[2];
    DEV unsigned bits() const { return step[0].word[0] | step[1].word[0]; }
    DEV void load(const char *piece, unsigned lane)
    {
        const unsigned at = shared_at(piece) + lane / 8 % 2 * 512 + lane / 16 * 128 + lane % 8 * 16;
        load_matrices(step[0], at);
        load_matrices(step[1], at + 256);
    }
};
template <class T> DEV void multiply(piece_results &r, const piece_in_memory<T, T> &w, const piece_of_rows<T> &a)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        mma_add(T(), r.sum, w.step[i].word[0], w.step[i].word[1], w.step[i].word[2], w.step[i].word[3], a.x.word[2 * i],
                a.x.word[2 * i + 1]);
}
template <class T> struct piece_in_order : piece_of_rows<T> {
    using place = unsigned; // of what the lane hands to ldmatrix
    // The first piece of 8 rows, from `first` on. Rows begin at `rows`, `pitch` bytes apart; `held` of them exist. Of a row that does not
    // exist, the last one is loaded; its results are never stored.
    DEV static place at(const char *rows, unsigned lane, int first, int pitch, int held)
    {
        const int row = first + lane % 8;
        return shared_at(rows) + (row < held ? row : held - 1) * pitch + lane / 8 * 16;
    }
    DEV void load(place from, int offset) // offset: bytes from the first piece to this one
    {
        load_matrices(this->x, from + offset);
    }
};
#endif
