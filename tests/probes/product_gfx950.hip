// In: PROBE_N, PROBE_K, PROBE_KIND (and PROBE_F for two phases) as macros. Out: one kernel, `probe`, of the 8-wave product for gfx950
// with the spec structs of product_spec.h. Refuses K and F that are no multiple of 8.
#define TF_GFX 0x950
#define TF_WAVE 64
#include "templates/device.h"
#include "templates/isa/simt.h"
#include "templates/isa/mfma.h"
#include "templates/frame.h"
#include "templates/frame_pump.h"
#include "templates/gemm_mfma.h"

DEV float probe_exp(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
#include "tests/probes/product_spec.h"

template <bool Written> struct cdna4 {
    static constexpr int granule = 4, tile_m = 256, tile_n = 256, tile_k = 64, threads = 512, slots = 2, group = 8;
    static constexpr bool a_written = Written;
    struct maps {};
};

#if PROBE_KIND == 0
using phases = one_phase<gemm_mfma<product_spec<cdna4<false>, PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 1
using phases = one_phase<gemm_mfma<pair_spec<cdna4<false>, PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 2
using phases = one_phase<gemm_mfma<residual_spec<cdna4<false>, PROBE_N, PROBE_K>>>;
#else
using first = product_spec<cdna4<false>, PROBE_F, PROBE_K>;
using second = product_spec<cdna4<true>, PROBE_N, PROBE_F>;
using phases = two_phases<gemm_mfma<first>, gemm_mfma<second>, first::args, second::args>;
#endif
TF_KERNEL_PUMP(probe, phases)
