// In: one spec struct S of an align phase (docs/spec-structs.md: align). Out: the program that copies rows so that each begins at a
// multiple of 16 bytes, with zeros after its N elements. A thread has S::each pieces of 16 bytes in flight, and extracts each from the two
// aligned 16-byte words that contain it. If S::across, the copy is the transpose of the operand's matrices: a workgroup transposes 64 rows
// of 32 * S::each columns in shared memory. Refuses (static_assert) row strides of the copy that are no multiple of 16 bytes.
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/base/spec.h"

template <class S, bool across = S::across> struct align : without_k_loop {
    using args = typename S::args;
    using type = typename S::type;
    using in_list = mixed_in_list;
    struct tile {
        int row, piece; // of the first piece
    };
    struct scratch {
    };
    static constexpr int threads = S::threads, stages = 1, V = 16 / sizeof(type), pieces = S::stride / V, per_tile = threads * S::each;
    static_assert(S::stride % V == 0 && S::stride >= S::N, "the row stride is a multiple of 16 bytes and holds the row");

    DEV static int tiles(const args &p)
    {
        return static_cast<int>((static_cast<long long>(S::rows(p)) * pieces + per_tile - 1) / per_tile);
    }
    DEV static tile at(const args &, int index)
    {
        const long long first = static_cast<long long>(index) * per_tile;
        return {static_cast<int>(first / pieces), static_cast<int>(first % pieces)};
    }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &)
    {
        const int rows = S::rows(p);
        const char *begin = reinterpret_cast<const char *>(S::from(p, 0)),
                   *end = reinterpret_cast<const char *>(S::from(p, rows - 1) + S::N);
        words low[S::each], high[S::each];
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const place w = where(t, j);
            if (w.row < rows) fetch(S::from(p, w.row) + w.piece * V, S::N - w.piece * V, begin, end, low[j], high[j]);
        }
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const place w = where(t, j);
            if (w.row < rows)
                put_element(reinterpret_cast<words *>(S::to(p, w.row) + w.piece * V),
                            cut(joined(low[j], high[j], offset_of(S::from(p, w.row))), S::N - w.piece * V));
        }
    }

  private:
    using words = neighbours<unsigned, 4>;
    struct place {
        int row, piece;
    };
    DEV static place where(const tile &t, int j)
    {
        const int i = t.piece + thread_index() + j * S::threads;
        return {t.row + i / pieces, i % pieces};
    }
    // Bytes by which an address exceeds a multiple of 16. All pieces of a row have the same.
    DEV static int offset_of(const type *from) { return static_cast<int>(reinterpret_cast<unsigned long long>(from) & 15); }

    // Loads the two aligned words that contain the 16 bytes at `from`. If a word reaches beyond the operand's memory [begin, end), loads
    // the first `left` elements one by one instead.
    DEV static void fetch(const type *from, int left, const char *begin, const char *end, words &low, words &high)
    {
        const int offset = offset_of(from);
        const char *first = reinterpret_cast<const char *>(from) - offset, *last = first + (offset ? 16 : 0);
        if (first >= begin && last + 16 <= end) {
            low = load_constant(reinterpret_cast<const words *>(first));
            high = load_constant(reinterpret_cast<const words *>(last));
        } else {
            constexpr int per_word = 4 / sizeof(type);
            unsigned w[8] = {};
#pragma unroll
            for (int i = 0; i < 2 * V; i++) {
                const int k = i - offset / static_cast<int>(sizeof(type));
                if (k >= 0 && k < V && k < left) w[i / per_word] |= bits(from[k]) << i % per_word * 16;
            }
#pragma unroll
            for (int i = 0; i < 4; i++) low.e[i] = w[i], high.e[i] = w[4 + i];
        }
    }
    DEV static unsigned bits(float x) { return float_bits(x); }
    template <class T> DEV static unsigned bits(T x) // of a 16-bit value
    {
        union {
            T t;
            unsigned short u;
        } b = {x};
        return b.u;
    }

    // x if first, else y. A function that takes values, since between two elements of an array clang would select an address, and so keep
    // the array in memory.
    DEV static unsigned either(bool first, unsigned x, unsigned y) { return first ? x : y; }
    // The 16 bytes that begin `offset` bytes into low and high, taken as 32 adjacent bytes.
    DEV static words joined(const words &low, const words &high, int offset)
    {
        unsigned w[8];
#pragma unroll
        for (int i = 0; i < 4; i++) w[i] = low.e[i], w[4 + i] = high.e[i];
#pragma unroll
        for (int i = 0; i < 6; i++) w[i] = either(offset & 8, w[i + 2], w[i]);
#pragma unroll
        for (int i = 0; i < 5; i++) w[i] = either(offset & 4, w[i + 1], w[i]);
        words out;
#pragma unroll
        for (int i = 0; i < 4; i++) out.e[i] = sizeof(type) < 4 && offset & 2 ? w[i] >> 16 | w[i + 1] << 16 : w[i];
        return out;
    }

    // The first `left` elements of x, then zeros.
    DEV static words cut(words x, int left)
    {
        if constexpr (S::N % V != 0) { // not an early return: nvcc warns of a loop after one
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int there = left - i * static_cast<int>(4 / sizeof(type)); // elements of this word that exist
                if (there <= 0)
                    x.e[i] = 0;
                else if (sizeof(type) == 2 && there == 1)
                    x.e[i] &= 0xffffu;
            }
        }
        return x;
    }
};

template <class S> struct align<S, true> : without_k_loop {
    using args = typename S::args;
    using type = typename S::type;
    using in_list = mixed_in_list;
    static constexpr int threads = S::threads, stages = 1, V = 16 / sizeof(type), rows = 64, columns = 32 * S::each;
    static constexpr int column_tiles = ceil_div(S::columns, columns), groups = ceil_div(S::stride, rows);
    static_assert(S::stride % V == 0 && S::stride >= S::N, "the row stride is a multiple of 16 bytes and holds the row");
    struct tile {
        int batch, column, row; // the matrix, and the first column and row of the operand
    };
    struct scratch {
        alignas(4) type x[rows][columns + 1]; // padded, so that threads that read V rows each have no bank conflicts
    };

    DEV static int tiles(const args &p) { return S::batches(p) * column_tiles * groups; }
    DEV static tile at(const args &, int index)
    {
        return {index / (column_tiles * groups), index % column_tiles * columns, index / column_tiles % groups * rows};
    }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &s)
    {
        constexpr int all = rows * columns, ahead = 8; // loads that a thread has in flight
        for (int first = thread_index(); first < all; first += ahead * threads) {
            type x[ahead];
#pragma unroll
            for (int j = 0; j < ahead; j++) x[j] = first + j * threads < all ? element(p, t, first + j * threads) : type();
#pragma unroll
            for (int j = 0; j < ahead; j++) {
                const int i = first + j * threads;
                if (i < all) s.x[i / columns][i % columns] = x[j];
            }
        }
        barrier();
        constexpr int pieces = rows / V;
        for (int i = thread_index(); i < pieces * columns; i += threads) {
            const int column = i / pieces, row = i % pieces * V;
            if (t.column + column >= S::columns || t.row + row >= S::stride) continue;
            neighbours<type, V> piece;
#pragma unroll
            for (int k = 0; k < V; k++) piece.e[k] = s.x[row + k][column];
            type *to = S::to(p, t.batch * S::columns + t.column + column) + t.row + row;
            put_element(reinterpret_cast<neighbours<type, V> *>(to), piece);
        }
    }

  private:
    DEV static type element(const args &p, const tile &t, int i)
    {
        const int row = t.row + i / columns, column = t.column + i % columns;
        return row < S::N && column < S::columns ? S::from(p, t.batch * S::N + row)[column] : type();
    }
};
