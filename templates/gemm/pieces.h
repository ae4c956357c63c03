// In: nothing. Out: where packed weights lie (docs/packing.md). Refuses nothing.
//
// A piece is 16 packed columns x 64 bytes along k, 1 KB. Pieces of the same columns lie one after the other along k, then come those of the
// next 16 columns. Within a piece: groups of 8 columns, of each the 4 chunks of 16 bytes along k, of each its 8 columns.
#pragma once

template <class T> struct pieces {
    static constexpr int columns = 16, bytes = 1024, row_bytes = 64;
    static constexpr int chunk = 16 / sizeof(T), length = row_bytes / sizeof(T), elements = bytes / sizeof(T); // elements along k; in all
    static constexpr int group_step = elements / 2, chunk_step = 8 * chunk, column_step = chunk;               // elements between them

    // Element k of packed column n, of columns of packed_k elements each.
    DEV static long long at(int packed_k, int n, int k)
    {
        const long long piece = static_cast<long long>(n / columns) * (packed_k / length) + k / length;
        return piece * elements + n % columns / 8 * group_step + k % length / chunk * chunk_step + n % 8 * column_step + k % chunk;
    }
    // The other way round.
    DEV static int column_of(int packed_k, long long at)
    {
        const int in = static_cast<int>(at % elements);
        return static_cast<int>(at / elements / (packed_k / length)) * columns + in / group_step * 8 + in / column_step % 8;
    }
    DEV static int k_of(int packed_k, long long at)
    {
        const int in = static_cast<int>(at % elements);
        return static_cast<int>(at / elements % (packed_k / length)) * length + in / chunk_step % 4 * chunk + in % chunk;
    }
};
