// In: results of 2 bytes in shared memory, a row's columns side by side. Out: stores of 16 aligned bytes of a row where possible, of
// smaller units at the ends of rows. A piece is 8 adjacent results. Each lane has one piece, adjacent lanes mostly adjacent pieces of a
// row.
//
// S of a program that includes this has
// - epilogue_smem: results pass through shared memory
// - results: how many results two paired packed columns make: 1 if the epilogue joins them (silu(gate) * up), else 2
// - results_unit: rows of results begin at multiples of so many elements: 8, 4, 2 or 1
//
// The epilogue's code is instantiated twice: once for the values, in the layout of the products, and once for the addresses of results;
// compilers drop what is not used. The instance for addresses covers one column, because compilers take as long to drop arithmetic as to
// keep it (NVRTC, eight powers in bf16: 27 s if it covers a piece's 8 columns, 3 s with one).
#pragma once
#include "templates/isa/nvidia.h"

inline constexpr int piece_columns = 8;

// An Out for the epilogue (docs/spec-structs.md) that finds out where a piece goes: all of it (found), or its first `some` elements.
struct to_find {
    static constexpr bool first = false;
    bool second, found; // second: the piece comes from the second half of a block's columns
    int some;
    void *to;
    template <int Half, int W, class T> DEV void put(T *at, vec<float, W>)
    {
        static_assert(W == 1, "the epilogue is called for the first column of a piece");
        const bool mine = Half ? second : !second;
        to = mine ? at : to;
        found = found || mine;
    }
    template <int Half, int W, class T> DEV void put_some(T *at, int left, vec<float, W> v)
    {
        if (left >= piece_columns)
            put<Half, W>(at, v);
        else if (Half ? second : !second)
            to = at, some = left;
    }
};

// Stores elements i to i + Unit - 1 of the piece x, which goes to `to`, a multiple of Unit elements.
template <int Unit> DEV void store_unit(void *to, int i, const unsigned (&x)[4])
{
    if constexpr (Unit == 1) {
        static_cast<unsigned short *>(to)[i] = static_cast<unsigned short>(x[i / 2] >> i % 2 * 16);
    } else {
        neighbours<unsigned, Unit / 2> part;
#pragma unroll
        for (int k = 0; k < Unit / 2; k++) part.e[k] = x[i / 2 + k];
        reinterpret_cast<neighbours<unsigned, Unit / 2> *>(to)[i / Unit] = part;
    }
}

// Stores elements `from` to `behind` - 1 of the piece x, which goes to `to`.
template <int Unit> DEV void store_part(void *to, const unsigned (&x)[4], int from, int behind)
{
#pragma unroll
    for (int i = 0; i < piece_columns; i += Unit)
        if (i >= from && i < behind) store_unit<Unit>(to, i, x);
}

// Stores a piece of a row that begins at a multiple of Unit elements, but not of 16 bytes, and whose length is a multiple of Unit. All
// lanes of a warp call it together. A lane stores the aligned 16 bytes that begin within its piece; they end within the piece of the next
// lane, which passes its part on. A lane whose neighbour has no adjacent piece stores the rest of its own in units of Unit elements.
template <int Unit> DEV void store_piece_anywhere(const to_find &out, const unsigned (&x)[4])
{
    const unsigned long long at = reinterpret_cast<unsigned long long>(out.to);
    const int count = out.found ? piece_columns : out.some, ahead = static_cast<int>(8 - at / 2 % 8) % 8; // elements up to aligned 16 bytes
    const unsigned long long next_at = lane_above(at), last_at = lane_below(at);
    const int next_count = lane_above(count), last_count = lane_below(count);
    const bool joins = out.found && (ahead == 0 || (next_at == at + 16 && next_count >= ahead)); // lane_above() gives the last lane its own
    const bool given = ahead > 0 && last_count == piece_columns && last_at + 16 == at && count >= ahead;
    unsigned both[8];
#pragma unroll
    for (int i = 0; i < 4; i++) both[i] = x[i], both[i + 4] = lane_above(x[i]);
    if (joins) {
#pragma unroll
        for (int i = 0; i < 6; i++) both[i] = ahead & 4 ? both[i + 2] : both[i];
        if constexpr (Unit <= 2)
#pragma unroll
            for (int i = 0; i < 5; i++) both[i] = ahead & 2 ? both[i + 1] : both[i];
        neighbours<unsigned, 4> whole;
#pragma unroll
        for (int i = 0; i < 4; i++) whole.e[i] = Unit == 1 && ahead & 1 ? both[i] >> 16 | both[i + 1] << 16 : both[i];
        *reinterpret_cast<neighbours<unsigned, 4> *>(at + 2 * ahead) = whole;
    }
    store_part<Unit>(out.to, x, given ? ahead : 0, joins ? ahead : count);
}

// Stores a piece of a row that begins at a multiple of Unit elements (S::results_unit).
template <int Unit> DEV void store_piece(const to_find &out, const unsigned (&x)[4])
{
    if constexpr (Unit != piece_columns) {
        store_piece_anywhere<Unit>(out, x);
    } else {
        if (out.found) *static_cast<neighbours<unsigned, 4> *>(out.to) = {{x[0], x[1], x[2], x[3]}};
        store_part<1>(out.to, x, 0, out.some);
    }
}
