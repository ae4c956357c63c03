// In: a rotation, and a number by which its cosine and sine are multiplied (YaRN, LongRoPE). Out: that product or, to the same effect, the
// columns to be rotated times the number. The rotation itself is in templates/base/rope.h.
#pragma once
#include "templates/base/rope.h"

template <int W> DEV rope_rotation<W> rope_scaled_rotation(rope_rotation<W> t, float by) { return {t.c * by, t.s * by}; }

// x has columns col, col + 1, ...: multiplies those that are rotated.
template <int Head, int Rotary, int V> DEV vec<float, V> rope_scaled(vec<float, V> x, int col, float by)
{
#pragma unroll
    for (int i = 0; i < V; i++) x[i] *= (col + i) % Head < Rotary ? by : 1.0f;
    return x;
}
