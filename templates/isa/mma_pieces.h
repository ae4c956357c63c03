// Products of a piece of a packed weight (docs/packing.md) and 8 rows of A by m16n8k16, for 16-bit elements. Operands go from memory
// straight to registers. The 16 packed columns of a piece are the instruction's rows. Its 32 elements along K are permuted, so that a lane
// needs 16 adjacent bytes of a column or a row. On the host engine each lane computes its own results.
#pragma once
#include "templates/isa/nvidia.h"
#include "templates/isa/m16n8k16.h"

struct alignas(16) chunk { // 16 bytes of a packed column or of a row
    unsigned word[4];
};

// Keeps the first `left` elements of 2 bytes, and zeroes those beyond the row's end.
DEV void cut_chunk(chunk &c, int left)
{
#pragma unroll
    for (int i = 0; i < 4; i++) c.word[i] = left > 2 * i + 1 ? c.word[i] : left > 2 * i ? c.word[i] & 0xffffu : 0u;
}
// Elements k to k + 7 of a row's 32 elements for a piece, of which the first `left` exist; zeros if the row does not exist.
template <class T> DEV chunk chunk_of_row(const T *row, int k, bool exists, int left)
{
    chunk x = {};
    if (exists && k < left) x = element_of(reinterpret_cast<const chunk *>(row + k));
    if (left < 32) cut_chunk(x, left - k);
    return x;
}

// Returns x, but the compiler cannot know its value. Loads under a condition on it stay where they are written, between products; ptxas
// moves unconditional loads behind all products of an iteration.
DEV int opaque(int x)
{
#if !defined(TF_ON_HOST)
    asm volatile("" : "+r"(x));
#endif
    return x;
}

// The rows of A that a wave multiplies by a piece at a time, and the layout of the results in its lanes.
struct piece_results {
    static constexpr int rows = 8, columns = 16, count = 4;
    DEV static int row(int i) { return thread_index() % 4 * 2 + i % 2; }
    DEV static int column(int i) { return thread_index() % 32 / 4 + i / 2 * 8; }
    float sum[count];
    DEV void settle() {} // needed on AMD alone (isa/wave_pieces.h)
    // Stores the results to `sums`, which Places lays out, from this row and column on.
    template <class Places> DEV void put(float *sums, int row, int column) const
    {
#pragma unroll
        for (int e = 0; e < count; e++) sums[Places::at(row + piece_results::row(e), column + piece_results::column(e))] = sum[e];
    }
};

// Layout of sums of M rows by N columns in shared memory. A wave's store covers all banks.
template <int M, int N, bool Halves> struct piece_places {
    static constexpr int pitch = N + 4, floats = M * pitch;
    DEV static int at(int row, int column) { return row * pitch + column; }
    // How many sums the first `rows` rows have, and where the i-th of these lies.
    DEV static int count(int rows) { return rows * N; }
    DEV static int nth(int i) { return at(i / N, i % N); }
};

#if defined(TF_ON_HOST)

// A lane keeps only what its own results need: two columns of the piece and two rows of A.
template <class T> struct piece_of_weights {
    float x[2][32];
    DEV void load(const T *piece)
    {
        tf_hs_stands_in();
        for (int h = 0; h < 2; h++)
            tf_hs_says(piece + thread_index() % 4 * 64 + thread_index() % 32 / 4 * 8 + h * 256, 16, HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 32; k++) x[h][k] = to_float(piece[h * 256 + k / 8 * 64 + thread_index() % 32 / 4 * 8 + k % 8]);
    }
};
template <class T> struct piece_of_rows {
    float x[2][32];
    // Loads 8 rows, from `first` on. Rows begin at `row`, `stride` elements apart; `rows` of them exist, and `left` elements of each.
    DEV void load(const T *row, int first, long long stride, int rows, int left)
    {
        const int line = first + thread_index() % 32 / 4, at = thread_index() % 4 * 8;
        tf_hs_stands_in();
        if (line < rows && at < left) tf_hs_says(row + line * stride + at, 16, HS_CHECK_READ);
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 32; k += 8) {
                const int in = first + piece_results::row(h);
                const chunk own = chunk_of_row(row + in * stride, k, in < rows, left);
                T of[8];
                __builtin_memcpy(of, &own, sizeof of);
                for (int e = 0; e < 8; e++) x[h][k + e] = to_float(of[e]);
            }
    }
};
template <class T> DEV void multiply(piece_results &r, const piece_of_weights<T> &w, const piece_of_rows<T> &a)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 32; k++) r.sum[i] += w.x[i / 2][k] * a.x[i % 2][k];
}
template <class T> DEV void multiply_rows(piece_results &r, const piece_of_rows<T> &a)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 32 && piece_results::row(i) == piece_results::column(i); k++) r.sum[i] += a.x[i % 2][k] * a.x[i % 2][k];
}

#else

template <class T> struct piece_of_weights {
    chunk half[2]; // of columns lane / 4 and lane / 4 + 8
    // Volatile, so that the loads are issued here, before the wait for the previous launch.
    DEV void load(const T *piece)
    {
        const T *at = piece + thread_index() % 4 * 64 + thread_index() % 32 / 4 * 8;
#pragma unroll
        for (int h = 0; h < 2; h++)
            asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(half[h].word[0]), "=r"(half[h].word[1]), "=r"(half[h].word[2]), "=r"(half[h].word[3])
                         : "l"(at + h * 256));
    }
};
template <class T> struct piece_of_rows {
    chunk x;
    DEV void load(const T *row, int first, long long stride, int rows, int left)
    {
        const int in = first + thread_index() % 32 / 4;
        x = chunk_of_row(row + in * stride, thread_index() % 4 * 8, in < rows, left);
    }
};

template <class T> DEV void multiply(piece_results &r, const piece_of_weights<T> &w, const piece_of_rows<T> &a)
{
#pragma unroll
    for (int i = 0; i < 4; i += 2)
        mma_add(T(), r.sum, w.half[0].word[i], w.half[1].word[i], w.half[0].word[i + 1], w.half[1].word[i + 1], a.x.word[i],
                a.x.word[i + 1]);
}
// Multiplies rows by rows, which works since a lane has the same part of a row as of a column.
template <class T> DEV void multiply_rows(piece_results &r, const piece_of_rows<T> &a)
{
    piece_of_weights<T> columns = {};
    columns.half[0] = a.x;
    multiply(r, columns, a);
}
#endif

// Sums of squares of rows, over up to Count pieces: the diagonal of the rows' products with each other. Tensor cores truncate, which makes
// sums of squares too small, so sums are blocked, with at most 256 products in a chain.
template <class T, int Count> struct piece_squares {
    static constexpr int folded = Count > 128 ? static_cast<int>(root_up(Count, 2)) : Count;
    piece_results now = {}, all = {};
    int count = 0;
    DEV void join(const piece_of_rows<T> &a)
    {
        multiply_rows(now, a);
        if (folded == Count || ++count < folded) return;
        fold();
        count = 0;
    }
    DEV void fold()
    {
#pragma unroll
        for (int i = 0; i < piece_results::count; i++) {
            all.sum[i] += now.sum[i];
            now.sum[i] = 0;
        }
    }
    // Stores a sum for each row, the first row's to `sums`.
    DEV void put(float *sums)
    {
        if constexpr (folded < Count) fold();
#pragma unroll
        for (int i = 0; i < piece_results::count; i++)
            if (piece_results::row(i) == piece_results::column(i)) sums[piece_results::row(i)] = folded < Count ? all.sum[i] : now.sum[i];
    }
};
