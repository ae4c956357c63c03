/* In: MFMA (CDNA) and WMMA (RDNA) instructions. Out: their results by the published lane layouts, accumulated in float
 * with fma, k ascending. Refuses sparse and scaled forms: they are not in the tables that the harness passes. */
#include "machine.h"

static float from_fp8(u8 x, int bf8, int fnuz)
{
    int eb = bf8 ? 5 : 4, mb = bf8 ? 2 : 3, e = (x >> mb) & ((1 << eb) - 1), m = x & ((1 << mb) - 1), sg = x >> 7,
        bias = (1 << (eb - 1)) - 1 + (fnuz ? 1 : 0);
    float r;
    if (fnuz) {
        if (x == 0x80) return NAN;
    } else if (bf8) {
        if (e == 31) return m ? NAN : (sg ? -INFINITY : INFINITY);
    } else if (e == 15 && m == 7)
        return NAN;
    r = e ? ldexpf(1.f + (float)m / (1 << mb), e - bias) : ldexpf((float)m / (1 << mb), 1 - bias);
    return sg ? -r : r;
}

// ---------------------------------------------------------------- MFMA (CDNA2/3/4, dense)
enum { T_F32, T_F16, T_BF16, T_I8, T_F64, T_F8F8, T_F8B8, T_B8F8, T_B8B8, T_XF32 };
typedef struct {
    u8 M, K, blocks, type, vpl;
} matrix_form; // vpl: input elements per lane
static matrix_form mfma_forms[128];
void emu_define_mfma(int op, int M, int K, int blocks, int type, int vpl)
{
    mfma_forms[op] = (matrix_form){M, K, blocks, type, vpl};
}
static inline u32 matrix_source(u32 *s, u32 *v, u32 *acc, u32 f, int isacc, int r, int lane)
{
    return f >= 256 ? (isacc ? acc : v)[(f - 256 + r) * 64 + lane] : s[f];
}
static float A[16][32][136], B[16][136][32];
static i32 Ai[16][32][136], Bi[16][136][32]; // A[i][k], B[k][j]
static inline __attribute__((always_inline)) void mfma_body(u32 *s, u32 *v, u32 *acc, u32 *cr, u32 d0, u32 d1, u32 vd,
                                                            u32 a0, u32 b0, u32 c0, int aa, int ba, int M, int K,
                                                            int nb, int vpl, int ty)
{
    int isi = ty == T_I8;
    u32 cbsz = (d0 >> 8) & 7, abid = (d0 >> 11) & 15, blgp = (d1 >> 29) & 7;
    for (int op = 0; op < 2; op++) {
        u32 f = op ? b0 : a0;
        int ia = op ? ba : aa;
        int fn = emu_target == 0x942;
        int bf8 = op ? (ty == T_F8B8 || ty == T_B8B8) : (ty == T_B8F8 || ty == T_B8B8);
        for (int l = 0; l < 64; l++) {
            int sl = l;
            if (op && blgp) {
                switch (blgp) {
                case 1: sl = l % 32; break;
                case 2: sl = 32 + l % 32; break;
                case 3: sl = (l / 16 * 16 + 16) % 64 + l % 16; break;
                default: sl = (blgp - 4) * 16 + l % 16;
                }
            }
            int i = l % M, blk = nb > 1 ? l / M : 0, k0 = nb > 1 ? 0 : (l / M) * vpl;
            if (!op && cbsz && nb > 1) {
                int grp = blk >> cbsz << cbsz;
                sl = (grp | (abid & ((1 << cbsz) - 1))) * M + i;
            }
            for (int e = 0; e < vpl; e++) {
                float x = 0;
                i32 xi = 0;
                switch (ty) {
                case T_F32: x = as_float(matrix_source(s, v, acc, f, ia, e, sl)); break;
                case T_XF32: x = as_float(matrix_source(s, v, acc, f, ia, e, sl) & 0xffffe000u); break;
                case T_F16: x = from_half(matrix_source(s, v, acc, f, ia, e / 2, sl) >> (e % 2 * 16)); break;
                case T_BF16: x = from_bf16(matrix_source(s, v, acc, f, ia, e / 2, sl) >> (e % 2 * 16)); break;
                case T_I8: xi = (signed char)(matrix_source(s, v, acc, f, ia, e / 4, sl) >> (e % 4 * 8)); break;
                default: x = from_fp8(matrix_source(s, v, acc, f, ia, e / 4, sl) >> (e % 4 * 8), bf8, fn);
                }
                if (isi) {
                    if (op)
                        Bi[blk][k0 + e][i] = xi;
                    else
                        Ai[blk][i][k0 + e] = xi;
                } else if (op)
                    B[blk][k0 + e][i] = x;
                else
                    A[blk][i][k0 + e] = x;
            }
        }
    }
    int nr = M == 32 ? 16 : 4;
    static u32 D[64 * 64];
    for (int b = 0; b < (M == 4 ? 1 : nb); b++)
        for (int r = 0; r < nr; r++)
            for (int l0 = 0; l0 < 64; l0 += M) { // M lanes share one output row i
                int i = M == 32   ? 8 * (r / 4) + 4 * (l0 / 32) + r % 4
                        : M == 16 ? 4 * (l0 / 16) + r
                                  : r,
                    bb = M == 4 ? l0 / 4 : b, reg = M == 4 ? r : b * nr + r;
                u32 ci[32];
                for (int j = 0; j < M; j++) ci[j] = c0 >= 256 ? cr[(c0 - 256 + reg) * 64 + l0 + j] : s[c0];
                if (isi) {
                    i32 t[32];
                    for (int j = 0; j < M; j++) t[j] = (i32)ci[j];
                    for (int k = 0; k < K; k++) {
                        i32 av = Ai[bb][i][k];
                        for (int j = 0; j < M; j++) t[j] += av * Bi[bb][k][j];
                    }
                    memcpy(&D[reg * 64 + l0], t, M * 4);
                } else {
                    float t[32];
                    for (int j = 0; j < M; j++) t[j] = as_float(ci[j]);
                    for (int k = 0; k < K; k++) {
                        float av = A[bb][i][k];
                        for (int j = 0; j < M; j++) t[j] = __builtin_fmaf(av, B[bb][k][j], t[j]);
                    }
                    memcpy(&D[reg * 64 + l0], t, M * 4);
                }
            }
    int tot = M == 4 ? 4 : nb * nr;
    memcpy(&cr[vd * 64], D, (size_t)tot * 64 * 4); // MFMA ignores EXEC
}
void op_mfma(ARGS)
{
    BEGIN
    matrix_form m = mfma_forms[(d0 >> 16) & 0x7f];
    u32 vd = d0 & 0xff, a0 = d1 & 0x1ff, b0 = (d1 >> 9) & 0x1ff, c0 = (d1 >> 18) & 0x1ff;
    int cd = (d0 >> 15) & 1 || emu_target == 0x908, aa = (d1 >> 27) & 1, ba = (d1 >> 28) & 1;
    int M = m.M, K = m.K, nb = m.blocks, vpl = m.vpl;
    u32 *cr = cd ? acc : v;
    if (m.type == T_F64) { // 16x16x4 (1 block) or 4x4x4 (4 blocks)
        double A[4][16][4], B[4][16][4];
        u32 neg = (d1 >> 29) & 7;
        static double D[4][16][16];
        for (int l = 0; l < 64; l++) {
            int i = l % M, k = l / 16, b = M == 16 ? 0 : (l / 4) % 4;
            u64 x, y;
            x = matrix_source(s, v, acc, a0, aa, 0, l) | (u64)matrix_source(s, v, acc, a0, aa, 1, l) << 32;
            y = matrix_source(s, v, acc, b0, ba, 0, l) | (u64)matrix_source(s, v, acc, b0, ba, 1, l) << 32;
            memcpy(&A[b][i][k], &x, 8);
            memcpy(&B[b][i][k], &y, 8);
            if (neg & 1) A[b][i][k] = -A[b][i][k];
            if (neg & 2) B[b][i][k] = -B[b][i][k];
        }
        for (int l = 0; l < 64; l++)
            for (int r = 0; r < (M == 16 ? 4 : 1); r++) {
                int i = M == 16 ? 4 * r + l / 16 : l / 16, j = l % M, b = M == 16 ? 0 : (l / 4) % 4;
                double c;
                if (c0 >= 256) {
                    u64 x = cr[(c0 - 256 + 2 * r) * 64 + l] | (u64)cr[(c0 - 256 + 2 * r + 1) * 64 + l] << 32;
                    memcpy(&c, &x, 8);
                } else
                    c = c0 >= 240 ? (double)as_float(s[c0]) : (double)(i32)s[c0];
                if (neg & 4) c = -c;
                for (int k = 0; k < 4; k++) c = fma(A[b][i][k], B[b][j][k], c);
                D[b][i][j] = c;
            }
        for (int l = 0; l < 64; l++)
            for (int r = 0; r < (M == 16 ? 4 : 1); r++) {
                int i = M == 16 ? 4 * r + l / 16 : l / 16, j = l % M, b = M == 16 ? 0 : (l / 4) % 4;
                u64 x;
                memcpy(&x, &D[b][i][j], 8);
                cr[(vd + 2 * r) * 64 + l] = (u32)x;
                cr[(vd + 2 * r + 1) * 64 + l] = (u32)(x >> 32);
            }
        NEXT(8);
        return;
    }
#define GO(MM)                                                                                                         \
    switch (m.type) {                                                                                                  \
    case T_BF16: mfma_body(s, v, acc, cr, d0, d1, vd, a0, b0, c0, aa, ba, MM, K, nb, vpl, T_BF16); break;              \
    case T_F16: mfma_body(s, v, acc, cr, d0, d1, vd, a0, b0, c0, aa, ba, MM, K, nb, vpl, T_F16); break;                \
    case T_I8: mfma_body(s, v, acc, cr, d0, d1, vd, a0, b0, c0, aa, ba, MM, K, nb, vpl, T_I8); break;                  \
    default: mfma_body(s, v, acc, cr, d0, d1, vd, a0, b0, c0, aa, ba, MM, K, nb, vpl, m.type);                         \
    }
    if (M == 32) GO(32) else if (M == 16) GO(16) else GO(4) NEXT(8);
}

// ---------------------------------------------------------------- WMMA f32 accumulators (gfx11 / gfx12 wave32)
static int wmma_types[128]; // 0 none, else 1+T_*
void emu_define_wmma(int op, int type) { wmma_types[op] = 1 + type; }
void op_wmma(ARGS)
{
    BEGIN
    int type = wmma_types[(d0 >> 16) & 0x7f] - 1;
    u32 vd = d0 & 0xff, a0 = (d1 & 0x1ff) - 256, b0 = ((d1 >> 9) & 0x1ff) - 256, c0 = (d1 >> 18) & 0x1ff;
    int g12 = emu_target >= 0x1200;
    u32 neg = (d1 >> 29) & 7, neghi = (d0 >> 8) & 7;
    float A[16][16], B[16][16];
    u32 D[8 * 32];
    for (int op = 0; op < 2; op++)
        for (int i = 0; i < 16; i++)
            for (int k = 0; k < 16; k++) {
                u32 r = op ? b0 : a0;
                int lane, e;
                if (g12) {
                    lane = i + ((k >> 2) & 1) * 16;
                    e = (k & 3) | ((k >> 1) & 4);
                } else {
                    lane = i;
                    e = k;
                }
                float x;
                if (type >= T_F8F8) {
                    int bf8 = op ? (type == T_F8B8 || type == T_B8B8) : (type == T_B8F8 || type == T_B8B8);
                    x = from_fp8(v[(r + e / 4) * 32 + lane] >> (e % 4 * 8), bf8, 0);
                } else {
                    u16 h = v[(r + e / 2) * 32 + lane] >> (e % 2 * 16);
                    if ((e & 1 ? neghi : neg) >> op & 1) h ^= 0x8000;
                    x = type == T_F16 ? from_half(h) : from_bf16(h);
                }
                if (op)
                    B[k][i] = x;
                else
                    A[i][k] = x;
            }
    for (int r = 0; r < 8; r++)
        for (int l0 = 0; l0 < 32; l0 += 16) {
            int m = g12 ? (l0 >> 4) * 8 + r : 2 * r + (l0 >> 4);
            float t[16];
            for (int n = 0; n < 16; n++) {
                float c = c0 >= 256 ? as_float(v[(c0 - 256 + r) * 32 + l0 + n]) : as_float(s[c0]);
                if (neghi & 4) c = fabsf(c);
                if (neg & 4) c = -c;
                t[n] = c;
            }
            for (int k = 0; k < 16; k++)
                for (int n = 0; n < 16; n++) t[n] = __builtin_fmaf(A[m][k], B[k][n], t[n]);
            memcpy(&D[r * 32 + l0], t, 64);
        }
    memcpy(&v[vd * 32], D, sizeof D);
    NEXT(8);
}
