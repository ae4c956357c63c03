// In: packed columns and positions along k. Out: the layout of packed weights (docs/packing.md).
//
// A piece is 16 packed columns by 64 bytes along k, 1 KB. The pieces of 16 columns follow each other along k, then come those of the next
// 16 columns. Within a piece, the order from the outside in is: 2 groups of 8 columns, 4 chunks of 16 bytes along k, the 8 columns of a
// group.
#pragma once
#include "templates/base/spec.h"

// How an operand lies in memory: in the pieces of a packed weight; in rows (K contiguous); in columns (M or N contiguous).
enum operand_form { in_pieces, in_rows, in_columns };

// A matrix instruction multiplies two operands of the same type.
template <class A, class B> inline constexpr bool one_type = false;
template <class A> inline constexpr bool one_type<A, A> = true;

// If S has `passes`: each element of the packed weight, and of A if S has a_terms, is stored as several numbers, its terms, which add up to
// it. A packed column, or a row of A, has the smallest terms of all its elements first, zero-padded to a multiple of 128 bytes, then the
// next larger ones, and so on. The product walks K once per pass. Pass i multiplies A by term i of B or, if S has a_terms, the terms of A
// and B whose indices are bits 4 i to 4 i + 3 of S::a_terms and S::b_terms.
template <class S, class = void> inline constexpr int passes_of = 1;
template <class S> inline constexpr int passes_of<S, nothing<decltype(S::passes)>> = S::passes;
template <class S, class = void> struct terms_of {
    static constexpr bool of_a = false;
    static constexpr int row_length = S::K; // elements of a row of A in memory
    DEV static int a(int) { return 0; }
    DEV static int b(int pass) { return pass; }
};
template <class S> struct terms_of<S, nothing<decltype(S::a_terms)>> {
    static constexpr bool of_a = true;
    static constexpr int row_length = S::a_length;
    DEV static int a(int pass) { return S::a_terms >> 4 * pass & 15; }
    DEV static int b(int pass) { return S::b_terms >> 4 * pass & 15; }
};

// The k tiles of a product: those of the first pass, then those of the second, and so on.
template <class S, int tile_k> struct pass_tiles {
    using terms = terms_of<S>;
    static constexpr int passes = passes_of<S>, length = 128 / sizeof(typename S::b_type); // with several passes K is padded to it
    static constexpr int each = passes == 1 ? ceil_div(S::K, tile_k) : ceil_div(S::K, length) * length / tile_k, all = passes * each;
    static_assert(passes == 1 || length % tile_k == 0, "tile: k divides the length of a pass");
    // The k tile of A that k tile `k_tile` of the product multiplies, and that of B.
    DEV static int of_rows(int k_tile)
    {
        return passes == 1 ? k_tile : k_tile % each + (terms::of_a ? terms::a(k_tile / each) * each : 0);
    }
    DEV static int of_columns(int k_tile) { return terms::of_a ? k_tile % each + terms::b(k_tile / each) * each : k_tile; }
    DEV static bool ends_pass(int k_tile) { return (k_tile + 1) % each == 0; }
};

template <class T> struct pieces {
    static constexpr int columns = 16, bytes = 1024, row_bytes = 64;
    // elements along k of a chunk and of a piece; all elements of a piece
    static constexpr int chunk = 16 / sizeof(T), length = row_bytes / sizeof(T), elements = bytes / sizeof(T);
    static constexpr int group_step = elements / 2, chunk_step = 8 * chunk, column_step = chunk;               // in elements

    // Index of element k of packed column n; columns have packed_k elements.
    DEV static long long at(int packed_k, int n, int k)
    {
        const unsigned column = n, along = k; // unsigned, so that divisions by powers of two are shifts
        const long long piece = static_cast<long long>(column / columns) * (packed_k / length) + along / length;
        return piece * elements + column % columns / 8 * group_step + along % length / chunk * chunk_step + column % 8 * column_step +
               along % chunk;
    }
    // V elements of column n from k on. k must be a multiple of V, or the elements lie in one chunk.
    template <int V> DEV static vec<float, V> load(const T *packed, int packed_k, int n, int k)
    {
        if constexpr (V <= chunk)
            return load_aligned<V>(packed + at(packed_k, n, k));
        else {
            static_assert(V % chunk == 0, "V is a multiple of a chunk");
            vec<float, V> v;
#pragma unroll
            for (int i = 0; i < V; i += chunk) {
                const vec<float, chunk> x = load_aligned<chunk>(packed + at(packed_k, n, k + i));
#pragma unroll
                for (int e = 0; e < chunk; e++) v[i + e] = x[e];
            }
            return v;
        }
    }
    // The inverse of at(): column and k of an element.
    DEV static int column_of(int packed_k, long long at)
    {
        const unsigned in = at & (elements - 1), piece = static_cast<unsigned>(static_cast<unsigned long long>(at) / elements);
        return piece / (packed_k / length) * columns + in / group_step * 8 + in / column_step % 8;
    }
    DEV static int k_of(int packed_k, long long at)
    {
        const unsigned in = at & (elements - 1), piece = static_cast<unsigned>(static_cast<unsigned long long>(at) / elements);
        return piece % (packed_k / length) * length + in / chunk_step % 4 * chunk + in % chunk;
    }
};
