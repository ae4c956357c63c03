/* In: one matrix instruction of a wave: for each lane a pointer to its operands.
 * Out: D = A * B + C in every lane's registers, accumulated in f32 with ascending k (hardware may add in another order).
 * Refuses: shapes that are not in the table, such as sparse and multi-block forms. */
#define _GNU_SOURCE
#include <string.h>
#include "runtime/host/engine.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=fast") /* multiply-add, and the small loops unrolled, in any build */
#endif

/* Every dense instruction has the form
 *   A[i][k]: i = lane % M, k = k_of(lane / M, e)    B[k][j]: j = lane % M, k = k_of(lane / M, e)
 *   D[i][j]: j = lane % M, i = i_of(lane / M, e)    (square: N = M) */
typedef enum operand_type { F32, F16, BF16 } operand_type;
typedef enum layout { CDNA, RDNA3, RDNA4 } layout;
typedef struct mma_form {
    unsigned m, k, wave, a_elements, d_elements; /* elements per lane */
    operand_type type;
    layout layout;
} mma_form;

#define FORMS(X)                                                                                                               \
    X(HS_MFMA_32x32x8_BF16, 32, 8, 64, 4, 16, BF16, CDNA)                                                                      \
    X(HS_MFMA_16x16x16_BF16, 16, 16, 64, 4, 4, BF16, CDNA)                                                                     \
    X(HS_MFMA_32x32x8_F16, 32, 8, 64, 4, 16, F16, CDNA)                                                                        \
    X(HS_MFMA_16x16x16_F16, 16, 16, 64, 4, 4, F16, CDNA)                                                                       \
    X(HS_MFMA_32x32x16_BF16, 32, 16, 64, 8, 16, BF16, CDNA)                                                                    \
    X(HS_MFMA_16x16x32_BF16, 16, 32, 64, 8, 4, BF16, CDNA)                                                                     \
    X(HS_MFMA_32x32x16_F16, 32, 16, 64, 8, 16, F16, CDNA)                                                                      \
    X(HS_MFMA_16x16x32_F16, 16, 32, 64, 8, 4, F16, CDNA)                                                                       \
    X(HS_MFMA_32x32x2_F32, 32, 2, 64, 1, 16, F32, CDNA)                                                                        \
    X(HS_MFMA_16x16x4_F32, 16, 4, 64, 1, 4, F32, CDNA)                                                                         \
    X(HS_WMMA_16x16x16_F16_GFX11, 16, 16, 32, 16, 8, F16, RDNA3)                                                               \
    X(HS_WMMA_16x16x16_BF16_GFX11, 16, 16, 32, 16, 8, BF16, RDNA3)                                                             \
    X(HS_WMMA_16x16x16_F16_GFX12, 16, 16, 32, 8, 8, F16, RDNA4)                                                                \
    X(HS_WMMA_16x16x16_BF16_GFX12, 16, 16, 32, 8, 8, BF16, RDNA4)                                                              \
    X(HS_MFMA_32x32x4_BF16, 32, 4, 64, 2, 16, BF16, CDNA)                                                                      \
    X(HS_MFMA_16x16x8_BF16, 16, 8, 64, 2, 4, BF16, CDNA)

#define INLINE static inline __attribute__((always_inline))

INLINE unsigned k_of(const mma_form *f, unsigned half, unsigned e)
{
    switch (f->layout) {
    case CDNA: return half * f->a_elements + e;
    case RDNA3: return e; /* either half of the wave holds all k */
    default: return 8 * (e / 4) + 4 * half + e % 4;
    }
}

INLINE unsigned i_of(const mma_form *f, unsigned half, unsigned e)
{
    switch (f->layout) {
    case CDNA: return f->m == 32 ? 8 * (e / 4) + 4 * half + e % 4 : 4 * half + e;
    case RDNA3: return 2 * e + half;
    default: return 8 * half + e;
    }
}

INLINE float from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

/* Integer arithmetic without tables: needs no F16C, and vectorises. */
INLINE float from_f16(uint16_t h)
{
    const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    const float scaled = from_bits(magnitude) * 0x1p112f; /* corrects the exponent bias, also of subnormals */
    uint32_t bits;
    memcpy(&bits, &scaled, 4);
    if ((h & 0x7c00) == 0x7c00) bits = magnitude | 0x7f800000;
    return from_bits(bits | sign);
}

INLINE float element(const void *p, operand_type type, unsigned e)
{
    if (type == F32) return ((const float *)p)[e];
    const uint16_t h = ((const uint16_t *)p)[e];
    return type == BF16 ? from_bits((uint32_t)h << 16) : from_f16(h);
}

/* a[k] is column k of A in the order of D's registers, so that a lane's accumulator is one vector. Uses vector types because a compiler
 * that unrolls these loops before it vectorises them emits shuffles, eight times slower. */
typedef struct operands {
    _Alignas(64) float a[32][32], b[32][32];
} operands;
typedef float vec4 __attribute__((vector_size(16)));
typedef float vec8 __attribute__((vector_size(32)));
typedef float vec16 __attribute__((vector_size(64)));

#define ACCUMULATE(name, type)                                                                                                 \
    INLINE void name(const mma_form *f, const operands *o, hs_u64 *mail)                                                       \
    {                                                                                                                          \
        for (unsigned lane = 0; lane < f->wave; lane++) {                                                                      \
            const hs_mma *m = (const hs_mma *)(uintptr_t)mail[lane];                                                           \
            const float *b = o->b[lane % f->m];                                                                                \
            type sum;                                                                                                          \
            memcpy(&sum, m->c, sizeof sum);                                                                                    \
            for (unsigned k = 0; k < f->k; k++) sum += *(const type *)&o->a[k][lane / f->m * f->d_elements] * b[k];            \
            memcpy(m->d, &sum, sizeof sum);                                                                                    \
        }                                                                                                                      \
    }
ACCUMULATE(accumulate4, vec4)
ACCUMULATE(accumulate8, vec8)
ACCUMULATE(accumulate16, vec16)

INLINE void gather(const mma_form *f, operands *o, hs_u64 *mail)
{
    unsigned place[32];
    for (unsigned h = 0; h < f->wave / f->m; h++)
        for (unsigned e = 0; e < f->d_elements; e++) place[i_of(f, h, e)] = h * f->d_elements + e;
    for (unsigned lane = 0; lane < f->wave; lane++) {
        const hs_mma *m = (const hs_mma *)(uintptr_t)mail[lane];
        const unsigned i = lane % f->m, to = place[i];
        for (unsigned e = 0; e < f->a_elements; e++) {
            const unsigned k = k_of(f, lane / f->m, e);
            o->a[k][to] = element(m->a, f->type, e);
            o->b[i][k] = element(m->b, f->type, e);
        }
    }
}

INLINE void multiply(const mma_form *f, hs_u64 *mail)
{
    operands o;
    gather(f, &o, mail);
    if (f->d_elements == 16) accumulate16(f, &o, mail);
    else if (f->d_elements == 8) accumulate8(f, &o, mail);
    else accumulate4(f, &o, mail);
}

/* One copy per vector width, chosen at run time; not by ifuncs, which do not work with sanitizers. */
#if defined(__x86_64__)
static unsigned level(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq")
               ? 2
               : 1;
}
#else
static unsigned level(void) { return 0; }
#endif

#define FORM(name, ...) static const mma_form form_##name = {__VA_ARGS__};
FORMS(FORM)
#define BASE(name, ...)                                                                                                        \
    static void base_##name(hs_u64 *mail) { multiply(&form_##name, mail); }
FORMS(BASE)
#ifdef __x86_64__
#define WIDE(name, ...)                                                                                                        \
    __attribute__((target("avx2,fma"))) static void wide_##name(hs_u64 *mail) { multiply(&form_##name, mail); }                \
    __attribute__((target("avx2,fma,avx512f,avx512vl,avx512bw,avx512dq"))) static void widest_##name(hs_u64 *mail)             \
    {                                                                                                                          \
        multiply(&form_##name, mail);                                                                                          \
    }
FORMS(WIDE)
#define ENTRY(name, ...) [name] = {base_##name, wide_##name, widest_##name},
#else
#define ENTRY(name, ...) [name] = {base_##name},
#endif
static void (*const run[HS_MMA_COUNT][3])(hs_u64 *mail) = {FORMS(ENTRY)};
#define WAVE(name, m, k, wave, ...) [name] = wave,
static const hs_u32 waves[HS_MMA_COUNT] = {FORMS(WAVE)};

#define OPERATIONS(name, m, k, ...) [name] = 2 * m * m * k,
static const hs_u32 operations[HS_MMA_COUNT] = {FORMS(OPERATIONS)};

hs_u32 mma_operations(hs_u32 shape) { return shape < HS_MMA_COUNT ? operations[shape] : 0; }

hs_u32 mma_wave(hs_u32 shape) { return shape < HS_MMA_COUNT ? waves[shape] : 0; }

const char *mma_run(hs_u32 shape, hs_u64 *mail)
{
    const hs_u32 lanes = mma_wave(shape);
    for (hs_u32 i = 0; i < lanes; i++)
        if (((const hs_mma *)(uintptr_t)mail[i])->shape != shape) return "lanes of one wave at different matrix instructions";
    run[shape][level()](mail);
    return NULL;
}
