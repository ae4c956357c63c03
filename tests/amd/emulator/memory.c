/* In: buffer, flat, global and scratch instructions of gfx9, gfx11 and gfx12, copies to LDS. Out: their loads, stores
 * and atomics, with range checks of buffer resources. An address outside every buffer faults and is
 * reported by the dispatcher. */
#include "machine.h"

// ---------------------------------------------------------------- buffer (MUBUF / VBUFFER)
enum { access_load, access_store, access_atomic, access_none };
typedef struct {
    u32 op, vaddr, vdata, rs, offen, idxen, ret, acc, lds, size;
    u32 soff;
    i32 ioff;
} buffer_op;
u64 integer_atomic(int kind, u64 o, u64 d, u64 cmp, int b64)
{ // gfx9 numbering, relative to the swap opcode
    i64 so = b64 ? (i64)o : (i32)o, sd = b64 ? (i64)d : (i32)d;
    switch (kind) {
    case 0: return d;
    case 1: return o == cmp ? d : o;
    case 2: return o + d;
    case 3: return o - d;
    case 4: return so < sd ? o : d;
    case 5: return o < d ? o : d;
    case 6: return so > sd ? o : d;
    case 7: return o > d ? o : d;
    case 8: return o & d;
    case 9: return o | d;
    case 10: return o ^ d;
    case 11: return o >= d ? 0 : o + 1;
    case 12: return (o == 0 || o > d) ? d : o - 1;
    }
    return o;
}
u64 float_atomic(int fl, u64 old, u64 dv, int b64)
{
    u64 nw = 0; // fl: 1 add 2 min 3 max 4 pk f16 5 pk bf16
    if (fl == 4) {
        for (int h = 0; h < 2; h++) {
            _Float16 x = (_Float16)(from_half(old >> (16 * h)) + from_half(dv >> (16 * h)));
            u16 y;
            memcpy(&y, &x, 2);
            nw |= (u64)y << (16 * h);
        }
        return nw;
    }
    if (fl == 5) {
        for (int h = 0; h < 2; h++)
            nw |= (u64)to_bf16(from_bf16(old >> (16 * h)) + from_bf16(dv >> (16 * h))) << (16 * h);
        return nw;
    }
    if (b64) {
        double x, y, z;
        memcpy(&x, &old, 8);
        memcpy(&y, &dv, 8);
        z = fl == 1 ? x + y : fl == 2 ? (y < x ? y : x) : (y > x ? y : x);
        memcpy(&nw, &z, 8);
        return nw;
    }
    float x = as_float((u32)old), y = as_float((u32)dv);
    return as_bits(fl == 1 ? x + y : fl == 2 ? (y < x ? y : x) : (y > x ? y : x));
}
// classification of opcodes -> kind, bytes, sign, d16 mode (1 lo, 2 hi)
typedef struct {
    u8 cls, bytes, sgn, d16, at, fl;
} access;
static access access_gfx9(u32 op)
{
    switch (op) {
    case 16: return (access){access_load, 1, 0, 0, 0, 0};
    case 17: return (access){access_load, 1, 1, 0, 0, 0};
    case 18: return (access){access_load, 2, 0, 0, 0, 0};
    case 19: return (access){access_load, 2, 1, 0, 0, 0};
    case 20:
    case 21:
    case 22:
    case 23: return (access){access_load, (op - 19) * 4, 0, 0, 0, 0};
    case 24: return (access){access_store, 1, 0, 0, 0, 0};
    case 25: return (access){access_store, 1, 0, 2, 0, 0};
    case 26: return (access){access_store, 2, 0, 0, 0, 0};
    case 27: return (access){access_store, 2, 0, 2, 0, 0};
    case 28:
    case 29:
    case 30:
    case 31: return (access){access_store, (op - 27) * 4, 0, 0, 0, 0};
    case 32: return (access){access_load, 1, 0, 1, 0, 0};
    case 33: return (access){access_load, 1, 0, 2, 0, 0};
    case 34: return (access){access_load, 1, 1, 1, 0, 0};
    case 35: return (access){access_load, 1, 1, 2, 0, 0};
    case 36: return (access){access_load, 2, 0, 1, 0, 0};
    case 37: return (access){access_load, 2, 0, 2, 0, 0};
    case 77: return (access){access_atomic, 4, 0, 0, 0, 1};
    case 78: return (access){access_atomic, 4, 0, 0, 0, 4};
    case 79: return (access){access_atomic, 8, 0, 0, 0, 1};
    case 80: return (access){access_atomic, 8, 0, 0, 0, 2};
    case 81: return (access){access_atomic, 8, 0, 0, 0, 3};
    case 82: return (access){access_atomic, 4, 0, 0, 0, 5};
    }
    if (op >= 64 && op <= 76) return (access){access_atomic, 4, 0, 0, op - 64, 0};
    if (op >= 96 && op <= 108) return (access){access_atomic, 8, 0, 0, op - 96, 0};
    if (op == 40 || op == 41 || op == 62 || op == 63) return (access){access_none, 0, 0, 0, 0, 0};
    return (access){255, 0, 0, 0, 0, 0};
}
static access access_gfx11(u32 op)
{
    if (op >= 16 && op <= 19) return access_gfx9(op);
    if (op >= 20 && op <= 23) return access_gfx9(op);
    if (op >= 24 && op <= 29) return op == 24 ? access_gfx9(24) : op == 25 ? access_gfx9(26) : access_gfx9(op + 2);
    switch (op) {
    case 30: return access_gfx9(32);
    case 31: return access_gfx9(34);
    case 32: return access_gfx9(36);
    case 33: return access_gfx9(33);
    case 34: return access_gfx9(35);
    case 35: return access_gfx9(37);
    case 36: return access_gfx9(25);
    case 37: return access_gfx9(27);
    case 43:
    case 44: return (access){access_none, 0, 0, 0, 0, 0};
    case 81: return (access){access_atomic, 4, 0, 0, 0, 2};
    case 82: return (access){access_atomic, 4, 0, 0, 0, 3};
    case 86: return (access){access_atomic, 4, 0, 0, 0, 1};
    case 89: return (access){access_atomic, 4, 0, 0, 0, 4};
    case 90: return (access){access_atomic, 4, 0, 0, 0, 5};
    }
    static const u8 m32[14] = {0, 1, 2, 3, 255, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    if (op >= 51 && op <= 64 && m32[op - 51] != 255) return (access){access_atomic, 4, 0, 0, m32[op - 51], 0};
    static const u8 m64[13] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    if (op >= 65 && op <= 77) return (access){access_atomic, 8, 0, 0, m64[op - 65], 0};
    return (access){255, 0, 0, 0, 0, 0};
}
int emu_has_memory_op(int target, u32 op) { return (target < 0x1000 ? access_gfx9(op) : access_gfx11(op)).cls != 255; }

// one lane's atomic: data (then compare value) in R[src..]; old value to R[dst..]; p==0: out of range
static void atomic_lane(u32 *R, int ws, int l, u32 src, u32 dst, u8 *p, int ret, access c)
{
    int b64 = c.bytes == 8;
    u64 old = 0, dv = R[src * ws + l], cmp = 0;
    if (b64) dv |= (u64)R[(src + 1) * ws + l] << 32;
    if (c.fl == 0 && c.at == 1)
        cmp = b64 ? ((u64)R[(src + 2) * ws + l] | (u64)R[(src + 3) * ws + l] << 32) : R[(src + 1) * ws + l];
    if (p) {
        memcpy(&old, p, c.bytes);
        u64 nw = c.fl ? float_atomic(c.fl, old, dv, b64) : integer_atomic(c.at, old, dv, cmp, b64);
        memcpy(p, &nw, c.bytes);
    }
    if (ret) {
        R[dst * ws + l] = (u32)old;
        if (b64) R[(dst + 1) * ws + l] = (u32)(old >> 32);
    }
}
static void buffer_lanes(u32 *s, u32 *v, u8 *lds, u32 *acc, u64 ex, buffer_op b, access c)
{
    int ws = emu_wave;
    u64 base = ((u64)s[b.rs] | (u64)s[b.rs + 1] << 32) & 0xffffffffffffull;
    u32 nrec = s[b.rs + 2], w1 = s[b.rs + 1], w3 = s[b.rs + 3];
    u32 stride = (w1 >> 16) & 0x3fff;
    int gfx9 = emu_target < 0x1000;
    int swz = gfx9 ? (w1 >> 31) & 1 : (w1 >> 30) & 3;
    int addtid = (w3 >> 23) & 1;
    u32 *R = b.acc ? acc : v;
    u32 m0 = s[emu_target < 0x1000 ? 124 : 125];
    for (int l = 0; l < ws; l++) {
        if (!((ex >> l) & 1)) continue;
        u32 idx = b.idxen ? v[b.vaddr * ws + l] : 0, vo = b.offen ? v[(b.vaddr + (b.idxen ? 1 : 0)) * ws + l] : 0;
        u64 off = (u64)vo + (u32)b.ioff;
        u64 lin;
        int n = c.bytes < 4 ? 1 : c.bytes / 4, comp = c.bytes < 4 ? c.bytes : 4;
        int raw = stride == 0 || !swz;
        if (addtid && gfx9) {
            idx += l;
            raw = 0;
        }
        if (swz && gfx9) {
            u32 es = 2u << ((w3 >> 19) & 3), is = 8u << ((w3 >> 21) & 3);
            u64 im = idx / is, il = idx % is, om = off / es, ol = off % es;
            lin = (im * stride + om * es) * is + il * es + ol;
        } else
            lin = off + (u64)idx * stride;
        u64 addr = base + b.soff + lin;
        u32 data[4] = {0};
        int oobsel = (w3 >> 28) & 3;
        for (int q = 0; q < n; q++) {
            u64 o = lin + q * 4;
            int oob;
            if (swz && addtid)
                oob = 0; // private scratch
            else if (gfx9)
                oob = raw ? o + b.soff + comp > nrec : (idx >= nrec || off + q * 4 + comp > stride);
            else if (oobsel == 3)
                oob = o + comp > nrec;
            else if (oobsel == 2)
                oob = nrec == 0;
            else
                oob = idx >= nrec || (stride && off + q * 4 + comp > stride);
            u64 ad = addr + q * 4;
            if (c.cls == access_load) {
                if (!oob) {
                    if (comp == 4)
                        memcpy(&data[q], (void *)ad, 4);
                    else
                        memcpy(&data[0], (void *)ad, comp);
                }
            } else if (c.cls == access_store) {
                if (!oob) {
                    u32 x = R[(b.vdata + q) * ws + l];
                    if (c.d16 == 2) x >>= 16;
                    memcpy((void *)ad, &x, comp);
                }
            } else if (c.cls == access_atomic && q == 0)
                atomic_lane(R, ws, l, b.vdata, b.vdata, oob ? 0 : (u8 *)ad, b.ret, c);
        }
        if (c.cls == access_load) {
            if (c.sgn) data[0] = c.bytes == 1 ? (u32)(i32)(signed char)data[0] : (u32)(i32)(short)data[0];
            if (b.lds) {
                memcpy(lds + (m0 & 0x3ffff) + b.ioff + (u64)l * n * 4, data, n * 4);
                continue;
            }
            if (c.d16 == 1)
                R[b.vdata * ws + l] = (R[b.vdata * ws + l] & 0xffff0000u) | (data[0] & 0xffff);
            else if (c.d16 == 2)
                R[b.vdata * ws + l] = (R[b.vdata * ws + l] & 0xffff) | data[0] << 16;
            else
                for (int q = 0; q < n; q++) R[(b.vdata + q) * ws + l] = data[q];
        }
    }
}
void op_mubuf9(ARGS)
{
    BEGIN buffer_op b = {0};
    b.op = (d0 >> 18) & 0x7f;
    b.ioff = d0 & 0xfff;
    b.offen = (d0 >> 12) & 1;
    b.idxen = (d0 >> 13) & 1;
    b.ret = (d0 >> 14) & 1;
    b.lds = (d0 >> 16) & 1;
    b.vaddr = d1 & 0xff;
    b.vdata = (d1 >> 8) & 0xff;
    b.rs = ((d1 >> 16) & 0x1f) * 4;
    b.acc = (d1 >> 23) & 1;
    b.soff = rs(s, d1 >> 24);
    access c = access_gfx9(b.op);
    if (c.cls != access_none) buffer_lanes(s, v, lds, acc, ex, b, c);
    NEXT(8);
}
void op_mubuf11(ARGS)
{
    BEGIN buffer_op b = {0};
    b.op = (d0 >> 18) & 0xff;
    b.ioff = d0 & 0xfff;
    b.ret = (d0 >> 14) & 1;
    b.vaddr = d1 & 0xff;
    b.vdata = (d1 >> 8) & 0xff;
    b.rs = ((d1 >> 16) & 0x1f) * 4;
    b.offen = (d1 >> 22) & 1;
    b.idxen = (d1 >> 23) & 1;
    u32 so = d1 >> 24;
    b.soff = so == 124 ? 0 : rs(s, so);
    access c = access_gfx11(b.op);
    if (c.cls != access_none) buffer_lanes(s, v, lds, acc, ex, b, c);
    NEXT(8);
}
void op_vbuffer12(ARGS)
{
    BEGIN buffer_op b = {0};
    u32 d2 = in[2];
    b.op = (d0 >> 14) & 0xff;
    u32 so = d0 & 0x7f;
    b.soff = so == 124 ? 0 : rs(s, so);
    b.vdata = d1 & 0xff;
    b.rs = (d1 >> 9) & 0x1ff;
    b.ret = (d1 >> 20) & 1;
    b.offen = (d1 >> 30) & 1;
    b.idxen = (d1 >> 31) & 1;
    b.vaddr = d2 & 0xff;
    b.ioff = (i32)d2 >> 8;
    access c = access_gfx11(b.op);
    if (c.cls != access_none) buffer_lanes(s, v, lds, acc, ex, b, c);
    NEXT(12);
}

// ---------------------------------------------------------------- gfx9 global_load_lds_* (global memory -> LDS)
void op_global_lds(ARGS)
{
    BEGIN u32 op = (d0 >> 18) & 0x7f;
    int bytes = op == 0x7d ? 16 : op == 0x7e ? 12 : op == 0x2a ? 4 : op == 0x26 || op == 0x27 ? 1 : 2;
    i32 off = (i32)(d0 << 19) >> 19;
    u32 va = d1 & 0xff, sa = (d1 >> 16) & 0x7f;
    u32 m0 = s[124] & 0x3ffff;
    for (int l = 0; l < 64; l++)
        if (ACTIVE(l)) {
            u64 ad = sa != 0x7f ? ((u64)s[sa] | (u64)s[sa + 1] << 32) + v[va * 64 + l]
                                : ((u64)v[va * 64 + l] | (u64)v[(va + 1) * 64 + l] << 32);
            ad += off;
            u32 data[4] = {0};
            memcpy(data, (void *)ad, bytes);
            if (op == 0x27) data[0] = (u32)(i32)(signed char)data[0];
            if (op == 0x29) data[0] = (u32)(i32)(short)data[0];
            int st = bytes < 4 ? 4 : bytes;
            memcpy(lds + m0 + off + (u64)l * st, data, st);
        }
    NEXT(8);
}

// ---------------------------------------------------------------- FLAT / GLOBAL / SCRATCH
static u8 *flat_ptr(u64 ad, int lane, u32 *s, u8 *lds, u8 *scr)
{
    u64 hi = ad >> 32 << 32;
    if (hi == emu_shared_aperture) return lds + (u32)ad;
    if (hi == emu_private_aperture) {
        u32 o = (u32)ad;
        return emu_target == 0x90a ? scr + ((u64)(o >> 2) * 64 + lane) * 4 + (o & 3) : scr + (u64)lane * s[259] + o;
    }
    return (u8 *)ad;
}
// seg: 0 flat 1 scratch 2 global; sa: scalar address register or -1; useva: scratch uses the VGPR offset
static void memory_lanes(u32 *s, u32 *v, u32 *R, u8 *lds, u8 *scr, u64 ex, int seg, u32 va, u32 vd, u32 vs, int sa,
                         int useva, i64 off, int ret, access c)
{
    int ws = emu_wave;
    for (int l = 0; l < ws; l++)
        if (ACTIVE(l)) {
            u64 ad;
            int n = c.bytes < 4 ? 1 : c.bytes / 4;
            u32 data[4] = {0};
            if (seg == 1)
                ad =
                    (u64)scr + (u64)l * s[259] + (u32)((useva ? v[va * ws + l] : 0) + (sa >= 0 ? s[sa] : 0) + (u32)off);
            else if (seg == 2 && sa >= 0)
                ad = ((u64)s[sa] | (u64)s[sa + 1] << 32) + v[va * ws + l] + off;
            else
                ad = ((u64)v[va * ws + l] | (u64)v[(va + 1) * ws + l] << 32) + off;
            if (c.cls == access_atomic) {
                atomic_lane(R, ws, l, vs, vd, seg == 0 ? flat_ptr(ad, l, s, lds, scr) : (u8 *)ad, ret, c);
                continue;
            }
            for (int q = 0; q < n; q++) {
                u8 *p = seg == 0 ? flat_ptr(ad + q * 4, l, s, lds, scr) : (u8 *)(ad + q * 4);
                int nb = c.bytes < 4 ? c.bytes : 4;
                if (c.cls == access_load)
                    memcpy(&data[q], p, nb);
                else {
                    u32 x = R[(vs + q) * ws + l];
                    if (c.d16 == 2) x >>= 16;
                    memcpy(p, &x, nb);
                }
            }
            if (c.cls == access_load) {
                if (c.sgn) data[0] = c.bytes == 1 ? (u32)(i32)(signed char)data[0] : (u32)(i32)(short)data[0];
                if (c.d16 == 1)
                    R[vd * ws + l] = (R[vd * ws + l] & 0xffff0000u) | (data[0] & 0xffff);
                else if (c.d16 == 2)
                    R[vd * ws + l] = (R[vd * ws + l] & 0xffff) | data[0] << 16;
                else
                    for (int q = 0; q < n; q++) R[(vd + q) * ws + l] = data[q];
            }
        }
}
void op_mem9(ARGS)
{
    BEGIN access c = access_gfx9((d0 >> 18) & 0x7f);
    int seg = (d0 >> 14) & 3;
    u32 sa = (d1 >> 16) & 0x7f;
    i64 off = seg ? (i32)(d0 << 19) >> 19 : (i64)(d0 & 0xfff);
    memory_lanes(s, v, (d1 >> 23) & 1 ? acc : v, lds, scr, ex, seg, d1 & 0xff, d1 >> 24, (d1 >> 8) & 0xff,
                 seg && sa != 0x7f ? (int)sa : -1, (d0 >> 13) & 1, off, (d0 >> 16) & 1, c);
    NEXT(8);
}
void op_mem11(ARGS)
{
    BEGIN access c = access_gfx11((d0 >> 18) & 0x7f);
    int seg = (d0 >> 16) & 3;
    u32 sa = (d1 >> 16) & 0x7f;
    i64 off = (i32)(d0 << 19) >> 19;
    if (!seg) off = d0 & 0xfff;
    memory_lanes(s, v, v, lds, scr, ex, seg, d1 & 0xff, d1 >> 24, (d1 >> 8) & 0xff, seg && sa != 124 ? (int)sa : -1,
                 (d1 >> 23) & 1, off, (d0 >> 14) & 1, c);
    NEXT(8);
}
void op_mem12(ARGS)
{
    BEGIN u32 d2 = in[2];
    access c = access_gfx11((d0 >> 14) & 0x7f);
    int seg = (d0 >> 24) & 3;
    u32 sa = d0 & 0x7f;
    i64 off = (i32)d2 >> 8;
    memory_lanes(s, v, v, lds, scr, ex, seg, d2 & 0xff, d1 & 0xff, (d1 >> 23) & 0xff, seg && sa != 124 ? (int)sa : -1,
                 (d1 >> 17) & 1, off, (d1 >> 20) & 1, c);
    NEXT(12);
}
