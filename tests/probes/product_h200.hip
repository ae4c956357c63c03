// In: PROBE_N, PROBE_K, PROBE_KIND (and PROBE_F for two phases) as macros. Out: one kernel, `probe`, of the warp-specialised product
// with spec structs as the generator writes them, and helpers of probe_h200.c: fill, reference. Refuses nothing.
#define TF_WAVE 32
#include "templates/device.h"
#include "templates/ops.h"
#include "templates/isa/simt.h"
#include "templates/isa/wgmma.h"
#include "templates/frame.h"
#include "templates/frame_ws.h"
#include "templates/gemm_ws.h"

DEV float probe_exp(float x) { return __expf(x); }
#include "tests/probes/product_spec.h"

#ifndef PROBE_STAGED
#define PROBE_STAGED true
#endif
#ifndef PROBE_GROUP
#define PROBE_GROUP 16
#endif

struct hopper {
    static constexpr int granule = 8, tile_m = 128, tile_n = 256, tile_k = 64, threads = 384, slots = 4, group = PROBE_GROUP;
    static constexpr bool staged = PROBE_STAGED;
    using type = bf16;
    struct maps {
        tensor_map a_tensor, b_tensor;
    };
    DEV static const tensor_map &a_map(const maps &p) { return p.a_tensor; }
    DEV static const tensor_map &b_map(const maps &p) { return p.b_tensor; }
};

#if PROBE_KIND == 0
using phases = one_phase<gemm_ws<product_spec<hopper, PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 1
using phases = one_phase<gemm_ws<pair_spec<hopper, PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 2
using phases = one_phase<gemm_ws<residual_spec<hopper, PROBE_N, PROBE_K>>>;
#else
using first = product_spec<hopper, PROBE_F, PROBE_K>;
using second = product_spec<hopper, PROBE_N, PROBE_F>;
using phases = two_phases<gemm_ws<first>, gemm_ws<second>, first::args, second::args>;
#endif
TF_KERNEL_WS(probe, phases)

// Normal data in columns below `columns` of rows below `rows`; zero elsewhere. Box-Muller of a mixed counter.
extern "C" __global__ void fill(bf16 *to, int rows, int columns, int stride, long long count, unsigned seed, float deviation)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
        unsigned long long z = i * 0x9e3779b97f4a7c15ull + seed * 0xd1b54a32d192ed03ull + 1;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        z ^= z >> 31;
        const float u = (static_cast<unsigned>(z) + 1.0f) * 2.3283064e-10f, v = static_cast<unsigned>(z >> 32) * 2.3283064e-10f;
        const float x = sqrtf(-2 * logf(fminf(u, 1.0f))) * cospif(2 * v) * deviation;
        vec<float, 1> one;
        one[0] = i / stride < rows && i % stride < columns ? x : 0;
        store<1>(to + i, 1, one);
    }
}

// One warp an element: out = {sum of products, sum of their magnitudes} in double, for elements where[2 i] (row) and where[2 i + 1].
extern "C" __global__ void reference(const bf16 *x, int x_stride, const bf16 *w, int w_stride, int length, const int *where, int count,
                                     double *out)
{
    const int i = blockIdx.x * 8 + threadIdx.x / 32;
    if (i >= count)
        return;
    double sum = 0, size = 0;
    for (int k = threadIdx.x % 32; k < length; k += 32) {
        const double t = static_cast<double>(load<1>(x + static_cast<long long>(where[2 * i]) * x_stride + k, 1)[0]) *
                         load<1>(w + static_cast<long long>(where[2 * i + 1]) * w_stride + k, 1)[0];
        sum += t;
        size += fabs(t);
    }
    for (int s = 16; s; s /= 2) {
        sum += __shfl_xor_sync(~0u, sum, s);
        size += __shfl_xor_sync(~0u, size, s);
    }
    if (threadIdx.x % 32 == 0) {
        out[2 * i] = sum;
        out[2 * i + 1] = size;
    }
}
