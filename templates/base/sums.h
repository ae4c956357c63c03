// Blocked (pairwise) sums, which avoid long chains of additions. The rounding error grows with the square root of the longest chain
// (P. Blanchard, N. Higham, T. Mary, "A class of fast and accurate summation algorithms", 2020).
#pragma once
#include "templates/isa/simt.h"

// The least number whose Power-th power is at least n, for n up to 2^40.
constexpr long long root_up(long long n, int power)
{
    if (power == 1) return n;
    long long low = 0, high = 1 << 20;
    while (high - low > 1) {
        const long long root = (low + high) / 2;
        long long product = 1;
        for (int i = 0; i < power && product < n; i++) product *= root;
        if (product >= n) high = root;
        else low = root;
    }
    return high;
}

// Whether a product of so many terms uses blocked sums. With fewer terms, one chain costs less and is as accurate as other libraries' sums.
constexpr bool is_long(long long terms) { return terms > 32768; }

// How many levels a blocked sum of `length` terms needs so that no chain has more than `most` terms; at most `limit` levels, even if
// chains are longer then.
constexpr int sum_levels(long long length, long long most, int limit = 4)
{
    for (int levels = 1; levels < limit; levels++)
        if (root_up(length, levels) <= most) return levels;
    return limit;
}

// V independent sums, to which vectors are added one after another. After Step terms, a level's sum is added to the level above and starts
// again.
template <class Take, int V, int Levels, int Step> struct running {
    vec<float, V> all = splat<V>(Take::identity());
    running<Take, V, Levels - 1, Step> above;
    int count = 0;

    DEV void join(vec<float, V> x)
    {
        all = Take::join(all, x);
        if (++count < Step) return;
        above.join(all);
        all = splat<V>(Take::identity());
        count = 0;
    }
    DEV vec<float, V> total() const { return Take::join(above.total(), all); }
};
template <class Take, int V, int Step> struct running<Take, V, 1, Step> {
    vec<float, V> all = splat<V>(Take::identity());
    DEV void join(vec<float, V> x) { all = Take::join(all, x); }
    DEV vec<float, V> total() const { return all; }
};

// The sum of Count adjacent numbers.
template <int Count> DEV float add_up(const float *from)
{
    constexpr int levels = sum_levels(Count, 256);
    running<take_sum, 1, levels, static_cast<int>(root_up(Count, levels))> sum;
#pragma unroll 1
    for (int i = 0; i < Count; i++) sum.join(splat<1>(from[i]));
    return sum.total()[0];
}
