// Small operations that generated spec structs call: loads and stores of one element, zeros in place of elements beyond a row's end, the
// sum of a vector's elements.
#pragma once
#include "templates/base/sums.h"

template <class T> DEV float load_one(const T *from) { return load<1>(from, 1)[0]; }
template <class T> DEV void store_one(T *to, float value) { store<1>(to, 1, splat<1>(value)); }

// The first `left` of v, then zeros.
template <int V> DEV vec<float, V> mask(vec<float, V> v, int left)
{
#pragma unroll
    for (int i = 0; i < V; i++)
        if (i >= left) v[i] = 0.0f;
    return v;
}

template <int V> DEV float total(vec<float, V> v) { return tree_join<take_sum>(v); }
