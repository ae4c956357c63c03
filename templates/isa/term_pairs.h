// In: words of registers that hold f16, bf16 or f32 numbers adjacent along k. Out: the bf16 terms that add up to them (docs/packing.md), in
// pairs as matrix instructions take them.
#pragma once
#include "templates/base/device.h"

// Rows of A beside a weight of another dtype, B: a piece of the row is as long as a piece of the weight.
template <class A, class B> struct beside {
    A value;
};

template <class T> inline constexpr int term_count = 3; // f32: 24 bits, of which a term has 8
template <> inline constexpr int term_count<f16> = 2;
template <> inline constexpr int term_count<bf16> = 1;

// Element i of words of T.
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

// Takes from x the next bf16 number below it in magnitude, in the high half of the result, or zero from zero (some: nonzero(x)). So no term
// of another number is zero, and all have its sign; what remains of an infinity is infinite.
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

// The terms of `Words` words of T, the smallest first; each as pairs of adjacent elements.
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

// Calls step(a, b) for the terms a of A and b of B whose products add up, smallest products first.
template <class A, class B, class Step> DEV void each_pair_of_terms(Step step)
{
#pragma unroll
    for (int sum = 0; sum < term_count<A> + term_count<B> - 1; sum++)
#pragma unroll
        for (int a = 0; a < term_count<A>; a++)
            if (sum - a >= 0 && sum - a < term_count<B>) step(a, sum - a);
}
