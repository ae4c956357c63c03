// In: PROBE_N, PROBE_K, PROBE_KIND (and PROBE_F for two phases) as macros. Out: one kernel, `probe`, of the warp-specialised product
// with spec structs as the generator writes them, and helpers of probe_h200.c: fill, reference. Refuses nothing.
#include "templates/device.h"
#include "templates/isa/wgmma.h"
#include "templates/frame.h"
#include "templates/frame_ws.h"
#include "templates/gemm_ws.h"

#ifndef PROBE_STAGED
#define PROBE_STAGED true
#endif
#ifndef PROBE_GROUP
#define PROBE_GROUP 16
#endif

constexpr int round_up(int n, int to) { return (n + to - 1) / to * to; }
// The widest copy that rows of n bf16 allow.
constexpr int row_copy(int n) { return n % 8 == 0 ? 16 : n % 4 == 0 ? 8 : n % 2 == 0 ? 4 : 0; }

template <int Columns, int Length> struct product_spec {
    static constexpr int N = Columns, K = Length, granule = 8, packed_n = round_up(N, 16), packed_k = round_up(K, 16);
    static constexpr int tile_m = 128, tile_n = 256, tile_k = 64, threads = 384, slots = 4, group = PROBE_GROUP;
    static constexpr bool row_sums = false, staged = PROBE_STAGED, a_plain = K % 8 == 0, b_plain = true;
    static constexpr int a_copy = row_copy(K);
    using a_type = bf16;
    using b_type = bf16;
    struct args {
        tensor_map a_map, b_map;
        const bf16 *x;
        bf16 *y;
        int M;
    };
    struct context {};
    DEV static int rows(const args &p) { return p.M; }
    DEV static int batches(const args &) { return 1; }
    DEV static const tensor_map &a_map(const args &p) { return p.a_map; }
    DEV static const tensor_map &b_map(const args &p) { return p.b_map; }
    DEV static const bf16 *a_row(const args &p, int, int row) { return p.x + static_cast<long long>(row) * K; }
    template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)
    {
        return load<V>(a_row(p, batch, row) + k, left);
    }
    DEV static context begin(const args &, int, int) { return {}; }
    template <int W> DEV static void put(const args &p, int row, int col, vec<float, W> v)
    {
        bf16 *to = p.y + static_cast<long long>(row) * N + col;
        if constexpr (N % W == 0)
            store_aligned<W>(to, v);
        else
            store<W>(to, N - col, v);
    }
    template <int W>
    DEV static void epilogue(const args &p, const context &, int, int row, int n, vec<float, W> lo, vec<float, W> hi, float &)
    {
        if (n < N)
            put<W>(p, row, n, lo);
        if (n + granule < N)
            put<W>(p, row, n + granule, hi);
    }
    DEV static void finish_row(const args &, int, int, int, float) {}
};

// Gate and up in one packed weight, blocks of 8 columns in turn: y = silu(gate) * up.
template <int Columns, int Length> struct pair_spec : product_spec<2 * Columns, Length> {
    using base = product_spec<2 * Columns, Length>;
    static constexpr int N = Columns;
    template <int W>
    DEV static void epilogue(const typename base::args &p, const typename base::context &, int, int row, int n, vec<float, W> lo,
                             vec<float, W> hi, float &)
    {
        const int col = n / 16 * 8 + n % 8;
        if (col >= N)
            return;
        vec<float, W> v;
#pragma unroll
        for (int i = 0; i < W; i++)
            v[i] = lo[i] / (1 + __expf(-lo[i])) * hi[i];
        bf16 *to = p.y + static_cast<long long>(row) * N + col;
        if constexpr (N % W == 0)
            store_aligned<W>(to, v);
        else
            store<W>(to, N - col, v);
    }
};

// y = scale[row] * product + residual, and the sum of squares of each row's part in a column tile.
template <int Columns, int Length> struct residual_spec : product_spec<Columns, Length> {
    using base = product_spec<Columns, Length>;
    static constexpr int N = Columns, granule = 8;
    static constexpr bool row_sums = true;
    struct args : base::args {
        const bf16 *residual;
        const float *scale;
        float *sums; // [rows, column tiles]
    };
    struct context {
        float scale;
    };
    DEV static context begin(const args &p, int, int row) { return {p.scale[row]}; }
    template <int W> DEV static void add(const args &p, const context &c, int row, int col, vec<float, W> v, float &sum)
    {
        if (col >= N)
            return;
        const vec<float, W> r = load<W>(p.residual + static_cast<long long>(row) * N + col, N - col);
#pragma unroll
        for (int i = 0; i < W; i++) {
            v[i] = v[i] * c.scale + r[i];
            sum += col + i < N ? v[i] * v[i] : 0;
        }
        base::template put<W>(p, row, col, v);
    }
    template <int W>
    DEV static void epilogue(const args &p, const context &c, int, int row, int n, vec<float, W> lo, vec<float, W> hi, float &sum)
    {
        add<W>(p, c, row, n, lo, sum);
        add<W>(p, c, row, n + granule, hi, sum);
    }
    DEV static void finish_row(const args &p, int, int row, int tile, float sum)
    {
        p.sums[row * ((N + 255) / 256) + tile] = sum;
    }
};

// h = x * transposed(w0), y = h * transposed(w1) in one launch: a tile of y waits for its rows of h.
template <class S0, class S1> struct two_phases {
    using first = gemm_ws<S0>;
    using second = gemm_ws<S1>;
    struct args {
        typename S0::args p0;
        typename S1::args p1;
        unsigned *words;
    };
    static constexpr int phases = 2, slots = first::slots, slot_bytes = first::slot_bytes, scratch_bytes = first::scratch_bytes;
    static constexpr bool copies = first::copies || second::copies;
    DEV static int tiles(const args &p, int phase) { return phase ? second::tiles(p.p1) : first::tiles(p.p0); }
    template <class Do> DEV static void with(const args &p, int phase, Do what)
    {
        if (phase == 0)
            what(first(), p.p0);
        else
            what(second(), p.p1);
    }
    DEV static unsigned *counters(const args &p) { return p.words; }
    DEV static int counter_count(const args &p) { return first::row_tiles(p.p0); }
    DEV static dependency needs(const args &p, int phase, int index)
    {
        return phase ? dependency{second::at(p.p1, index).row, first::column_tiles} : dependency{0, 0};
    }
    DEV static int posts(const args &p, int phase, int index) { return phase ? -1 : first::at(p.p0, index).row; }
};

#if PROBE_KIND == 0
using phases = one_phase<gemm_ws<product_spec<PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 1
using phases = one_phase<gemm_ws<pair_spec<PROBE_N, PROBE_K>>>;
#elif PROBE_KIND == 2
using phases = one_phase<gemm_ws<residual_spec<PROBE_N, PROBE_K>>>;
#else
using phases = two_phases<product_spec<PROBE_F, PROBE_K>, product_spec<PROBE_N, PROBE_F>>;
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
