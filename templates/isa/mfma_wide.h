// CDNA's 32 x 32 products for attention, on 16-bit operands with 16 bytes per lane as in isa/mfma.h.
#pragma once
#include "templates/isa/mfma.h"

using wide_accumulator = float __attribute__((ext_vector_type(16)));

// result(i, j) += sum over 32 bytes of k of a(i, k) * b(j, k). Lane l holds half l / 32 (16 bytes) of a(l % 32, ...) and b(l % 32, ...),
// and result(8 * (r / 4) + 4 * (l / 32) + r % 4, l % 32) as register r. So of every 16 rows of a result a lane has 8, in the order of
// wide::wide_line(). The result can be an operand of a product that sums over these rows, if the other operand has the same order.
template <class T> struct wide_matrix;
struct wide {
    static constexpr int lines = 32, registers = 16, parts = 1; // parts: 16-byte pieces that a lane holds of an operand
    DEV static int wide_line(int l) { return l % 16 / 8 * 4 + l % 8 / 4 * 8 + l % 4 + l / 16 * 16; } // its own inverse
    DEV static int line_read(int lane) { return lane; }                   // which line of an operand in memory a lane loads
    static constexpr int result_line(int r) { return r / 4 * 8 + r % 4; } // row of register r; half_step more in the wave's upper half
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

// Makes an operand from 16 bytes of softmax weights per lane, all of which are the lane's own.
template <class T> DEV typename wide_matrix<T>::operand weights_operand(sixteen_bytes own)
{
    return __builtin_bit_cast(typename wide_matrix<T>::operand, own);
}
