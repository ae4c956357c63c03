// In: operands in the layout of isa/mfma.h, 16 bytes per lane. Out: CDNA's 32 x 32 products for attention. Refuses f32.
#pragma once
#include "templates/isa/mfma.h"

using wide_accumulator = float __attribute__((ext_vector_type(16)));

// result(i, j) += sum over 32 bytes of k of a(i, k) * b(j, k). Lane l holds a(l % 32, ...) and b(l % 32, ...), piece l / 32 of the two, and
// result(8 * (r / 4) + 4 * (l / 32) + r % 4, l % 32). So of every 16 rows of a result a lane has 8, in the order of wide::wide_line(): the
// result can be an operand of a product that sums over these rows if the other operand has the same order.
template <class T> struct wide_matrix;
struct wide {
    static constexpr int lines = 32, registers = 16, parts = 1; // parts: 16-byte pieces of an operand in a lane
    DEV static int wide_line(int l) { return l % 16 / 8 * 4 + l % 8 / 4 * 8 + l % 4 + l / 16 * 16; } // its own inverse
    DEV static int line_read(int lane) { return lane; }                   // which line a lane has of an operand loaded from memory
    static constexpr int result_line(int r) { return r / 4 * 8 + r % 4; } // plus 4 for the wave's upper half
    static constexpr int half_step = 4;
};

#if TF_OPERAND_BYTES == 16
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
#if TF_OPERAND_BYTES == 4
template <> struct wide_matrix<bf16> {
    using operand = matrix<bf16>::operand;
    DEV static wide_accumulator multiply(operand a, operand b, wide_accumulator c)
    {
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            const two_shorts x = {a[i], a[i + 1]}, y = {b[i], b[i + 1]};
            c = __builtin_amdgcn_mfma_f32_32x32x4bf16(x, y, c, 0, 0, 0);
        }
        return c;
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
#endif
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

// The operand of a lane's 16 bytes of weights; it needs nothing from the wave's other half.
template <class T> DEV typename wide_matrix<T>::operand weights_operand(sixteen_bytes own)
{
    return __builtin_bit_cast(typename wide_matrix<T>::operand, own);
}
