// C = A * B, f32, in two geometries from one template: the GPU's, and few fat threads for a CPU.
template <class T, int N> struct vector_of { typedef T type __attribute__((vector_size(N * sizeof(T)))); };
struct gemm_args { const float *a, *b; float *c; int m, n, k; };

struct gpu { static constexpr int tile_m = 128, tile_n = 128, tile_k = 16, thread_m = 8, thread_n = 8; };
struct cpu { static constexpr int tile_m = 128, tile_n = 128, tile_k = 64, thread_m = 8, thread_n = 32; };
struct thin { static constexpr int tile_m = 16, tile_n = 16, tile_k = 16, thread_m = 1, thread_n = 1; };

template <class S> struct gemm {
    static constexpr int across = S::tile_n / S::thread_n, threads = across * (S::tile_m / S::thread_m);
    typedef typename vector_of<float, S::thread_n>::type row;
    struct shared { float a[S::tile_k][S::tile_m]; alignas(128) float b[S::tile_k][S::tile_n]; };

    static __forceinline__ void load(const gemm_args &p, shared &sh, int row0, int col0, int k0)
    {
        for (int e = threadIdx.x; e < S::tile_m * S::tile_k; e += threads)
            sh.a[e % S::tile_k][e / S::tile_k] = p.a[(row0 + e / S::tile_k) * p.k + k0 + e % S::tile_k];
        for (int e = threadIdx.x; e < S::tile_k * S::tile_n; e += threads)
            sh.b[e / S::tile_n][e % S::tile_n] = p.b[(k0 + e / S::tile_n) * p.n + col0 + e % S::tile_n];
    }
    static __forceinline__ void run(const gemm_args &p)
    {
        TF_SHARED_STRUCT(shared, sh);
        const int x = threadIdx.x % across * S::thread_n, y = threadIdx.x / across * S::thread_m;
        const int row0 = blockIdx.y * S::tile_m, col0 = blockIdx.x * S::tile_n;
        row sum[S::thread_m] = {};
        for (int k0 = 0; k0 < p.k; k0 += S::tile_k) {
            load(p, sh, row0, col0, k0);
            __syncthreads();
            for (int k = 0; k < S::tile_k; k++) {
                const row b = *(const row *)&sh.b[k][x];
                for (int i = 0; i < S::thread_m; i++) sum[i] += sh.a[k][y + i] * b;
            }
            __syncthreads();
        }
        typedef float loose __attribute__((vector_size(S::thread_n * 4), aligned(4)));
        for (int i = 0; i < S::thread_m; i++) *(loose *)&p.c[(row0 + y + i) * p.n + col0 + x] = sum[i];
    }
};
extern "C" __global__ void gemm_gpu(const gemm_args p) { gemm<gpu>::run(p); }
TF_EXPORT(gemm_gpu)
extern "C" __global__ void gemm_cpu(const gemm_args p) { gemm<cpu>::run(p); }
TF_EXPORT(gemm_cpu)
extern "C" __global__ void gemm_thin(const gemm_args p) { gemm<thin>::run(p); }
TF_EXPORT(gemm_thin)

// bf16 in, f32 out, for gfx90a and later: 4 waves of 64, each one 32x32 tile by v_mfma_f32_32x32x8_bf16. B is transposed.
typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
struct mfma_args { const short *a, *b; float *c; int n, k; };
struct mfma_shared { short a[64][36], b[64][36]; };
extern "C" __global__ void gemm_mfma(const mfma_args p)
{
    TF_SHARED_STRUCT(mfma_shared, sh);
    const int t = __builtin_amdgcn_workitem_id_x(), lane = t & 63, wave = t >> 6, y = (wave >> 1) * 32, x = (wave & 1) * 32;
    const int row0 = __builtin_amdgcn_workgroup_id_y() * 64, col0 = __builtin_amdgcn_workgroup_id_x() * 64;
    f32x16 sum = 0.f;
    for (int k0 = 0; k0 < p.k; k0 += 32) {
        for (int e = t; e < 64 * 8; e += 256) {
            *(bf16x4 *)&sh.a[e / 8][e % 8 * 4] = *(const bf16x4 *)&p.a[(row0 + e / 8) * p.k + k0 + e % 8 * 4];
            *(bf16x4 *)&sh.b[e / 8][e % 8 * 4] = *(const bf16x4 *)&p.b[(col0 + e / 8) * p.k + k0 + e % 8 * 4];
        }
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        for (int k = 4 * (lane >> 5); k < 32; k += 8)
            sum = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(*(const bf16x4 *)&sh.a[y + (lane & 31)][k],
                                                           *(const bf16x4 *)&sh.b[x + (lane & 31)][k], sum, 0, 0, 0);
        __builtin_amdgcn_s_barrier();
    }
    for (int r = 0; r < 16; r++) p.c[(row0 + y + 8 * (r / 4) + 4 * (lane >> 5) + r % 4) * p.n + col0 + x + (lane & 31)] = sum[r];
}
TF_EXPORT(gemm_mfma)
