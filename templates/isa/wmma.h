// RDNA 3's and 4's matrix products (WMMA, wave32) for 16-bit operands, with the same names as isa/mfma.h. WMMA has no f32 operands.
#pragma once
#include "templates/isa/amd.h"

using accumulator = float __attribute__((ext_vector_type(8)));

// ---- matrix products of a wave: result(i, j) += sum over k of a(i, k) * b(j, k), 16 x 16, over 32 bytes of k. A line is all k of one i of
// a, or of one j of b. Lane l has line l % 16 of a and of b. On RDNA 3 it has all 32 bytes of the lines, and element e is
// result(2 * e + l / 16, l % 16). On RDNA 4 it has half l / 16 of the lines' bytes, and element e is result(8 * (l / 16) + e, l % 16).
template <class T> struct matrix;
constexpr int operand_pieces = TF_OPERAND_BYTES / 16;
#if TF_OPERAND_BYTES == 16
#define TF_WMMA(type) __builtin_amdgcn_wmma_f32_16x16x16_##type##_w32_gfx12
#else
#define TF_WMMA(type) __builtin_amdgcn_wmma_f32_16x16x16_##type##_w32
#endif
template <> struct matrix<bf16> {
    using operand = short __attribute__((ext_vector_type(8 * operand_pieces)));
    DEV static accumulator multiply(operand a, operand b, accumulator c) { return TF_WMMA(bf16)(a, b, c); }
};
template <> struct matrix<f16> {
    using operand = _Float16 __attribute__((ext_vector_type(8 * operand_pieces)));
    DEV static accumulator multiply(operand a, operand b, accumulator c) { return TF_WMMA(f16)(a, b, c); }
};
#undef TF_WMMA

// A block is one product of 16 rows of A by 16 packed columns of B, 8 from either half of 32. B is the first operand and A the second, so
// that a lane has results of one row: 4 adjacent columns of either half. Line i is column column_of(0, i) of the block; block n of a tile
// begins at the tile's column block_at(n).
struct fragment {
    static constexpr int columns = 16, products = 1, unit = 32;
    DEV static int block_at(int block) { return block / 2 * 32 + block % 2 * 8; }
    struct block {
        accumulator sum[products];
    };
    DEV static int line() { return thread_index() % 16; }
    DEV static int part() { return thread_index() % 32 / 16; }
#if TF_OPERAND_BYTES == 16
    DEV static int column_of(int, int line) { return line / 8 * 4 + line % 4 + line / 4 % 2 * 16; }
#else
    DEV static int column_of(int, int line) { return line % 2 * 4 + line / 2 % 4 + line / 8 * 16; }
#endif
    DEV static int a_key(int row) { return row % 8; }
    DEV static int b_key(int column) { return column % 8 ^ column / 16 % 2 * 4; }
    DEV static void clear(block &b) { b.sum[0] = accumulator{0, 0, 0, 0, 0, 0, 0, 0}; }
    DEV static vec<float, 4> low(const block &b) { return part_of<0>(b.sum[0]); }
    DEV static vec<float, 4> high(const block &b) { return part_of<4>(b.sum[0]); }
    DEV static float sum_over_parts(float x) { return x + lane_xor<32>(x, 16); }

  private:
    template <int First> DEV static vec<float, 4> part_of(accumulator x) { return {x[First], x[First + 1], x[First + 2], x[First + 3]}; }
};

template <class T> DEV typename matrix<T>::operand read_operand(lds_address line, int unit, int key) // this lane's part of a line
{
#if TF_OPERAND_BYTES == 16
    return lds_read<typename matrix<T>::operand>(line + (unit * 2 + fragment::part() ^ key) * 16);
#else
    struct halves {
        sixteen_bytes piece[2];
    };
    const halves both = {
        {lds_read<sixteen_bytes>(line + (unit * 2 ^ key) * 16), lds_read<sixteen_bytes>(line + (unit * 2 + 1 ^ key) * 16)}};
    return __builtin_bit_cast(typename matrix<T>::operand, both);
#endif
}

DEV void wait_lds() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); }

#define TF_INTERLEAVED_OCCUPANCY(...)
