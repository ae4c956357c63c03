// What attention on AMD's matrix units needs besides products: exp2, votes, softmax weights rounded to 16 bits and packed into 16 bytes,
// transposition in registers. For 16-bit types; isa/mfma.h or isa/wmma.h must be included too.
#pragma once
#include "templates/isa/amd.h"

// Elements First to First + 7 of x, rounded to 16 bits. None may be negative. GPUs without a conversion to bf16 round ties up.
template <int First, class Numbers> DEV sixteen_bytes packed_weights(f16, const Numbers &x)
{
    using eight = _Float16 __attribute__((ext_vector_type(8)));
    eight h;
#pragma unroll
    for (int i = 0; i < 8; i++) h[i] = static_cast<_Float16>(x[First + i]);
    return __builtin_bit_cast(sixteen_bytes, h);
}
template <int First, class Numbers> DEV sixteen_bytes packed_weights(bf16, const Numbers &x)
{
#if defined(TF_CONVERTS_BF16)
    __bf16 __attribute__((ext_vector_type(8))) h;
#pragma unroll
    for (int i = 0; i < 8; i++) h[i] = static_cast<__bf16>(x[First + i]);
    return __builtin_bit_cast(sixteen_bytes, h);
#else
    sixteen_bytes all;
#pragma unroll
    for (int i = 0; i < 4; i++)
        all[i] = __builtin_amdgcn_perm(float_bits(x[First + 2 * i + 1]) + 0x8000u, float_bits(x[First + 2 * i]) + 0x8000u, 0x07060302u);
    return all;
#endif
}

using eight_bytes = unsigned __attribute__((ext_vector_type(2)));
#if defined(TF_ON_HOST)
DEV void lds_write(lds_address to, eight_bytes x) { tf_hs_write_whole(reinterpret_cast<eight_bytes *>(to), x); }
#else
DEV void lds_write(lds_address to, eight_bytes x) { *reinterpret_cast<__attribute__((address_space(3))) eight_bytes *>(to) = x; }
#endif

// The i-th elements of four lines of 16-bit elements, side by side, as a transposition needs them.
template <class Line> DEV eight_bytes across(int i, Line a, Line b, Line c, Line d)
{
    const unsigned pick = i % 2 ? 0x07060302u : 0x05040100u;
    return {__builtin_amdgcn_perm(b[i / 2], a[i / 2], pick), __builtin_amdgcn_perm(d[i / 2], c[i / 2], pick)};
}

DEV float wave_exp2(float x)
{
#if defined(TF_ON_HOST) || __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else // HIPRTC 5.2
    float y;
    asm("v_exp_f32 %0, %1" : "=v"(y) : "v"(x));
    return y;
#endif
}
DEV float wave_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
#if TF_WAVE == 32
DEV unsigned lanes_of(bool x) { return __builtin_amdgcn_ballot_w32(x); } // one bit per lane
#elif defined(TF_ON_HOST) || __has_builtin(__builtin_amdgcn_ballot_w64)
DEV unsigned long long lanes_of(bool x) { return __builtin_amdgcn_ballot_w64(x); }
#else // HIPRTC 5.2
DEV unsigned long long lanes_of(bool x)
{
    constexpr int not_equal = 33; // LLVM's ICMP_NE
    return __builtin_amdgcn_uicmp(static_cast<unsigned>(x), 0u, not_equal);
}
#endif
DEV bool any_lane(bool x) { return lanes_of(x) != 0; }
