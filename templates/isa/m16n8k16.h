// mma.sync.m16n8k16 (from sm_80 on) for 16-bit operands: a 16 x 16 matrix by a 16 x 8 matrix. A lane has rows lane / 4 and lane / 4 + 8 of
// the results, columns 2 * (lane % 4) and the next one. Operand layouts are in the PTX ISA ("Matrix Fragments for mma.m16n8k16"). The host
// engine has no mma_add(): its lanes cannot see each other's registers, so callers compute the products in their own way there.
#pragma once
#include "templates/isa/simt.h"

#if !defined(TF_ON_HOST)
#define TF_MMA(T, kind)                                                                                                                   \
    DEV void mma_add(T, float(&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)                     \
    {                                                                                                                                     \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." kind "." kind ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                                                      \
            : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                                                      \
    }
TF_MMA(bf16, "bf16")
TF_MMA(f16, "f16")
#undef TF_MMA
#endif
