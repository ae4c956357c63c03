// In: one spec struct S of a packed weight (docs/spec-structs.md: pack). Out: the program that writes it, in one of three forms:
// - pack: in pieces (gemm/pieces.h), one number per element
// - pack_terms: in pieces; each element, rounded to the weight's own dtype S::own, becomes S::passes bf16 terms
// - pack_split: in rows, as gemm_ws_split.h reads them: the large tf32 terms of 32 elements, their small terms, then those of the next 32
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/gemm/pieces.h"
#include "templates/isa/term_pairs.h"

// Rounds x to the nearest tf32 number (11 significant bits), but truncates x if that number would be infinite.
DEV float tf32_nearest(float x)
{
    const float y = bits_float(float_bits(x) + 0x1000u & 0xffffe000u);
    return x - x == 0.0f && y - y == 0.0f ? y : bits_float(float_bits(x) & 0xffffe000u);
}

// Returns term `index` of a number, and subtracts it from x unless it is term 0, which is all that is left. x is the number less its larger
// terms, whose indices are higher. All terms have the sign of the number, and none is zero unless the number is below 2^-102. So a term's
// product that overflows, or that has an infinite factor, has the sign of the whole product. All terms of an infinity or a NaN are that
// value.
DEV float take_bf16_term(float &x, int index)
{
    if (index == 0 || x - x != 0.0f) return x;
    return bits_float(take_bf16(x, nonzero(x)) & 0xffff0000u);
}

// Term `index` of the `count` terms of x; 0: the smallest.
DEV float bf16_term(float x, int count, int index)
{
    for (int i = count - 1; i > index; i--) take_bf16_term(x, i);
    return take_bf16_term(x, index);
}

enum pack_form { pack_in_pieces, pack_in_terms, pack_in_halves };

template <class S, pack_form form = pack_in_pieces> struct pack : without_k_loop {
    using args = typename S::args;
    struct tile {
        long long first;
    };
    struct scratch {};
    static constexpr int stages = 1, each = 8 * S::threads; // elements per tile
    static constexpr long long count = static_cast<long long>(S::packed_n) * S::packed_k;

    DEV static int tiles(const args &) { return static_cast<int>((count + each - 1) / each); }
    DEV static tile at(const args &, int index) { return {static_cast<long long>(index) * each}; }
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &)
    {
        for (int i = thread_index(); i < each; i += S::threads) {
            const long long at = t.first + i;
            if (at >= count) return;
            S::out(p)[at] = from_float<type>::convert(element(p, at));
        }
    }

  private:
    using type = typename S::type;

    DEV static float element(const args &p, long long at)
    {
        if constexpr (form == pack_in_halves) return split_element(p, at);
        const int n = pieces<type>::column_of(S::packed_k, at), k = pieces<type>::k_of(S::packed_k, at);
        if constexpr (form == pack_in_terms) {
            constexpr int length = S::packed_k / S::passes;
            return bf16_term(rounded<typename S::own>(S::element(p, n, k % length)), S::passes, k / length);
        } else
            return S::element(p, n, k);
    }
    DEV static float split_element(const args &p, long long at)
    {
        const int n = static_cast<int>(at / S::packed_k), k = static_cast<int>(at % S::packed_k);
        const float x = S::element(p, n, k / 64 * 32 + k % 32), large = tf32_nearest(x);
        return k % 64 < 32 ? large : tf32_nearest(x - large);
    }
};

template <class S> using pack_terms = pack<S, pack_in_terms>;
template <class S> using pack_split = pack<S, pack_in_halves>;
