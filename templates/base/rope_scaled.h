// Multiplies the cosines and sines of a rotation (templates/base/rope.h) by a number, as YaRN and LongRoPE do; or, to the same effect, the
// columns before they are rotated.
#pragma once
#include "templates/base/rope.h"

template <int W> DEV rope_rotation<W> rope_scaled_rotation(rope_rotation<W> t, float by) { return {t.c * by, t.s * by}; }

// x has columns col, col + 1, ... Those that are rotated are multiplied by `by`.
template <int Head, int Rotary, int V> DEV vec<float, V> rope_scaled(vec<float, V> x, int col, float by)
{
#pragma unroll
    for (int i = 0; i < V; i++) x[i] *= (col + i) % Head < Rotary ? by : 1.0f;
    return x;
}
