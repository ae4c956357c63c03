/* In: a wave whose lanes (all, or a group in divergent code) have arrived at one collective, their operands in the mailbox.
 * Out: the mailbox holds each lane's result, and the lanes can run.
 * Refuses: matrix instructions by part of a wave, reductions over a width that is not a power of two within the wave. */
#define _GNU_SOURCE
#include <string.h>
#include "runtime/host/engine.h"

/* Reduces pairs in the order of an xor butterfly, so that a sum has the same bits as one by shuffles. Absent lanes hold the identity. Loops
 * run over whole vectors of 64, so the compiler vectorises them. */
#define FOLD(name, type, expression)                                                                                           \
    static void name(type *v, unsigned width)                                                                                  \
    {                                                                                                                          \
        for (unsigned m = 1; m < width; m *= 2)                                                                                \
            for (unsigned base = 0; base < HS_MAX_WAVE; base += 2 * m)                                                         \
                for (unsigned i = base; i < base + m; i++) {                                                                   \
                    const type a = v[i], b = v[i + m];                                                                         \
                    v[i] = v[i + m] = (expression);                                                                            \
                }                                                                                                              \
    }
FOLD(sum_f32, float, a + b)
FOLD(max_f32, float, __builtin_fmaxf(a, b))
FOLD(min_f32, float, __builtin_fminf(a, b))
FOLD(sum_u32, uint32_t, a + b)
FOLD(max_i32, int32_t, a > b ? a : b)
FOLD(min_i32, int32_t, a < b ? a : b)
FOLD(max_u32, uint32_t, a > b ? a : b)
FOLD(min_u32, uint32_t, a < b ? a : b)

static uint32_t identity(hs_u32 op)
{
    switch (op) {
    case HS_OP_SUM_F32: return 0x80000000; /* -0.0: -0 + x is x for every x */
    case HS_OP_MAX_F32: return 0xff800000;
    case HS_OP_MIN_F32: return 0x7f800000;
    case HS_OP_MAX_I32: return 0x80000000;
    case HS_OP_MIN_I32: return 0x7fffffff;
    case HS_OP_MIN_U32: return 0xffffffff;
    default: return 0;
    }
}

static const char *fold(const hs_wave *w, hs_u64 lanes, hs_u32 op, hs_u64 *mail)
{
    union {
        uint32_t u[HS_MAX_WAVE];
        int32_t i[HS_MAX_WAVE];
        float f[HS_MAX_WAVE];
    } v;
    const unsigned width = (unsigned)(mail[__builtin_ctzll(lanes)] >> 32);
    if (!width || width > w->size || (width & (width - 1))) return "a reduction over a width that is not a power of two within the wave";
    for (unsigned i = 0; i < HS_MAX_WAVE; i++) v.u[i] = lanes >> i & 1 ? (uint32_t)mail[i] : identity(op);
    switch (op) {
    case HS_OP_SUM_F32: sum_f32(v.f, width); break;
    case HS_OP_MAX_F32: max_f32(v.f, width); break;
    case HS_OP_MIN_F32: min_f32(v.f, width); break;
    case HS_OP_SUM_I32: sum_u32(v.u, width); break;
    case HS_OP_MAX_I32: max_i32(v.i, width); break;
    case HS_OP_MIN_I32: min_i32(v.i, width); break;
    case HS_OP_MAX_U32: max_u32(v.u, width); break;
    default: min_u32(v.u, width); break;
    }
    for (hs_u64 m = lanes; m; m &= m - 1) mail[__builtin_ctzll(m)] = v.u[__builtin_ctzll(m)];
    return NULL;
}

static void ballot(hs_u64 lanes, hs_u64 *mail)
{
    hs_u64 set = 0;
    for (hs_u64 m = lanes; m; m &= m - 1) set |= (hs_u64)(mail[__builtin_ctzll(m)] != 0) << __builtin_ctzll(m);
    for (hs_u64 m = lanes; m; m &= m - 1) mail[__builtin_ctzll(m)] = set;
}

static const char *matrix(const hs_wave *w, hs_u64 lanes, hs_u64 *mail)
{
    checker *check = block_of(w)->launch->check;
    const hs_u32 shape = ((const hs_mma *)(uintptr_t)mail[__builtin_ctzll(lanes)])->shape;
    const hs_u64 all = w->size == 64 ? ~0ull : (1ull << w->size) - 1;
    if (lanes != all) return "a matrix instruction that not all lanes of the wave execute";
    if (w->size != mma_wave(shape)) return "a matrix instruction for waves of another size";
    if (check) check_matrix(check, mma_operations(shape));
    return mma_run(shape, mail);
}

static void refuse(hs_wave *w, const hs_site *site, const char *why)
{
    block *b = block_of(w);
    launch *l = b->launch;
    b->state = BLOCK_FAILED;
    if (!launch_fail(l, HOST_TRAP)) return;
    log_add(l->log, "%s:%u: %s: %s\n  kernel %s block (%u,%u,%u) wave %u\n", site->file, site->line, site->what, why, l->kernel,
            b->pub.id.x, b->pub.id.y, b->pub.id.z, w->idx);
    launch_reported(l);
}

/* Lanes of NVIDIA GPUs are scheduled independently since Volta, and of all warp collectives only __syncwarp() orders their accesses (CUDA
 * C++ Programming Guide: shuffles "do not imply a memory barrier"; __syncwarp() "guarantees memory ordering among threads participating in
 * the barrier"). AMD's waves run in lockstep: LDS accesses are performed for a whole wave at a time, in program order (LLVM, User Guide for
 * AMDGPU Backend, Memory Model). Here lanes run one after the other, so a collective represents that order. */
static bool orders_lanes(hs_u32 op) { return !(op & HS_OP_APART) || op & HS_OP_MEETS; }

void wave_complete(hs_wave *w, hs_u64 lanes, const hs_site *site, hs_u32 word)
{
    hs_u64 *mail = w->mail[word & HS_PARITY ? 1 : 0];
    const hs_u32 op = site->op & 255;
    const char *why = NULL;
    w->exec = lanes;
    w->collectives++;
    if (lanes == w->full) memset(w->site, 0, (size_t)__builtin_popcountll(lanes) * sizeof *w->site);
    else
        for (hs_u64 m = lanes; m; m &= m - 1) w->site[__builtin_ctzll(m)] = HS_RUN;
    if (block_of(w)->launch->check) check_collective(block_of(w)->launch->check, w, orders_lanes(site->op));
    if (op == HS_OP_BALLOT) ballot(lanes, mail);
    else if (op == HS_OP_MMA) why = matrix(w, lanes, mail);
    else if (op != HS_OP_NONE) why = op < HS_OP_COUNT ? fold(w, lanes, op, mail) : "an unknown operation";
    if (why) refuse(w, site, why);
}
