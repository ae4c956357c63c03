// Splits f16, bf16 and f32 numbers into bf16 terms that add up to them (docs/packing.md). Numbers are adjacent along K, in words of
// registers; terms are packed in pairs, as matrix instructions take them.
#pragma once
#include "templates/base/device.h"

// An element of A, in a product whose weight has another dtype, B. A piece of a row has as many elements as a piece of the weight.
template <class A, class B> struct beside {
    A value;
};

template <class T> inline constexpr int term_count = 3; // f32: 24 bits, 8 of them in each term
template <> inline constexpr int term_count<f16> = 2;
template <> inline constexpr int term_count<bf16> = 1;

// The i-th number of type T in words of registers.
template <class T> DEV float element_of_words(const unsigned *word, int i)
{
    if constexpr (sizeof(T) == 4) {
        return bits_float(word[i]);
    } else {
        union {
            unsigned short bits;
            T value;
        } x = {static_cast<unsigned short>(word[i / 2] >> i % 2 * 16)};
        return to_float(x.value);
    }
}

// 1, or 0 if x is zero.
DEV unsigned nonzero(float x) { return x != 0.0f; }

// Splits a term off x: the greatest bf16 number that is smaller than x in magnitude, or zero if x is zero. The term is the high half of the
// result, and is subtracted from x. What remains of a nonzero x is not zero and has its sign; what remains of an infinity is infinite.
// some: nonzero(x).
DEV unsigned take_bf16(float &x, unsigned some)
{
    const unsigned term = float_bits(x) - some;
    x -= bits_float(term & 0xffff0000u);
    return term;
}
DEV unsigned high_halves(unsigned low, unsigned high)
{
#if defined(__CUDACC_RTC__)
    return __byte_perm(low, high, 0x7632);
#else
    return low >> 16 | (high & 0xffff0000u);
#endif
}

// The terms of the numbers in `Words` words of T. terms[0] has the smallest term of each number; two adjacent numbers' terms share a word.
template <class T, int Words> DEV void put_terms(const unsigned *word, unsigned (&terms)[term_count<T>][Words * 2 / sizeof(T)])
{
    constexpr int count = term_count<T>;
#pragma unroll
    for (int i = 0; i < Words * 2 / static_cast<int>(sizeof(T)); i++) {
        if constexpr (count == 1) {
            terms[0][i] = word[i];
        } else {
            float low = element_of_words<T>(word, 2 * i), high = element_of_words<T>(word, 2 * i + 1);
            const unsigned low_some = nonzero(low), high_some = nonzero(high);
#pragma unroll
            for (int t = count - 1; t > 0; t--) {
                const unsigned of_low = take_bf16(low, low_some), of_high = take_bf16(high, high_some);
                terms[t][i] = high_halves(of_low, of_high);
            }
            terms[0][i] = high_halves(float_bits(low), float_bits(high));
        }
    }
}

// Calls step(a, b) for all pairs of terms, a of A and b of B, whose products are added. The smallest products come first.
template <class A, class B, class Step> DEV void each_pair_of_terms(Step step)
{
#pragma unroll
    for (int sum = 0; sum < term_count<A> + term_count<B> - 1; sum++)
#pragma unroll
        for (int a = 0; a < term_count<A>; a++)
            if (sum - a >= 0 && sum - a < term_count<B>) step(a, sum - a);
}
