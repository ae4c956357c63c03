// In: one spec struct S of a packed weight (docs/spec-structs.md: pack). Out: the program that writes it, a thread an element. Refuses
// nothing. It lies in pieces (gemm/pieces.h); or split, in rows of 32 elements' large parts in tf32, their small parts, the next 32's, and
// so on (gemm_ws_split.h).
#pragma once
#include "templates/frame/frame_mixed.h"
#include "templates/gemm/pieces.h"

// To nearest in tf32, 11 bits; what that would make infinite is cut off instead.
DEV float tf32_nearest(float x)
{
    const float y = bits_float(float_bits(x) + 0x1000u & 0xffffe000u);
    return x - x == 0.0f && y - y == 0.0f ? y : bits_float(float_bits(x) & 0xffffe000u);
}

template <class S, bool split = false> struct pack {
    using args = typename S::args;
    struct tile {
        long long first;
    };
    struct accumulators {};
    struct stage {};
    struct scratch {};
    static constexpr int stages = 1, each = 8 * S::threads; // elements a tile
    static constexpr long long count = static_cast<long long>(S::packed_n) * S::packed_k;

    DEV static int tiles(const args &) { return static_cast<int>((count + each - 1) / each); }
    DEV static tile at(const args &, int index) { return {static_cast<long long>(index) * each}; }
    DEV static int k_tiles(const args &, const tile &) { return 0; }
    DEV static void load(const args &, const tile &, int, stage &) {}
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &, accumulators &) {}
    DEV static void finish(const args &p, const tile &t, accumulators &, scratch &)
    {
        for (int i = thread_index(); i < each; i += S::threads) {
            const long long at = t.first + i;
            if (at >= count) return;
            S::out(p)[at] = from_float<type>::convert(split ? split_element(p, at) : piece_element(p, at));
        }
    }

  private:
    using type = typename S::type;

    DEV static float piece_element(const args &p, long long at)
    {
        return S::element(p, pieces<type>::column_of(S::packed_k, at), pieces<type>::k_of(S::packed_k, at));
    }
    DEV static float split_element(const args &p, long long at)
    {
        const int n = static_cast<int>(at / S::packed_k), k = static_cast<int>(at % S::packed_k);
        const float x = S::element(p, n, k / 64 * 32 + k % 32), large = tf32_nearest(x);
        return k % 64 < 32 ? large : tf32_nearest(x - large);
    }
};

template <class S> using pack_split = pack<S, true>;
