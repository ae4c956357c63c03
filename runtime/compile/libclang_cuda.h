// Declarations of functions that NVRTC has built in and that clang only gets from a CUDA toolkit. With them libclang can check emitted
// source for NVIDIA; as they have no bodies, nothing can be compiled with them.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __CUDACC_RTC__ 1
#define __CUDACC__ 1

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

__device__ void __syncthreads();
__device__ int __syncthreads_or(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_count(int);
__device__ void __syncwarp(unsigned mask = 0xffffffff);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ void __threadfence_system();
__device__ void __nanosleep(unsigned);
__device__ void __trap();
__device__ unsigned __activemask();
__device__ unsigned __ballot_sync(unsigned, int);
__device__ int __all_sync(unsigned, int);
__device__ int __any_sync(unsigned, int);
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __ldg(const T *);
template <class T> __device__ T __ldcg(const T *);
template <class T, class V> __device__ T atomicAdd(T *, V);
template <class T, class V> __device__ T atomicMax(T *, V);
template <class T, class V> __device__ T atomicMin(T *, V);
template <class T, class V> __device__ T atomicExch(T *, V);
template <class T, class V, class W> __device__ T atomicCAS(T *, V, W);
__device__ unsigned long __cvta_generic_to_shared(const void *);
__device__ unsigned long __cvta_generic_to_global(const void *);
__device__ long long clock64();
__device__ int clock();
__device__ int printf(const char *, ...);

__device__ float fmaf(float, float, float), fabsf(float), fmaxf(float, float), fminf(float, float), sqrtf(float), rsqrtf(float),
    expf(float), exp2f(float), expm1f(float), logf(float), log2f(float), log1pf(float), tanhf(float), erff(float), sinf(float), cosf(float),
    powf(float, float), ceilf(float), floorf(float), rintf(float), truncf(float), copysignf(float, float), __expf(float), __exp2f(float),
    __logf(float), __log2f(float), __sinf(float), __cosf(float), __fdividef(float, float), __frcp_rn(float), __frsqrt_rn(float),
    __fsqrt_rn(float), __fdiv_rn(float, float), __fmul_rn(float, float), __fadd_rn(float, float), __uint_as_float(unsigned),
    __int_as_float(int);
__device__ int __float_as_int(float), __clz(int), __ffs(int), __popc(unsigned), __float2int_rn(float), __float2int_rz(float);
__device__ unsigned __float_as_uint(float), __umulhi(unsigned, unsigned), __byte_perm(unsigned, unsigned, unsigned),
    __float2uint_rn(float);
__device__ void *__cvta_global_to_generic(unsigned long);
__device__ int __mulhi(int, int), min(int, int), max(int, int), abs(int);
__device__ double fma(double, double, double), sqrt(double), exp(double), log(double), sin(double), cos(double), pow(double, double),
    fabs(double);
