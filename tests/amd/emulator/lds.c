/* In: LDS instructions and the lane moves that share their encoding. Out: loads, stores, atomics, swizzles, permutes,
 * transposed reads. */
#include "machine.h"

// ---------------------------------------------------------------- DS (LDS access, cross-lane)
// ops with different numbers on gfx11+ are renumbered to gfx9 first
static u32 lds_op_gfx9(u32 op)
{
    switch (op) {
    case 53: return 61;
    case 121: return 53;
    case 178: return 62;
    case 179: return 63;
    case 160: return 84;
    case 161: return 85;
    case 162:
    case 163:
    case 164:
    case 165:
    case 166:
    case 167: return op - 76;
    }
    return op;
}
static int lds_op_kind(u32 op)
{ // 1 store 2 load 3 atomic 4 cross-lane 5 transpose read
    if ((op >= 13 && op <= 15) || op == 30 || op == 31 || (op >= 77 && op <= 79) || op == 84 || op == 85 || op == 222 ||
        op == 223)
        return 1;
    if ((op >= 54 && op <= 60) || (op >= 86 && op <= 91) || (op >= 118 && op <= 120) || op == 254 || op == 255)
        return 2;
    if (op <= 11 || op == 16 || op == 18 || op == 19 || op == 21 || (op >= 32 && op <= 43) || op == 45 || op == 48 ||
        op == 50 || op == 51 || op == 53 || (op >= 64 && op <= 75) || op == 80 || op == 92 || (op >= 96 && op <= 107) ||
        op == 109 || op == 112 || op == 124)
        return 3;
    if (op >= 61 && op <= 63) return 4;
    if (op == 227 && emu_target == 0x950) return 5;
    return 0;
}
int emu_has_lds_op(int target, u32 op)
{
    int t = emu_target;
    emu_target = target;
    int r = lds_op_kind(target >= 0x1000 ? lds_op_gfx9(op) : op);
    emu_target = t;
    return r;
}
static void lds_lanes(u32 *s, u32 *v, u32 *R, u8 *lds, u64 ex, u32 op, u32 o0, u32 o1, u32 a, u32 x, u32 y, u32 d)
{
    int ws = emu_wave;
    u32 of = o0 | o1 << 8;
    (void)s;
    int kd = lds_op_kind(op);
#define AD(l, o) (lds + (u32)(v[a * ws + (l)] + (u32)(o)))
    if (kd == 4) {
        u32 t[64];
        for (int l = 0; l < ws; l++) t[l] = op == 62 ? 0 : R[d * ws + l];
        if (op == 61) {
            for (int l = 0; l < ws; l++)
                if (ACTIVE(l)) {
                    int j;
                    if (of & 0x8000) {
                        if (of >= 0xc000) {
                            t[l] = 0;
                            continue;
                        }
                        j = (l & ~3) | ((of >> ((l & 3) * 2)) & 3);
                    } else
                        j = (l & 32) | ((((l & 31) & (of & 31)) | ((of >> 5) & 31)) ^ ((of >> 10) & 31));
                    t[l] = ACTIVE(j) ? v[a * ws + j] : 0;
                }
        } else if (op == 63) {
            for (int l = 0; l < ws; l++)
                if (ACTIVE(l)) {
                    int j = ((v[a * ws + l] + of) >> 2) & (ws - 1);
                    if (emu_target >= 0x1000) j = (j & 31);
                    t[l] = ACTIVE(j) ? R[x * ws + j] : 0;
                }
        } else
            for (int l = 0; l < ws; l++)
                if (ACTIVE(l)) t[((v[a * ws + l] + of) >> 2) & (ws - 1)] = R[x * ws + l];
        for (int l = 0; l < ws; l++)
            if (ACTIVE(l)) R[d * ws + l] = t[l];
        return;
    }
    if (kd == 5) {
        u16 q[64][4];
        u16 r[64][4];
        for (int l = 0; l < 64; l++)
            if (ACTIVE(l))
                memcpy(q[l], AD(l, of), 8);
            else
                memset(q[l], 0, 8);
        for (int l = 0; l < 64; l++)
            for (int n = 0; n < 4; n++) r[l][n] = q[((l & ~15) | ((l >> 2) & 3)) + 4 * n][l & 3];
        for (int l = 0; l < 64; l++)
            if (ACTIVE(l)) {
                memcpy(&R[d * 64 + l], &r[l][0], 4);
                memcpy(&R[(d + 1) * 64 + l], &r[l][2], 4);
            }
        return;
    }
    if (kd == 3) {
        static const u8 k12[12] = {2, 3, 255, 11, 12, 4,
                                   6, 5, 7,   8,  9,  10}; // add sub rsub inc dec min_i max_i min_u max_u and or xor
        int b64 = (op >= 64 && op <= 112 && op != 92) || op == 92 || op == 124;
        u32 base = op & 31;
        int ret = (op & 32) != 0;
        int cmpst = op == 16 || op == 48 || op == 80 || op == 112;
        int fl = op == 18 || op == 50                              ? 2
                 : op == 19 || op == 51                            ? 3
                 : (op == 21 || op == 53 || op == 92 || op == 124) ? 1
                                                                   : 0;
        if (op == 92) ret = 0;
        if (op == 124 || op == 53 || op == 50 || op == 51) ret = 1;
        for (int l = 0; l < ws; l++)
            if (ACTIVE(l)) {
                u8 *p = AD(l, of);
                u64 old = 0, dv = R[x * ws + l], d2 = R[y * ws + l], nw;
                int nb = b64 ? 8 : 4;
                if (b64) {
                    dv |= (u64)R[(x + 1) * ws + l] << 32;
                    d2 |= (u64)R[(y + 1) * ws + l] << 32;
                }
                memcpy(&old, p, nb);
                if (fl)
                    nw = float_atomic(fl, old, dv, b64);
                else if (cmpst) {
                    u64 cmp = emu_target >= 0x1000 ? d2 : dv, val = emu_target >= 0x1000 ? dv : d2;
                    nw = old == cmp ? val : old;
                } else if (base == 13)
                    nw = dv; // wrxchg
                else if (base == 2)
                    nw = dv - old; // rsub
                else
                    nw = integer_atomic(k12[base], old, dv, 0, b64);
                memcpy(p, &nw, nb);
                if (ret) {
                    R[d * ws + l] = (u32)old;
                    if (b64) R[(d + 1) * ws + l] = (u32)(old >> 32);
                }
            }
        return;
    }
    for (int l = 0; l < ws; l++)
        if (ACTIVE(l)) {
            u32 z;
#define ST(o, r, nb)                                                                                                   \
    do {                                                                                                               \
        for (int q = 0; q < ((nb) + 3) / 4; q++) {                                                                     \
            z = R[((r) + q) * ws + l];                                                                                 \
            memcpy(AD(l, o) + q * 4, &z, (nb) < 4 ? (nb) : 4);                                                         \
        }                                                                                                              \
    } while (0)
#define LD(i, o, nb) memcpy(&t[i], AD(l, o), nb)
#define WR(n)                                                                                                          \
    do {                                                                                                               \
        for (int q = 0; q < (n); q++) R[(d + q) * ws + l] = t[q];                                                      \
    } while (0)
            u32 t[4] = {0};
            switch (op) {
            case 13: ST(of, x, 4); break;
            case 14:
                ST(o0 * 4, x, 4);
                ST(o1 * 4, y, 4);
                break;
            case 15:
                ST(o0 * 256, x, 4);
                ST(o1 * 256, y, 4);
                break;
            case 30: ST(of, x, 1); break;
            case 31: ST(of, x, 2); break;
            case 77: ST(of, x, 8); break;
            case 78:
                ST(o0 * 8, x, 8);
                ST(o1 * 8, y, 8);
                break;
            case 79:
                ST(o0 * 512, x, 8);
                ST(o1 * 512, y, 8);
                break;
            case 222: ST(of, x, 12); break;
            case 223: ST(of, x, 16); break;
            case 84:
                z = R[x * ws + l] >> 16;
                memcpy(AD(l, of), &z, 1);
                break;
            case 85:
                z = R[x * ws + l] >> 16;
                memcpy(AD(l, of), &z, 2);
                break;
            case 54:
                LD(0, of, 4);
                WR(1);
                break;
            case 55:
                LD(0, o0 * 4, 4);
                LD(1, o1 * 4, 4);
                WR(2);
                break;
            case 56:
                LD(0, o0 * 256, 4);
                LD(1, o1 * 256, 4);
                WR(2);
                break;
            case 57:
                LD(0, of, 1);
                t[0] = (u32)(i32)(signed char)t[0];
                WR(1);
                break;
            case 58:
                LD(0, of, 1);
                WR(1);
                break;
            case 59:
                LD(0, of, 2);
                t[0] = (u32)(i32)(short)t[0];
                WR(1);
                break;
            case 60:
                LD(0, of, 2);
                WR(1);
                break;
            case 86:
            case 87:
            case 88:
            case 89:
                LD(0, of, 1);
                if (op >= 88) t[0] = (u32)(i32)(signed char)t[0];
                goto d16;
            case 90:
            case 91:
                LD(0, of, 2);
            d16:
                z = R[d * ws + l];
                R[d * ws + l] = op & 1 ? (z & 0xffff) | t[0] << 16 : (z & 0xffff0000u) | (t[0] & 0xffff);
                break;
            case 118:
                LD(0, of, 8);
                WR(2);
                break;
            case 119:
                LD(0, o0 * 8, 8);
                LD(2, o1 * 8, 8);
                WR(4);
                break;
            case 120:
                LD(0, o0 * 512, 8);
                LD(2, o1 * 512, 8);
                WR(4);
                break;
            case 254:
                LD(0, of, 12);
                WR(3);
                break;
            case 255:
                LD(0, of, 16);
                WR(4);
                break;
            }
        }
}
void op_ds9(ARGS)
{
    BEGIN lds_lanes(s, v, (d0 >> 25) & 1 ? acc : v, lds, ex, (d0 >> 17) & 0xff, d0 & 0xff, (d0 >> 8) & 0xff, d1 & 0xff,
                    (d1 >> 8) & 0xff, (d1 >> 16) & 0xff, d1 >> 24);
    NEXT(8);
}
void op_ds11(ARGS)
{
    BEGIN lds_lanes(s, v, v, lds, ex, lds_op_gfx9((d0 >> 18) & 0xff), d0 & 0xff, (d0 >> 8) & 0xff, d1 & 0xff,
                    (d1 >> 8) & 0xff, (d1 >> 16) & 0xff, d1 >> 24);
    NEXT(8);
}
