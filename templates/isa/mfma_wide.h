// In: operands as isa/mfma.h has them, 16 bytes a lane. Out: CDNA's 32 x 32 products, and what attention needs beside them: weights rounded
// into an operand, 4 x 8 blocks transposed in registers, exp2, votes. Refuses f32. Needs isa/mfma.h.
#pragma once

using wide_accumulator = float __attribute__((ext_vector_type(16)));

// result(i, j) += sum over 32 bytes of k of a(i, k) * b(j, k). Lane l holds a(l % 32, ...) and b(l % 32, ...), piece l / 32 of the two, and
// result(8 * (r / 4) + 4 * (l / 32) + r % 4, l % 32). So of 16 lines of a result a lane has 8, in the order of wide_line(), and they are
// an operand of a product over those lines when the other operand has them in the same order.
template <class T> struct wide_matrix;
DEV int wide_line(int l) { return l % 16 / 8 * 4 + l % 8 / 4 * 8 + l % 4 + l / 16 * 16; } // its own inverse

#if TF_GFX >= 0x950
template <> struct wide_matrix<bf16> {
    using operand = matrix<bf16>::operand;
    DEV static wide_accumulator multiply(operand a, operand b, wide_accumulator c)
    {
        return __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, c, 0, 0, 0);
    }
};
template <> struct wide_matrix<f16> {
    using operand = matrix<f16>::operand;
    DEV static wide_accumulator multiply(operand a, operand b, wide_accumulator c)
    {
        return __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, c, 0, 0, 0);
    }
};
#else
template <> struct wide_matrix<bf16> {
    using operand = matrix<bf16>::operand;
    DEV static wide_accumulator multiply(operand a, operand b, wide_accumulator c)
    {
        const four_shorts a0 = {a[0], a[1], a[2], a[3]}, a1 = {a[4], a[5], a[6], a[7]};
        const four_shorts b0 = {b[0], b[1], b[2], b[3]}, b1 = {b[4], b[5], b[6], b[7]};
        c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a0, b0, c, 0, 0, 0);
        return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a1, b1, c, 0, 0, 0);
    }
};
template <> struct wide_matrix<f16> {
    using operand = matrix<f16>::operand;
    DEV static wide_accumulator multiply(operand a, operand b, wide_accumulator c)
    {
        const four_halves a0 = {a[0], a[1], a[2], a[3]}, a1 = {a[4], a[5], a[6], a[7]};
        const four_halves b0 = {b[0], b[1], b[2], b[3]}, b1 = {b[4], b[5], b[6], b[7]};
        c = __builtin_amdgcn_mfma_f32_32x32x8f16(a0, b0, c, 0, 0, 0);
        return __builtin_amdgcn_mfma_f32_32x32x8f16(a1, b1, c, 0, 0, 0);
    }
};
#endif

// Elements First to First + 7 of x, none of them negative, in T. Without an instruction for it bf16 rounds ties up.
template <int First> DEV sixteen_bytes packed_weights(f16, const wide_accumulator &x)
{
    using eight = _Float16 __attribute__((ext_vector_type(8)));
    eight h;
#pragma unroll
    for (int i = 0; i < 8; i++) h[i] = static_cast<_Float16>(x[First + i]);
    return __builtin_bit_cast(sixteen_bytes, h);
}
template <int First> DEV sixteen_bytes packed_weights(bf16, const wide_accumulator &x)
{
#if TF_GFX >= 0x950 && !defined(TF_ON_HOST)
    typename matrix<bf16>::operand h;
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
DEV void lds_write(lds_address to, eight_bytes x) { *reinterpret_cast<__attribute__((address_space(3))) eight_bytes *>(to) = x; }

// Of four lines of eight 16-bit elements, element I of each.
template <int I> DEV eight_bytes across(sixteen_bytes a, sixteen_bytes b, sixteen_bytes c, sixteen_bytes d)
{
    constexpr unsigned pick = I % 2 ? 0x07060302u : 0x05040100u;
    return {__builtin_amdgcn_perm(b[I / 2], a[I / 2], pick), __builtin_amdgcn_perm(d[I / 2], c[I / 2], pick)};
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
#if defined(TF_ON_HOST) || __has_builtin(__builtin_amdgcn_ballot_w64)
DEV bool any_lane(bool x) { return __builtin_amdgcn_ballot_w64(x) != 0; }
#else // HIPRTC 5.2
DEV bool any_lane(bool x)
{
    constexpr int not_equal = 33; // LLVM's ICMP_NE
    return __builtin_amdgcn_uicmp(static_cast<unsigned>(x), 0u, not_equal) != 0;
}
#endif
