/* In: instructions that tinygrad's emulator lacks or gets wrong and that belong to no other file. Out: their results. Refuses DPP with
 * carry (the harness does not route it here). */
#include "machine.h"

void op_nop4(ARGS) { BEGIN NEXT(4); }
void op_nop8(ARGS) { BEGIN NEXT(8); }
void op_nop12(ARGS) { BEGIN NEXT(12); }

// s_mov_b64 sdst, src_{shared,private}_{base,limit}
void op_mov_aperture(ARGS)
{
    BEGIN u32 d = (d0 >> 16) & 0x7f, c = d0 & 0xff;
    u64 val = c == 235   ? emu_shared_aperture
              : c == 236 ? emu_shared_aperture + 0xffffffff
              : c == 237 ? emu_private_aperture
                         : emu_private_aperture + 0xffffffff;
    s[d] = (u32)val;
    s[d + 1] = (u32)(val >> 32);
    NEXT(4);
}
// s_getpc_b64: the address of the next instruction (tables in constant memory are found from it)
void op_getpc(ARGS)
{
    BEGIN u32 d = (d0 >> 16) & 0x7f;
    s[d] = (u32)(pc + 4);
    s[d + 1] = (u32)((pc + 4) >> 32);
    NEXT(4);
}
// s_setpc_b64, s_swappc_b64: a return and a call of a function
void op_setpc(ARGS)
{
    BEGIN u32 from = d0 & 0xff, low = s[from], high = s[from + 1];
    s[256] = low;
    s[257] = high;
}
void op_swappc(ARGS)
{
    BEGIN u32 from = d0 & 0xff, to = (d0 >> 16) & 0x7f, low = s[from], high = s[from + 1];
    s[to] = (u32)(pc + 4);
    s[to + 1] = (u32)((pc + 4) >> 32);
    s[256] = low;
    s[257] = high;
}
// s_getreg / s_setreg: MODE reads as round-even + denormals on, SH_MEM_BASES as the apertures, the rest as 0; writes
// ignored
void op_getreg(ARGS)
{
    BEGIN u32 id = d0 & 63, off = (d0 >> 6) & 31, sz = ((d0 >> 11) & 31) + 1;
    u32 val = id == 1 ? 0x2f0 : id == 15 ? (u32)(emu_shared_aperture >> 48 << 16 | emu_private_aperture >> 48) : 0;
    s[(d0 >> 16) & 0x7f] = (val >> off) & (sz == 32 ? ~0u : (1u << sz) - 1);
    NEXT(4);
}

// ---------------------------------------------------------------- clocks: s_memrealtime, s_sendmsg_rtn_b64 of the real time
static inline void put_clock(u32 *s, u32 to)
{
    s[to] = (u32)emu_clock;
    s[to + 1] = (u32)(emu_clock >> 32);
}
void op_memrealtime(ARGS)
{
    BEGIN put_clock(s, d0 >> 6 & 0x7f);
    NEXT(8);
}
void op_realtime_message(ARGS)
{
    BEGIN put_clock(s, d0 >> 16 & 0x7f);
    NEXT(4);
}

// ---------------------------------------------------------------- gfx950 v_permlane{16,32}_swap_b32 (e32)
void op_swap(ARGS)
{
    BEGIN u32 op = (d0 >> 9) & 0xff, x = d0 & 0xff, y = (d0 >> 17) & 0xff, h = op == 0x59 ? 16 : 32, t;
    for (u32 l = 0; l < 64; l++)
        if (!(l & h) && ACTIVE(l) && ACTIVE(l + h)) {
            t = v[x * 64 + l];
            v[x * 64 + l] = v[y * 64 + l + h];
            v[y * 64 + l + h] = t;
        }
    NEXT(4);
}

// ---------------------------------------------------------------- RDNA v_permlanex16_b32: each lane reads one of the 16 lanes of the other
// half. From an inactive lane it reads: the value with FI (op_sel 0), else zero with BC (op_sel 1), else it keeps its own
static inline u32 scalar_source(u32 *s, u32 field, u32 literal) { return field == 255 ? literal : s[field]; }
void op_permlanex16(ARGS)
{
    BEGIN u32 d = d0 & 0xff, from = (d1 & 0xff), low = (d1 >> 9) & 0x1ff, high = (d1 >> 18) & 0x1ff, old[32];
    u64 select = (u64)scalar_source(s, high, in[2]) << 32 | scalar_source(s, low, in[2]);
    memcpy(old, v + from * 32, sizeof old); // the result may lie where the source is
    for (u32 l = 0; l < 32; l++) {
        u32 other = ((l & 16) ^ 16) | (u32)(select >> 4 * (l & 15) & 15);
        if (!ACTIVE(l)) continue;
        if (ACTIVE(other) || d0 >> 11 & 1)
            v[d * 32 + l] = old[other];
        else if (d0 >> 12 & 1)
            v[d * 32 + l] = 0;
    }
    NEXT(low == 255 || high == 255 ? 12 : 8);
}

// ---------------------------------------------------------------- gfx90a unfused multiply-add (absent from gfx940+ and
// so from the emulator)
static inline float vsrc(u32 *s, u32 *v, u32 f, u32 lit, int l)
{
    return as_float(f >= 256 ? v[(f - 256) * 64 + l] : f == 255 ? lit : s[f]);
}
void op_mad_vop2(ARGS)
{
    BEGIN u32 op = (d0 >> 25) & 0x3f, f = d0 & 0x1ff, y = (d0 >> 9) & 0xff, d = (d0 >> 17) & 0xff;
    for (int l = 0; l < 64; l++)
        if (ACTIVE(l)) {
            float a = vsrc(s, v, f, d1, l), b = as_float(v[y * 64 + l]), c = as_float(v[d * 64 + l]);
            volatile float p = op == 0x17 ? a * as_float(d1) : a * b;
            v[d * 64 + l] = as_bits(p + (op == 0x17 ? b : op == 0x18 ? as_float(d1) : c));
        }
    NEXT(op != 0x16 || f == 255 ? 8 : 4);
}
void op_mad_vop3(ARGS)
{
    BEGIN u32 op = (d0 >> 16) & 0x3ff, d = d0 & 0xff, ab = (d0 >> 8) & 7, ng = (d1 >> 29) & 7, om = (d1 >> 27) & 3;
    for (int l = 0; l < 64; l++)
        if (ACTIVE(l)) {
            float x[3] = {vsrc(s, v, d1 & 0x1ff, 0, l), vsrc(s, v, (d1 >> 9) & 0x1ff, 0, l),
                          op == 0x116 ? as_float(v[d * 64 + l]) : vsrc(s, v, (d1 >> 18) & 0x1ff, 0, l)};
            for (int i = 0; i < 3; i++) {
                if (ab >> i & 1) x[i] = fabsf(x[i]);
                if (ng >> i & 1) x[i] = -x[i];
            }
            volatile float p = x[0] * x[1];
            float r = p + x[2];
            r *= om == 1 ? 2.f : om == 2 ? 4.f : om == 3 ? .5f : 1.f;
            if (d0 >> 15 & 1) r = r > 0 ? (r < 1 ? r : 1) : 0;
            v[d * 64 + l] = as_bits(r);
        }
    NEXT(8);
}

// ---------------------------------------------------------------- in-place DPP (vdst == vsrc0): the emulator updates
// lanes in order, so a lane could read a neighbour's new value; run it once per lane against a snapshot instead.
// VOP1/VOP2 without a mask result only.
typedef struct {
    u64 pc;
    slot e;
} wrapped_slot;
static wrapped_slot wrapped[65536];
static int wrapped_count;
void emu_forget_wrapped(void) { wrapped_count = 0; }
int emu_wrap(u64 pc, slot *e)
{
    if (wrapped_count >= 65536) return -1;
    wrapped[wrapped_count].pc = pc;
    wrapped[wrapped_count++].e = *e;
    return 0;
}
void op_dpp_inplace(ARGS)
{
    BEGIN slot *e = 0;
    for (int i = 0; i < wrapped_count; i++)
        if (wrapped[i].pc == pc) e = &wrapped[i].e;
    u32 dst = (d0 >> 17) & 0xff, snap[64], res[64];
    u64 b[6] = {S_, V_, M_, L_, X_, A_};
    u32 *row = &v[dst * emu_wave];
    memcpy(snap, row, emu_wave * 4);
    memcpy(res, row, emu_wave * 4);
    u32 e0 = s[126], e1 = s[127];
    for (int l = 0; l < emu_wave; l++)
        if (ACTIVE(l)) {
            u64 m = 1ull << l;
            s[126] = (u32)m;
            if (emu_wave == 64) s[127] = (u32)(m >> 32);
            s[256] = (u32)pc;
            s[257] = (u32)(pc >> 32);
            e->f(b[e->ix[0]], b[e->ix[1]], b[e->ix[2]], b[e->ix[3]], b[e->ix[4]], b[e->ix[5]]);
            res[l] = row[l];
            memcpy(row, snap, emu_wave * 4);
        }
    memcpy(row, res, emu_wave * 4);
    s[126] = e0;
    if (emu_wave == 64) s[127] = e1;
    NEXT(8);
}
