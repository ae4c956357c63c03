// RDNA's 16 x 16 products for attention, with the same names as isa/mfma_wide.h; operands are as in isa/wmma.h.
#pragma once
#include "templates/isa/wmma.h"

using wide_accumulator = accumulator;

// result(i, j) += sum over 32 bytes of k of a(i, k) * b(j, k). Lane l holds line l % 16 of b and line line_read(l % 16) of a, on RDNA 3 all
// 32 bytes, on RDNA 4 half l / 16. With a's lines in this order, register r of the lane is result(8 * (l / 16) + r, l % 16).
template <class T> struct wide_matrix {
    using operand = typename matrix<T>::operand;
    DEV static accumulator multiply(operand a, operand b, accumulator c) { return matrix<T>::multiply(a, b, c); }
};
struct wide {
    static constexpr int lines = 16, registers = 8, parts = operand_pieces;
    DEV static int wide_line(int l) { return l; }
    DEV static int line_read(int lane) { return TF_OPERAND_BYTES == 16 ? lane : lane % 2 * 8 + lane / 2; }
    static constexpr int result_line(int r) { return r; }
    static constexpr int half_step = 8;
};

// Makes an operand from 16 bytes of softmax weights per lane. On RDNA 3 an operand has 32 bytes per lane: the lane's own and those of the
// lane 16 away.
template <class T> DEV typename wide_matrix<T>::operand weights_operand(sixteen_bytes own)
{
#if TF_OPERAND_BYTES == 16
    return __builtin_bit_cast(typename wide_matrix<T>::operand, own);
#else
    struct halves {
        sixteen_bytes piece[2];
    } both;
    const bool high = thread_index() % 32 / 16;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int word = static_cast<int>(own[i]); // from the same lane of the other half
        const unsigned other = __builtin_amdgcn_permlanex16(word, word, 0x76543210, static_cast<int>(0xfedcba98), false, false);
        both.piece[0][i] = high ? other : own[i];
        both.piece[1][i] = high ? own[i] : other;
    }
    return __builtin_bit_cast(typename wide_matrix<T>::operand, both);
#endif
}
