// Rotates the pairs of a head by token position and a table of frequencies, in 2^-64 of a revolution per token. Refuses (static_assert)
// interleaved pairs in vectors of odd length, unless the partners come in a vector of their own.
//
// Angles are integers: 64-bit arithmetic computes position times frequency modulo one revolution exactly at any position. So large angles
// need no range reduction and are not rounded.
#pragma once
#include "templates/base/spec.h"

struct rope_point {
    float c, s;
};

// Cosine and sine of 2*pi*phase/2^32. With TF_QUICK (templates/base/ops.h) on NVIDIA, the GPU's instructions compute them; the error is at
// most 2^-21 for angles up to half a revolution (CUDA C++ Programming Guide, intrinsic functions). Otherwise polynomials (Cephes) for an
// eighth of a revolution and symmetry do; the error is at most 2^-22, as the angle is rounded three times (2.4 * 2^-24 in an eighth of a
// revolution) and the polynomial's value twice.
#if defined(TF_QUICK) && !defined(__clang__)
DEV rope_point rope_cos_sin(unsigned phase)
{
    const float x = static_cast<float>(static_cast<int>(phase)) * 1.4629180792671596e-09f; // 2*pi/2^32
    rope_point at;
    asm("cos.approx.f32 %0, %1;" : "=f"(at.c) : "f"(x));
    asm("sin.approx.f32 %0, %1;" : "=f"(at.s) : "f"(x));
    return at;
}
#else
DEV rope_point rope_cos_sin(unsigned phase)
{
    const unsigned quarter = (phase + (1u << 29)) >> 30;
    const int rest = static_cast<int>(phase - (quarter << 30));
    const float x = static_cast<float>(rest) * 1.4629180792671596e-09f, z = x * x; // 2*pi/2^32
    const float s = x + x * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
    const float c = 1.0f - 0.5f * z + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
    const float swapped_c = quarter & 1 ? -s : c, swapped_s = quarter & 1 ? c : s;
    return quarter & 2 ? rope_point{-swapped_c, -swapped_s} : rope_point{swapped_c, swapped_s};
}
#endif

DEV rope_point rope_at(int position, unsigned long long frequencies)
{
    return rope_cos_sin(static_cast<unsigned>(static_cast<unsigned long long>(static_cast<long long>(position)) * frequencies >> 32));
}

template <int W> struct rope_rotation {
    vec<float, W> c, s;
};

// The cosines and sines for pairs pair..pair+W-1 of a head. If fewer exist, the last ones are not used.
template <int W, int Pairs> DEV rope_rotation<W> rope_rotation_at(int pair, int position, const unsigned long long *frequencies)
{
    rope_rotation<W> t;
#pragma unroll
    for (int i = 0; i < W; i++) {
        const rope_point at = rope_at(position, frequencies[pair + i < Pairs ? pair + i : Pairs - 1]);
        t.c[i] = at.c;
        t.s[i] = at.s;
    }
    return t;
}

template <int W> DEV vec<float, W> rope_low(const rope_rotation<W> &t, vec<float, W> lo, vec<float, W> hi) { return lo * t.c - hi * t.s; }
template <int W> DEV vec<float, W> rope_high(const rope_rotation<W> &t, vec<float, W> lo, vec<float, W> hi) { return hi * t.c + lo * t.s; }

// The column of the pair's other element. A column that is not rotated is its own partner.
template <int Head, int Rotary> DEV int rope_partner(int col)
{
    const int d = col % Head;
    return d >= Rotary ? col : d < Rotary / 2 ? col + Rotary / 2 : col - Rotary / 2;
}

// `own` has columns col, col + 1, ..., `far` their partners. A vector lies within one half of one head.
template <int Head, int Rotary, int V>
DEV vec<float, V> rope_half(vec<float, V> own, vec<float, V> far, int col, int position, const unsigned long long *frequencies)
{
    const int d = col % Head;
    if (d >= Rotary) return own;
    const rope_rotation<V> t = rope_rotation_at<V, Rotary / 2>(d % (Rotary / 2), position, frequencies);
    return d < Rotary / 2 ? rope_low<V>(t, own, far) : rope_high<V>(t, far, own);
}

// Pairs (2i, 2i+1) of a head; vectors start at even columns and may span heads.
template <int Head, int Rotary, int V>
DEV vec<float, V> rope_interleaved(vec<float, V> own, int col, int position, const unsigned long long *frequencies)
{
    static_assert(V % 2 == 0, "tile: interleaved pairs need vectors of even length");
#pragma unroll
    for (int i = 0; i < V; i += 2) {
        const int d = (col + i) % Head;
        if (d >= Rotary) continue;
        const rope_point at = rope_at(position, frequencies[d / 2]);
        const float x = own[i], y = own[i + 1];
        own[i] = x * at.c - y * at.s;
        own[i + 1] = y * at.c + x * at.s;
    }
    return own;
}

// The column of the pair's other element if pairs are interleaved. A column that is not rotated is its own partner.
template <int Head, int Rotary> DEV int rope_neighbor(int col)
{
    const int d = col % Head;
    return d >= Rotary ? col : d % 2 == 0 ? col + 1 : col - 1;
}

// Interleaved pairs whose elements are in different vectors, each of one column; `far` has the partner.
template <int Head, int Rotary, int V>
DEV vec<float, V> rope_neighbors(vec<float, V> own, vec<float, V> far, int col, int position, const unsigned long long *frequencies)
{
    static_assert(V == 1, "tile: partners in a vector of their own need vectors of one column");
    const int d = col % Head;
    if (d >= Rotary) return own;
    const rope_point at = rope_at(position, frequencies[d / 2]);
    if (d % 2 == 0) own[0] = own[0] * at.c - far[0] * at.s;
    else own[0] = own[0] * at.c + far[0] * at.s;
    return own;
}
