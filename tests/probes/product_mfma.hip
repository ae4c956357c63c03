// In: PROBE_N, PROBE_K, PROBE_M and PROBE_COLUMNS (of a tile), PROBE_THREADS, PROBE_SLOTS, PROBE_TYPE, PROBE_KIND (and PROBE_F for two
// phases) as macros, and the macros of a CDNA or RDNA target. Out: one kernel, `probe`, of the product on matrix units with the spec
// structs of product_spec.h.
#define TF_TRACED(...) // untraced sources have no tracing statements (templates/frame/trace.h)
#include "templates/base/device.h"
#include "templates/base/ops.h"
#include "templates/isa/simt.h"
#include "templates/base/sums.h"
#include "templates/isa/amd.h"
#if TF_WAVE == 32
#include "templates/isa/wmma.h"
#else
#include "templates/isa/mfma.h"
#endif
#include "templates/frame/frame.h"
#include "templates/frame/frame_interleaved.h"
#include "templates/frame/chiplets.h"
#include "templates/gemm/pieces.h"
#include "templates/gemm/gemm_mfma.h"

DEV float probe_exp(float x) { return op_exp(x); }
#include "tests/probes/product_spec.h"

template <bool Written> struct tiled {
    static constexpr int granule = 16, tile_m = PROBE_M, tile_n = PROBE_COLUMNS, tile_k = 128 / sizeof(PROBE_TYPE), threads = PROBE_THREADS,
                         group_m = 8;
    static constexpr int chiplets = 8, chunk = 3;
    static constexpr int stages = PROBE_SLOTS;
    static constexpr bool a_written = Written;
    using type = PROBE_TYPE;
    struct maps {};
};

#if PROBE_KIND == 0
using phases = one_phase<gemm_mfma<product_spec<tiled<false>, PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 1
using phases = one_phase<gemm_mfma<pair_spec<tiled<false>, PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 2
using phases = one_phase<gemm_mfma<residual_spec<tiled<false>, PROBE_N, PROBE_K>>>;
#else
using first = product_spec<tiled<false>, PROBE_F, PROBE_K>;
using second = product_spec<tiled<true>, PROBE_N, PROBE_F>;
using phases = two_phases<gemm_mfma<first>, gemm_mfma<second>, first::args, second::args>;
#endif
TF_KERNEL_INTERLEAVED(probe, phases)
