// CDNA's matrix products (MFMA) and copies to LDS. Functions tell which row and column an accumulator belongs to.
#pragma once
#include "templates/isa/amd.h"

// ---- matrix products of a wave: result(i, j) += sum over k of a(i, k) * b(j, k), 16 x 16, over 64 bytes of k. A line is all k of one i of
// a, or of one j of b.

using accumulator = float __attribute__((ext_vector_type(4)));
using two_shorts = short __attribute__((ext_vector_type(2)));
using four_shorts = short __attribute__((ext_vector_type(4)));
using four_halves = _Float16 __attribute__((ext_vector_type(4)));
using four_floats = float __attribute__((ext_vector_type(4)));

// Lane l holds 16 of the 64 bytes of a(l % 16, ...) and of b(l % 16, ...), from byte 16 * (l / 16) on, and result(4 * (l / 16) + e, l % 16)
// as element e. Where an instruction takes fewer than 16 bytes, several are issued. They take elements of a and b in the same order, so
// only the order of summation over k changes.
template <class T> struct matrix;

#if TF_OPERAND_BYTES == 16
#if defined(TF_ON_HOST)
using matrix_bf16 = short; // not every host compiler knows __bf16
#else
using matrix_bf16 = __bf16;
#endif
template <> struct matrix<bf16> {
    using operand = matrix_bf16 __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
    }
};
template <> struct matrix<f16> {
    using operand = _Float16 __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
    }
};
#else
#if TF_OPERAND_BYTES == 4
template <> struct matrix<bf16> {
    using operand = short __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            const two_shorts x = {a[i], a[i + 1]}, y = {b[i], b[i + 1]};
            c = __builtin_amdgcn_mfma_f32_16x16x8bf16(x, y, c, 0, 0, 0);
        }
        return c;
    }
};
#else
template <> struct matrix<bf16> {
    using operand = short __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        const four_shorts a0 = {a[0], a[1], a[2], a[3]}, a1 = {a[4], a[5], a[6], a[7]};
        const four_shorts b0 = {b[0], b[1], b[2], b[3]}, b1 = {b[4], b[5], b[6], b[7]};
        c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a0, b0, c, 0, 0, 0);
        return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a1, b1, c, 0, 0, 0);
    }
};
#endif
template <> struct matrix<f16> {
    using operand = _Float16 __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        const four_halves a0 = {a[0], a[1], a[2], a[3]}, a1 = {a[4], a[5], a[6], a[7]};
        const four_halves b0 = {b[0], b[1], b[2], b[3]}, b1 = {b[4], b[5], b[6], b[7]};
        c = __builtin_amdgcn_mfma_f32_16x16x16f16(a0, b0, c, 0, 0, 0);
        return __builtin_amdgcn_mfma_f32_16x16x16f16(a1, b1, c, 0, 0, 0);
    }
};
#endif
template <> struct matrix<float> {
    using operand = four_floats;
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
#pragma unroll
        for (int i = 0; i < 4; i++) c = __builtin_amdgcn_mfma_f32_16x16x4f32(a[i], b[i], c, 0, 0, 0);
        return c;
    }
};

// A block is two adjacent products: 16 rows of A by 32 packed columns of B. B is the first operand and A the second, so that a lane has
// results of one row: 4 adjacent columns of either half of the 32. Line i of product j is column column_of(j, i) of the block; block n of a
// tile begins at the tile's column block_at(n).
struct fragment {
    static constexpr int columns = 32, products = 2, unit = 64 /* bytes of k per product */;
    struct block {
        accumulator sum[products];
    };
    DEV static int line() { return thread_index() % 16; }
    DEV static int part() { return thread_index() % 64 / 16; } // which 4 of a half's columns
    DEV static int block_at(int block) { return block * columns; }
    DEV static int column_of(int product, int line) { return product * 16 + line; }
    DEV static void clear(block &b) { b.sum[0] = b.sum[1] = accumulator{0, 0, 0, 0}; }
    DEV static vec<float, 4> low(const block &b) { return b.sum[0]; }
    DEV static vec<float, 4> high(const block &b) { return b.sum[1]; }
    DEV static float sum_over_parts(float x) // over the lanes with the same line()
    {
        x += lane_xor<64>(x, 16);
        return x + lane_xor<64>(x, 32);
    }
    // The swizzle of 16-byte pieces in LDS: piece p of a line lies at p ^ key. So the lines that one read touches, or one write of packed
    // columns, fall into different banks.
    DEV static int a_key(int row) { return row % 8; }
    DEV static int b_key(int column) { return column % 8; }
};

// ---- memory

template <class T> DEV typename matrix<T>::operand read_operand(lds_address line, int unit, int key) // this lane's part of a line
{
    return lds_read<typename matrix<T>::operand>(line + (unit * 4 + fragment::part() ^ key) * 16);
}

#if TF_COPIES_TO_LDS
using buffer = __amdgpu_buffer_rsrc_t;

// A buffer resource for `bytes` bytes from `base` on, which must be wave-uniform. Loads beyond its end return zero.
DEV buffer buffer_of(const void *base, long long bytes)
{
    const long long most = 0x7ffffff0;
    const int size = uniform(static_cast<int>(bytes < 0 ? 0 : bytes < most ? bytes : most));
    return __builtin_amdgcn_make_buffer_rsrc(const_cast<char *>(uniform(base)), 0, size, 0x00020000);
}
[[maybe_unused]] constexpr int beyond = 0x7ffffff8; // an offset beyond every buffer

// Copies 16 bytes per lane from buffer + offset + step to LDS at `to` + 16 * lane, asynchronously. `to` and `step` are wave-uniform.
// Shared: the data were stored by other workgroups of this launch, so the copy bypasses the chiplet's own caches.
template <bool Shared> DEV void copy_to_lds(lds_address to, buffer from, int offset, int step)
{
    constexpr int device_scope = 1 << 4; // sc1
    __builtin_amdgcn_raw_ptr_buffer_load_lds(from, reinterpret_cast<__attribute__((address_space(3))) void *>(to), 16, offset, step, 0,
                                             Shared ? device_scope : 0);
}
#endif

DEV void wait_memory() { __builtin_amdgcn_s_waitcnt(0x0f70); } // for global loads and copies to LDS
DEV void wait_lds() { __builtin_amdgcn_s_waitcnt(0xc07f); }

// Waves per SIMD. With two, a lane has 256 registers; for a program F that needs more, this is specialised to 1.
template <class F> constexpr int interleaved_waves = 2;
#define TF_INTERLEAVED_OCCUPANCY(...) __attribute__((amdgpu_waves_per_eu(interleaved_waves<__VA_ARGS__>, interleaved_waves<__VA_ARGS__>)))
