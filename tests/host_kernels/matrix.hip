// A kernel for each matrix instruction: lane i loads vector i of each operand and stores vector i of the results.
struct matrix_args { const void *a, *b; const float *c; float *d; };
template <class V> static __device__ __forceinline__ V operand(const void *p) { return ((const V *)p)[threadIdx.x]; }
typedef short s16x2 __attribute__((ext_vector_type(2)));
typedef short s16x4 __attribute__((ext_vector_type(4)));
typedef short s16x8 __attribute__((ext_vector_type(8)));
typedef short s16x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
#define MATRIX(name, builtin, A, D, ...)                                                                                       \
    extern "C" __global__ void name(const matrix_args p)                                                                       \
    {                                                                                                                          \
        ((D *)p.d)[threadIdx.x] = builtin(operand<A>(p.a), operand<A>(p.b), operand<D>(p.c) __VA_ARGS__);                      \
    }                                                                                                                          \
    TF_EXPORT(name)
#define MFMA(name, builtin, A, D) MATRIX(name, __builtin_amdgcn_mfma_f32_##builtin, A, D, , 0, 0, 0)
MFMA(mfma_32x32x8_bf16, 32x32x8bf16_1k, s16x4, f32x16)
MFMA(mfma_16x16x16_bf16, 16x16x16bf16_1k, s16x4, f32x4)
MFMA(mfma_32x32x4_bf16, 32x32x4bf16, s16x2, f32x16)
MFMA(mfma_16x16x8_bf16, 16x16x8bf16, s16x2, f32x4)
MFMA(mfma_32x32x8_f16, 32x32x8f16, f16x4, f32x16)
MFMA(mfma_16x16x16_f16, 16x16x16f16, f16x4, f32x4)
MFMA(mfma_32x32x16_bf16, 32x32x16_bf16, s16x8, f32x16)
MFMA(mfma_16x16x32_bf16, 16x16x32_bf16, s16x8, f32x4)
MFMA(mfma_32x32x16_f16, 32x32x16_f16, f16x8, f32x16)
MFMA(mfma_16x16x32_f16, 16x16x32_f16, f16x8, f32x4)
MFMA(mfma_32x32x2_f32, 32x32x2f32, float, f32x16)
MFMA(mfma_16x16x4_f32, 16x16x4f32, float, f32x4)
#define WMMA(name, builtin, A) MATRIX(name, __builtin_amdgcn_wmma_f32_16x16x16_##builtin, A, f32x8)
WMMA(wmma_f16, f16_w32, f16x16)
WMMA(wmma_bf16, bf16_w32, s16x16)
WMMA(wmma_f16_gfx12, f16_w32_gfx12, f16x8)
WMMA(wmma_bf16_gfx12, bf16_w32_gfx12, s16x8)
