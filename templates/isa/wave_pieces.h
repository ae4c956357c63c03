// Products of a piece of a packed weight (docs/packing.md) and 16 rows of A on AMD's matrix units, for 16-bit elements, with the same names
// as isa/mma_pieces.h. Operands go from memory straight to registers. The 16 packed columns of a piece are the instruction's first operand
// and rows of A the second, so a lane has results of adjacent columns of one row. Needs isa/mfma.h, or isa/wmma.h and isa/wmma_wide.h.
#pragma once
#include "templates/isa/amd.h"

// Keeps the first `left` elements of 2 bytes of a 16-byte chunk, and zeroes those beyond the row's end.
DEV void cut_chunk(sixteen_bytes &c, int left)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned word = c[i];
        c[i] = left > 2 * i + 1 ? word : left > 2 * i ? word & 0xffffu : 0u;
    }
}

// Which 16-byte chunks of a piece a lane loads: part(), part() + parts, ... of one packed column, and the same chunks of a row of A. So
// sums over k are right, only in another order.
struct piece_lanes {
    static constexpr int parts = TF_WAVE / 16, loads = 4 / parts;
    DEV static int line() { return thread_index() % 16; }
    DEV static int part() { return thread_index() % TF_WAVE / 16; }
#if TF_WAVE == 32
    DEV static int column() { return wide::line_read(line()); }
#else
    DEV static int column() { return line(); }
#endif
};

DEV int opaque(int x) { return x; } // unlike isa/mma_pieces.h, it hides nothing: here settle() keeps loads where they are written

// The rows of A that a wave multiplies by a piece at a time, and the layout of the results: a lane has adjacent columns of one row.
struct piece_results {
    static constexpr int rows = 16, columns = 16, count = 256 / TF_WAVE;
    DEV static int row(int) { return piece_lanes::line(); }
    DEV static int column(int i) { return piece_lanes::part() * count + i; }
    accumulator sum;
    // Has the results complete here. Otherwise the compiler defers the products until all loads in flight have arrived, and needs registers
    // for the next pieces as well.
    DEV void settle()
    {
#if defined(__gfx908__) // accumulation registers are separate
        asm volatile("" : "+a"(sum));
#elif !defined(TF_ON_HOST)
        asm volatile("" : "+v"(sum));
#endif
    }
    // Stores the results to `sums`, which Places lays out, from this row and column on.
    template <class Places> DEV void put(float *sums, int row, int column) const
    {
#pragma unroll
        for (int e = 0; e < count; e += 4) {
            const vec<float, 4> neighbours = {sum[e], sum[e + 1], sum[e + 2], sum[e + 3]};
            store_aligned<4>(sums + Places::at(row + piece_lanes::line(), column + piece_results::column(e)), neighbours);
        }
    }
};

// Layout of sums of M rows by N columns in LDS. A line of 32 floats has 16 columns of two rows, in groups of 4 floats, which are permuted.
// So there are no bank conflicts when lanes store 16 rows together, nor when they read groups of 4. Halves: adjacent readers read adjacent
// groups of 16 columns; otherwise, every other group.
template <int M, int N, bool Halves> struct piece_places {
    static constexpr int floats = M * N;
    DEV static int at(int row, int column)
    {
        const int group = column / 16, in = row ^ (Halves ? group : group / 2) % 2 * 3;
        return (group * (M / 2) + in / 2) * 32 + (in % 2 * 4 + (column / 4 % 4 ^ in / 2 % 4)) * 4 + column % 4;
    }
    // As in isa/mma_pieces.h, but for all rows, since rows are interleaved.
    DEV static int count(int) { return floats; }
    DEV static int nth(int i) { return i; }
};

template <class T> struct piece_of_weights {
    sixteen_bytes chunk[piece_lanes::loads];
    DEV void load(const T *piece)
    {
        const unsigned column = piece_lanes::column(), at = column / 8 * 512 + piece_lanes::part() * 128 + column % 8 * 16;
        const global_address from = scalar_of(piece);
#pragma unroll
        for (int i = 0; i < piece_lanes::loads; i++) chunk[i] = global_read(from + (at + i * piece_lanes::parts * 128));
    }
};

template <class T> struct piece_of_rows {
    sixteen_bytes chunk[piece_lanes::loads];
    // Loads 16 rows, from `first` on. Rows begin at `row`, `stride` elements apart; `rows` of them exist, and `left` elements of each. In
    // place of rows that do not exist the last one is loaded again; its results are not stored.
    DEV void load(const T *row, int first, long long stride, int rows, int left)
    {
        const int in = first + piece_lanes::line() < rows ? first + piece_lanes::line() : rows - 1, part = piece_lanes::part();
        const global_address from = scalar_of(row);
        const unsigned line = static_cast<unsigned>(in) * static_cast<unsigned>(stride * sizeof(T));
#pragma unroll
        for (int i = 0; i < piece_lanes::loads; i++) {
            const int own = part + i * piece_lanes::parts, last = (left - 1) / 8, at = left < 32 && own > last ? last : own;
            chunk[i] = global_read(from + (line + at * 16));
            if (left < 32) cut_chunk(chunk[i], left - own * 8);
        }
    }
};

template <class T> DEV void multiply(piece_results &r, const piece_of_weights<T> &w, const piece_of_rows<T> &a)
{
#pragma unroll
    for (int i = 0; i < piece_lanes::loads; i++) {
#if TF_WAVE == 32
        r.sum = matrix<T>::multiply(weights_operand<T>(w.chunk[i]), weights_operand<T>(a.chunk[i]), r.sum);
#else
        using operand = typename matrix<T>::operand;
        r.sum = matrix<T>::multiply(__builtin_bit_cast(operand, w.chunk[i]), __builtin_bit_cast(operand, a.chunk[i]), r.sum);
#endif
    }
}

// Sums of squares of rows, over up to Count pieces. They are blocked, with at most 256 terms in a chain.
template <class T, int Count> struct piece_squares {
    static constexpr int levels = sum_levels(Count, 256);
    running<take_sum, 1, levels, static_cast<int>(root_up(Count, levels))> own;
    DEV void join(const piece_of_rows<T> &a)
    {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < piece_lanes::loads; i++) {
            const neighbours<T, 8> raw = __builtin_bit_cast(neighbours<T, 8>, a.chunk[i]);
            vec<float, 8> v;
#pragma unroll
            for (int e = 0; e < 8; e++) v[e] = to_float(raw.e[e]) * to_float(raw.e[e]);
            sum += tree_join<take_sum>(v);
        }
        own.join(splat<1>(sum));
    }
    // Stores a sum for each row, the first row's to `sums`.
    DEV void put(float *sums)
    {
        float sum = own.total()[0];
#pragma unroll
        for (int mask = 16; mask < TF_WAVE; mask *= 2) sum += lane_xor<TF_WAVE>(sum, mask);
        if (piece_lanes::part() == 0) sums[piece_lanes::line()] = sum;
    }
};
