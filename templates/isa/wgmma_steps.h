// wgmma<T, N> of 16-bit operands for those multiples of 8 from 16 to 248 that isa/wgmma.h lacks. Products with swapped operands need them
// (gemm/gemm_swap_ab.h), since there N is the number of tokens. The host engine has one template for all N.
#pragma once
#include "templates/isa/wgmma.h"

#if !defined(TF_ON_HOST)
#define TF_WGMMA_STEPS(T, KIND) \
    TF_WGMMA(T, 16, 8, "%8", "%9", "%10", KIND, TF_MAJOR_16("%11", "%12")) \
    TF_WGMMA(T, 24, 12, "%12", "%13", "%14", KIND, TF_MAJOR_16("%15", "%16")) \
    TF_WGMMA(T, 32, 16, "%16", "%17", "%18", KIND, TF_MAJOR_16("%19", "%20")) \
    TF_WGMMA(T, 40, 20, "%20", "%21", "%22", KIND, TF_MAJOR_16("%23", "%24")) \
    TF_WGMMA(T, 48, 24, "%24", "%25", "%26", KIND, TF_MAJOR_16("%27", "%28")) \
    TF_WGMMA(T, 56, 28, "%28", "%29", "%30", KIND, TF_MAJOR_16("%31", "%32")) \
    TF_WGMMA(T, 72, 36, "%36", "%37", "%38", KIND, TF_MAJOR_16("%39", "%40")) \
    TF_WGMMA(T, 80, 40, "%40", "%41", "%42", KIND, TF_MAJOR_16("%43", "%44")) \
    TF_WGMMA(T, 88, 44, "%44", "%45", "%46", KIND, TF_MAJOR_16("%47", "%48")) \
    TF_WGMMA(T, 104, 52, "%52", "%53", "%54", KIND, TF_MAJOR_16("%55", "%56")) \
    TF_WGMMA(T, 112, 56, "%56", "%57", "%58", KIND, TF_MAJOR_16("%59", "%60")) \
    TF_WGMMA(T, 120, 60, "%60", "%61", "%62", KIND, TF_MAJOR_16("%63", "%64")) \
    TF_WGMMA(T, 136, 68, "%68", "%69", "%70", KIND, TF_MAJOR_16("%71", "%72")) \
    TF_WGMMA(T, 144, 72, "%72", "%73", "%74", KIND, TF_MAJOR_16("%75", "%76")) \
    TF_WGMMA(T, 152, 76, "%76", "%77", "%78", KIND, TF_MAJOR_16("%79", "%80")) \
    TF_WGMMA(T, 168, 84, "%84", "%85", "%86", KIND, TF_MAJOR_16("%87", "%88")) \
    TF_WGMMA(T, 176, 88, "%88", "%89", "%90", KIND, TF_MAJOR_16("%91", "%92")) \
    TF_WGMMA(T, 184, 92, "%92", "%93", "%94", KIND, TF_MAJOR_16("%95", "%96")) \
    TF_WGMMA(T, 200, 100, "%100", "%101", "%102", KIND, TF_MAJOR_16("%103", "%104")) \
    TF_WGMMA(T, 208, 104, "%104", "%105", "%106", KIND, TF_MAJOR_16("%107", "%108")) \
    TF_WGMMA(T, 216, 108, "%108", "%109", "%110", KIND, TF_MAJOR_16("%111", "%112")) \
    TF_WGMMA(T, 232, 116, "%116", "%117", "%118", KIND, TF_MAJOR_16("%119", "%120")) \
    TF_WGMMA(T, 240, 120, "%120", "%121", "%122", KIND, TF_MAJOR_16("%123", "%124")) \
    TF_WGMMA(T, 248, 124, "%124", "%125", "%126", KIND, TF_MAJOR_16("%127", "%128"))

TF_WGMMA_STEPS(bf16, "k16.f32.bf16.bf16")
TF_WGMMA_STEPS(f16, "k16.f32.f16.f16")
#undef TF_WGMMA_STEPS
#endif
