// In: a rotation whose cosine and sine are multiplied by a number (YaRN, LongRoPE). Out: the pair's operands, or its cosine and sine, times
// that number; otherwise as templates/base/rope.h.
#pragma once
#include "templates/base/rope.h"

template <int W> DEV rope_rotation<W> rope_scaled_rotation(rope_rotation<W> t, float by) { return {t.c * by, t.s * by}; }

// Multiplies the rotated ones among the columns from col on.
template <int Head, int Rotary, int V> DEV vec<float, V> rope_scaled(vec<float, V> x, int col, float by)
{
#pragma unroll
    for (int i = 0; i < V; i++) x[i] *= (col + i) % Head < Rotary ? by : 1.0f;
    return x;
}
