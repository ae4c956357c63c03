// In: hip_library.h before it.
// Out: clang's __builtin_amdgcn_*, so that source for AMD targets runs here in its own geometry: lane moves, matrix
//      instructions, buffer resources, copies to LDS, conversions; scheduling hints do nothing.
// Refuses: with a trap, what an instruction cannot do (a matrix operation of half a wave), and modifiers that are not modelled.
#if defined(__cplusplus) && !defined(HS_HIP_AMDGCN_H)
#define HS_HIP_AMDGCN_H
#ifndef TF_ON_HOST
#include "hip_library.h"
#endif

// ---- geometry, scheduling
#define __builtin_amdgcn_workitem_id_x() (threadIdx.x)
#define __builtin_amdgcn_workitem_id_y() (threadIdx.y)
#define __builtin_amdgcn_workitem_id_z() (threadIdx.z)
#define __builtin_amdgcn_workgroup_id_x() (blockIdx.x)
#define __builtin_amdgcn_workgroup_id_y() (blockIdx.y)
#define __builtin_amdgcn_workgroup_id_z() (blockIdx.z)
#define __builtin_amdgcn_workgroup_size_x() ((unsigned short)blockDim.x)
#define __builtin_amdgcn_workgroup_size_y() ((unsigned short)blockDim.y)
#define __builtin_amdgcn_workgroup_size_z() ((unsigned short)blockDim.z)
#define __builtin_amdgcn_grid_size_x() (gridDim.x * blockDim.x)
#define __builtin_amdgcn_dispatch_ptr() ((const void *)&hs_blk->packet)
#define __builtin_amdgcn_wavefrontsize() hs_wave_size()
#define __builtin_amdgcn_s_barrier() hs_barrier(HS_SITE("s_barrier", HS_OP_NONE), HS_BARRIER)
#define __builtin_amdgcn_s_barrier_signal(id) ((void)(id)) // the wait does all of the work
#define __builtin_amdgcn_s_barrier_wait(id) ((void)(id), hs_barrier(HS_SITE("s_barrier_wait", HS_OP_NONE), HS_BARRIER))
#define __builtin_amdgcn_wave_barrier() hs_wave_sync(HS_SITE("wave_barrier", HS_OP_NONE))
#define __builtin_amdgcn_s_sleep(n) ((void)(n), tf_hs_yield())
#define __builtin_amdgcn_s_sleep_var(n) ((void)(n), tf_hs_yield())
#define __builtin_amdgcn_s_waitcnt(n) ((n) & 0xc00f ? (void)0 : hs_end_copies()) // vmcnt in these bits: 0 waits for all copies to LDS
#define __builtin_amdgcn_s_wait_event_export_ready() ((void)0)
#define __builtin_amdgcn_sched_barrier(m) ((void)(m))
#define __builtin_amdgcn_sched_group_barrier(m, n, id) ((void)(m), (void)(n), (void)(id))
#define __builtin_amdgcn_iglp_opt(n) ((void)(n))
#define __builtin_amdgcn_s_setprio(n) ((void)(n))
#define __builtin_amdgcn_s_setreg(n, v) ((void)(n), (void)(v))
#define __builtin_amdgcn_s_dcache_inv() ((void)0)
#define __builtin_amdgcn_s_memtime() __builtin_readcyclecounter()
#define __builtin_amdgcn_s_memrealtime() __builtin_readcyclecounter()
#define __builtin_amdgcn_endpgm() hs_trap("endpgm is not modelled")
#define __builtin_amdgcn_is_shared(p) (hs_is_shared(p))
#define clock64() ((long long)__builtin_readcyclecounter())
#define wall_clock64() ((long long)__builtin_readcyclecounter())
HS_INLINE bool hs_is_shared(const void *p) { return (uintptr_t)p - (uintptr_t)hs_blk->shared < hs_blk->shared_bytes; }
// Code may rely on a wave's lockstep around a wavefront fence. Fibers do not run in lockstep, so a release waits for the wave.
HS_INLINE void hs_amd_fence(const hs_place *s, int order, const char *scope)
{
    if (__builtin_strcmp(scope, "wavefront") || order == __ATOMIC_ACQUIRE) hs_fence(order);
    else hs_wave_sync(s);
}
#define __builtin_amdgcn_fence(order, scope, ...) hs_amd_fence(HS_SITE("fence", HS_OP_NONE), order, scope)

// ---- lanes
HS_INLINE hs_u32 hs_mbcnt(hs_u32 mask, hs_u32 base, int high)
{
    const int lane = (int)hs_lane() - 32 * high;
    const hs_u32 below = lane <= 0 ? 0 : lane >= 32 ? ~0u : (1u << lane) - 1;
    return base + (hs_u32)__builtin_popcount(mask & below);
}
#define __builtin_amdgcn_mbcnt_lo(mask, base) hs_mbcnt(mask, base, 0)
#define __builtin_amdgcn_mbcnt_hi(mask, base) hs_mbcnt(mask, base, 1)
HS_INLINE hs_u32 hs_first(const hs_place *s, hs_u32 v)
{
    hs_u64 *mail = hs_collect(s, v);
    return (hs_u32)mail[__builtin_ctzll(hs_cur->w->exec)];
}
#define __builtin_amdgcn_readfirstlane(v) ((int)hs_first(HS_SITE("readfirstlane", HS_OP_NONE), (hs_u32)(v)))
#define __builtin_amdgcn_readlane(v, lane) ((int)hs_readlane(HS_SITE("readlane", HS_OP_NONE), (hs_u32)(v), lane))
HS_INLINE hs_u32 hs_readlane(const hs_place *s, hs_u32 v, hs_u32 lane) { return (hs_u32)hs_collect(s, v)[lane & (hs_wave_size() - 1)]; }
#define __builtin_amdgcn_writelane(v, lane, old) ((int)(hs_lane() == (hs_u32)(lane) ? (v) : (old)))
#define __builtin_amdgcn_ds_bpermute(address, v)                                                                               \
    ((int)hs_shuffle(HS_SITE("ds_bpermute", HS_OP_NONE), (hs_u32)(v), (hs_u32)(address) >> 2 & (hs_wave_size() - 1)))
#define __builtin_amdgcn_ds_permute(address, v) hs_permute(HS_SITE("ds_permute", HS_OP_NONE), (hs_u32)(address), (hs_u32)(v))
HS_INLINE int hs_permute(const hs_place *s, hs_u32 address, hs_u32 v) // lanes send; if several send to one lane, the highest sender wins
{
    const hs_u32 n = hs_wave_size();
    hs_u64 *mail = hs_collect(s, (hs_u64)(address >> 2 & (n - 1)) << 32 | v);
    for (hs_u32 i = n; i-- > 0;)
        if (hs_active(i) && mail[i] >> 32 == hs_lane()) return (int)mail[i];
    return 0;
}
#define __builtin_amdgcn_ballot_w32(p) ((hs_u32)hs_ballot(HS_SITE("ballot_w32", HS_OP_BALLOT), p))
#define __builtin_amdgcn_ballot_w64(p) hs_ballot(HS_SITE("ballot_w64", HS_OP_BALLOT), p)
#define __builtin_amdgcn_read_exec() hs_ballot(HS_SITE("read_exec", HS_OP_BALLOT), true)

// ds_swizzle_b32: groups of four lanes, groups of 32 by and / or / xor, or a rotation of 32.
HS_INLINE hs_u32 hs_swizzle_source(hs_u32 lane, hs_u32 pattern)
{
    if (pattern >= 0xe000) hs_trap("ds_swizzle: the FFT mode is not modelled");
    const hs_u32 in = lane & 31;
    if (pattern >= 0xc000) {
        const hs_u32 mask = pattern & 31, by = pattern >> 5 & 31, to = pattern & 0x400 ? in - by : in + by;
        return (lane & ~31u) | (in & mask) | (to & 31 & ~mask);
    }
    if (pattern & 0x8000) return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
    return (lane & ~31u) | (((in & pattern) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}
#define __builtin_amdgcn_ds_swizzle(v, pattern)                                                                                \
    ((int)hs_shuffle(HS_SITE("ds_swizzle", HS_OP_NONE), (hs_u32)(v), hs_swizzle_source(hs_lane(), pattern)))

// The lane a DPP control reads, or -1 where there is none.
HS_INLINE int hs_dpp_source(int lane, int control, int wave)
{
    const int in = lane & 15, row = lane & ~15, n = control & 15;
    if (control < 0x100) return (lane & ~3) | (control >> 2 * (lane & 3) & 3);              // quad_perm
    if (control > 0x100 && control < 0x110) return in + n < 16 ? lane + n : -1;            // row_shl
    if (control > 0x110 && control < 0x120) return in >= n ? lane - n : -1;                // row_shr
    if (control > 0x120 && control < 0x130) return row | ((in - n) & 15);                  // row_ror
    if (control >= 0x150 && control < 0x160) return row | n;                               // row_share, row_newbcast
    if (control >= 0x160 && control < 0x170) return row | (in ^ n);                        // row_xmask
    switch (control) {
    case 0x130: return lane + 1 < wave ? lane + 1 : -1;    // wave_shl
    case 0x134: return (lane + 1) & (wave - 1);            // wave_rol
    case 0x138: return lane - 1;                           // wave_shr
    case 0x13c: return (lane - 1) & (wave - 1);            // wave_ror
    case 0x140: return row | (15 - in);                    // row_mirror
    case 0x141: return (lane & ~7) | (7 - (lane & 7));     // row_half_mirror
    case 0x142: return row - 1;                            // row_bcast15: the last lane of a row to the next row
    case 0x143: return lane >= 32 ? 31 : -1;               // row_bcast31
    default: hs_trap("this DPP control is not modelled");
    }
}
HS_INLINE hs_u32 hs_dpp(const hs_place *s, hs_u32 old, hs_u32 v, int control, int rows, int banks, bool bound)
{
    hs_u64 *mail = hs_collect(s, v);
    const int lane = (int)hs_lane(), from = hs_dpp_source(lane, control, (int)hs_wave_size());
    if (!(rows >> (lane >> 4 & 3) & 1) || !(banks >> (lane >> 2 & 3) & 1)) return old;
    if (from < 0 || !hs_active((hs_u32)from)) return bound ? 0 : old;
    return (hs_u32)mail[from];
}
#define __builtin_amdgcn_update_dpp(old, v, control, rows, banks, bound)                                                       \
    hs_value<decltype(hs_copy(v))>(hs_dpp(HS_SITE("update_dpp", HS_OP_NONE), (hs_u32)hs_word(old), (hs_u32)hs_word(v), control, \
                                          rows, banks, bound))
#define __builtin_amdgcn_mov_dpp(v, control, rows, banks, bound)                                                               \
    hs_value<decltype(hs_copy(v))>(hs_dpp(HS_SITE("mov_dpp", HS_OP_NONE), 0, (hs_u32)hs_word(v), control, rows, banks, bound))
#define __builtin_amdgcn_mov_dpp8(v, select)                                                                                   \
    (hs_shuffle(HS_SITE("mov_dpp8", HS_OP_NONE), (hs_u32)(v), (hs_lane() & ~7u) | ((select) >> 3 * (hs_lane() & 7) & 7)))

// v_permlane16: each lane of a row of 16 reads a lane of its row; x16: of the neighbouring row.
HS_INLINE hs_u32 hs_permlane(const hs_place *s, hs_u32 old, hs_u32 v, hs_u32 low, hs_u32 high, bool fetch, bool bound, hs_u32 other)
{
    hs_u64 *mail = hs_collect(s, v);
    const hs_u32 lane = hs_lane(), in = lane & 15, pick = (in < 8 ? low >> 4 * in : high >> 4 * (in - 8)) & 15;
    const hs_u32 from = (((lane & ~15u) ^ other) | pick) & (hs_wave_size() - 1);
    if (!hs_active(from) && !fetch) return bound ? 0 : old;
    return (hs_u32)mail[from];
}
#define __builtin_amdgcn_permlane16(old, v, low, high, fetch, bound)                                                           \
    hs_permlane(HS_SITE("permlane16", HS_OP_NONE), (hs_u32)(old), (hs_u32)(v), low, high, fetch, bound, 0)
#define __builtin_amdgcn_permlanex16(old, v, low, high, fetch, bound)                                                          \
    hs_permlane(HS_SITE("permlanex16", HS_OP_NONE), (hs_u32)(old), (hs_u32)(v), low, high, fetch, bound, 16)
#define __builtin_amdgcn_permlane64(v) (hs_shuffle(HS_SITE("permlane64", HS_OP_NONE), (hs_u32)(v), hs_lane() ^ 32))
// permlaneN_swap: exchanges the odd groups of N lanes of the first operand with the even groups of the second.
typedef hs_u32 hs_u32x2 __attribute__((ext_vector_type(2)));
HS_INLINE hs_u32x2 hs_permlane_swap(const hs_place *s, hs_u32 a, hs_u32 b, hs_u32 n)
{
    hs_u64 *mail = hs_collect(s, (hs_u64)b << 32 | a);
    const hs_u64 other = mail[(hs_lane() ^ n) & (hs_wave_size() - 1)];
    if (hs_lane() & n) return hs_u32x2{(hs_u32)(other >> 32), b};
    return hs_u32x2{a, (hs_u32)other};
}
#define __builtin_amdgcn_permlane32_swap(a, b, fetch, bound)                                                                   \
    hs_permlane_swap(HS_SITE("permlane32_swap", HS_OP_NONE), (hs_u32)(a), (hs_u32)(b), 32)
#define __builtin_amdgcn_permlane16_swap(a, b, fetch, bound)                                                                   \
    hs_permlane_swap(HS_SITE("permlane16_swap", HS_OP_NONE), (hs_u32)(a), (hs_u32)(b), 16)

// ---- matrix instructions: operands stay in the waiting lanes' frames, the last lane computes for all
template <unsigned OPERAND, unsigned WAVE, class A, class C>
HS_INLINE C hs_matrix(const hs_place *s, hs_u32 shape, const char *file, int line, A a, A b, C c, int modifiers)
{
    static_assert(sizeof(A) == OPERAND, "operand of the wrong size");
    if (hs_wave_size() != WAVE) hs_rt.trap("this matrix instruction is for waves of another size", file, line);
    if (modifiers) hs_rt.trap("modifiers of matrix instructions are not modelled", file, line);
    C d;
    hs_mma m = {&a, &b, &c, &d, shape};
    hs_collect(s, (hs_u64)(uintptr_t)&m);
    __asm__ volatile("" : : "r"(&a), "r"(&b), "r"(&c), "r"(&d) : "memory"); // the lane that computes reads and writes them
    return d;
}
#define HS_MFMA(shape, bytes, a, b, c, x, y, z)                                                                                \
    hs_matrix<bytes, 64>(HS_SITE(#shape, HS_OP_MMA), HS_##shape, __FILE__, __LINE__, a, b, c, (x) | (y) | (z))
#define HS_WMMA(shape, bytes, a, b, c)                                                                                         \
    hs_matrix<bytes, 32>(HS_SITE(#shape, HS_OP_MMA), HS_##shape, __FILE__, __LINE__, a, b, c, 0)
#define __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, x, y, z) HS_MFMA(MFMA_32x32x8_BF16, 8, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, x, y, z) HS_MFMA(MFMA_16x16x16_BF16, 8, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_32x32x4bf16(a, b, c, x, y, z) HS_MFMA(MFMA_32x32x4_BF16, 4, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_16x16x8bf16(a, b, c, x, y, z) HS_MFMA(MFMA_16x16x8_BF16, 4, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, x, y, z) HS_MFMA(MFMA_32x32x8_F16, 8, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, x, y, z) HS_MFMA(MFMA_16x16x16_F16, 8, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, c, x, y, z) HS_MFMA(MFMA_32x32x16_BF16, 16, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, x, y, z) HS_MFMA(MFMA_16x16x32_BF16, 16, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, c, x, y, z) HS_MFMA(MFMA_32x32x16_F16, 16, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, x, y, z) HS_MFMA(MFMA_16x16x32_F16, 16, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, x, y, z) HS_MFMA(MFMA_32x32x2_F32, 4, a, b, c, x, y, z)
#define __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, x, y, z) HS_MFMA(MFMA_16x16x4_F32, 4, a, b, c, x, y, z)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c) HS_WMMA(WMMA_16x16x16_F16_GFX11, 32, a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c) HS_WMMA(WMMA_16x16x16_BF16_GFX11, 32, a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c) HS_WMMA(WMMA_16x16x16_F16_GFX12, 16, a, b, c)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c) HS_WMMA(WMMA_16x16x16_BF16_GFX12, 16, a, b, c)

// ---- buffer resources: reads beyond the records give 0, writes there are dropped
struct hs_buffer {
    char *base;
    hs_u64 records;
};
typedef hs_buffer __amdgpu_buffer_rsrc_t;
HS_INLINE hs_buffer hs_make_buffer(const volatile void *p, short stride, hs_u64 records, unsigned flags)
{
    if (stride) hs_trap("buffer resources with a stride are not modelled");
    (void)flags;
    return {(char *)p, records};
}
#define __builtin_amdgcn_make_buffer_rsrc(p, stride, records, flags) hs_make_buffer(p, stride, (hs_u32)(records), flags)
typedef hs_u32 hs_u32x3 __attribute__((ext_vector_type(3)));
typedef hs_u32 hs_u32x4 __attribute__((ext_vector_type(4)));
template <class T, unsigned BYTES> HS_INLINE T hs_buffer_load(hs_buffer b, hs_u32 offset, hs_u32 scalar)
{
    T v = {};
    tf_hs_stands_in();
    if ((hs_u64)offset < b.records)
        tf_hs_says(b.base + offset + scalar, b.records - offset < BYTES ? b.records - offset : BYTES, HS_CHECK_READ);
    // Range checks are per word, and include the scalar offset, as for raw buffers on gfx9.
    for (unsigned i = 0; i < BYTES; i += BYTES < 4 ? BYTES : 4)
        if ((hs_u64)offset + i + (BYTES < 4 ? BYTES : 4) <= b.records)
            __builtin_memcpy((char *)&v + i, b.base + offset + scalar + i, BYTES < 4 ? BYTES : 4);
    return v;
}
template <unsigned BYTES, class T> HS_INLINE void hs_buffer_store(T v, hs_buffer b, hs_u32 offset, hs_u32 scalar)
{
    tf_hs_stands_in();
    if ((hs_u64)offset < b.records)
        tf_hs_says(b.base + offset + scalar, b.records - offset < BYTES ? b.records - offset : BYTES, HS_CHECK_WRITE);
    for (unsigned i = 0; i < BYTES; i += BYTES < 4 ? BYTES : 4)
        if ((hs_u64)offset + i + (BYTES < 4 ? BYTES : 4) <= b.records)
            __builtin_memcpy(b.base + offset + scalar + i, (const char *)&v + i, BYTES < 4 ? BYTES : 4);
}
#define __builtin_amdgcn_raw_buffer_load_b8(b, o, s, aux) hs_buffer_load<uint8_t, 1>(b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_load_b16(b, o, s, aux) hs_buffer_load<uint16_t, 2>(b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_load_b32(b, o, s, aux) hs_buffer_load<hs_u32, 4>(b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_load_b64(b, o, s, aux) hs_buffer_load<hs_u32x2, 8>(b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_load_b96(b, o, s, aux) hs_buffer_load<hs_u32x3, 12>(b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_load_b128(b, o, s, aux) hs_buffer_load<hs_u32x4, 16>(b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_store_b8(v, b, o, s, aux) hs_buffer_store<1>(v, b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_store_b16(v, b, o, s, aux) hs_buffer_store<2>(v, b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_store_b32(v, b, o, s, aux) hs_buffer_store<4>(v, b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_store_b64(v, b, o, s, aux) hs_buffer_store<8>(v, b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_store_b96(v, b, o, s, aux) hs_buffer_store<12>(v, b, (hs_u32)(o), (hs_u32)(s))
#define __builtin_amdgcn_raw_buffer_store_b128(v, b, o, s, aux) hs_buffer_store<16>(v, b, (hs_u32)(o), (hs_u32)(s))

// ---- copies to LDS. A copy completes when the lane waits for all its copies; until then its destination is NaN. So a missing wait, or a
// destination that is still being read, makes wrong numbers. The LDS address is the first lane's (M0) + the immediate + lane * bytes; the
// immediate is added to the memory address, too.
template <unsigned BYTES> HS_INLINE void hs_copy_to_lds(const hs_place *s, const char *from, bool valid, void *lds, hs_u32 immediate)
{
    static_assert(BYTES == 1 || BYTES == 2 || BYTES == 4 || BYTES == 12 || BYTES == 16, "copies to LDS are of 1, 2, 4, 12 or 16 bytes");
    hs_u64 *mail = hs_collect(s, (hs_u64)(uintptr_t)lds);
    char *to = (char *)(uintptr_t)mail[__builtin_ctzll(hs_cur->w->exec)] + immediate + hs_lane() * (BYTES < 4 ? 4 : BYTES);
    constexpr hs_u32 room = BYTES < 4 ? 4 : BYTES; // small copies write a word, extended with zeros
    hs_wave *w = hs_cur->w;
    const hs_u32 lane = hs_lane(), count = w->copies_made[lane]++;
    tf_hs_stands_in();
    if (valid) tf_hs_says(from + immediate, BYTES, HS_CHECK_READ);
    tf_hs_says(to, room, HS_CHECK_WRITE);
    if (count == HS_MAX_COPIES) hs_trap("more copies to LDS in flight than a lane can count");
    w->copies[lane * HS_MAX_COPIES + count] = {valid ? from + immediate : nullptr, to, BYTES, room};
    __builtin_memset(to, 0xff, room);
}
HS_INLINE void hs_end_copies()
{
    hs_wave *w = hs_cur->w;
    const hs_u32 lane = hs_lane();
    tf_hs_stands_in();
    for (hs_u32 i = 0; i < w->copies_made[lane]; i++) {
        const hs_lds_copy &x = w->copies[lane * HS_MAX_COPIES + i];
        __builtin_memset(x.to, 0, x.room);
        if (x.from) __builtin_memcpy(x.to, x.from, x.bytes);
    }
    w->copies_made[lane] = 0;
}
#define __builtin_amdgcn_global_load_lds(from, lds, bytes, offset, aux)                                                        \
    hs_copy_to_lds<bytes>(HS_SITE("global_load_lds", HS_OP_NONE), (const char *)(from), true, (void *)(lds), offset)
#define __builtin_amdgcn_raw_ptr_buffer_load_lds(b, lds, bytes, voffset, soffset, offset, aux)                                 \
    hs_copy_to_lds<bytes>(HS_SITE("raw_ptr_buffer_load_lds", HS_OP_NONE),                                                      \
                          (b).base + (hs_u32)(voffset) + (hs_u32)(soffset),                                                    \
                          (hs_u64)(hs_u32)(voffset) + (hs_u32)(offset) + (bytes) <= (b).records, (void *)(lds), offset)

// ---- arithmetic
#define __builtin_amdgcn_exp2f(x) __builtin_exp2f(x)
#define __builtin_amdgcn_logf(x) __builtin_log2f(x)
#define __builtin_amdgcn_rcpf(x) (1.0f / (float)(x))
#define __builtin_amdgcn_rsqf(x) (1.0f / __builtin_sqrtf(x))
#define __builtin_amdgcn_sqrtf(x) __builtin_sqrtf(x)
#define __builtin_amdgcn_sinf(x) __builtin_sinf((float)(x) * 6.28318530717958647692f)
#define __builtin_amdgcn_cosf(x) __builtin_cosf((float)(x) * 6.28318530717958647692f)
#define __builtin_amdgcn_fractf(x) hs_fract(x)
#define __builtin_amdgcn_ldexpf(x, e) __builtin_ldexpf(x, e)
#define __builtin_amdgcn_fmed3f(a, b, c) __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c))
HS_INLINE float hs_fract(float x) { return __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f); }
HS_INLINE hs_u32 hs_ubfe(hs_u32 v, hs_u32 at, hs_u32 bits) { return bits & 31 ? v >> (at & 31) & ((1u << (bits & 31)) - 1) : 0; }
#define __builtin_amdgcn_ubfe(v, at, bits) hs_ubfe(v, at, bits)
#define __builtin_amdgcn_alignbit(high, low, by) ((hs_u32)(((hs_u64)(hs_u32)(high) << 32 | (hs_u32)(low)) >> ((by) & 31)))
#define __builtin_amdgcn_alignbyte(high, low, by) ((hs_u32)(((hs_u64)(hs_u32)(high) << 32 | (hs_u32)(low)) >> 8 * ((by) & 3)))
HS_INLINE hs_u32 hs_perm(hs_u32 high, hs_u32 low, hs_u32 select) // v_perm_b32
{
    const hs_u64 bytes = (hs_u64)high << 32 | low;
    hs_u32 r = 0;
    for (int i = 0; i < 4; i++) {
        const hs_u32 s = select >> 8 * i & 255;
        hs_u32 b = s < 8 ? (hs_u32)(bytes >> 8 * s) & 255 : s == 12 ? 0 : 255;
        if (s >= 8 && s < 12) b = bytes >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
        r |= b << 8 * i;
    }
    return r;
}
#define __builtin_amdgcn_perm(high, low, select) hs_perm(high, low, select)
typedef _Float16 hs_f16x2 __attribute__((ext_vector_type(2)));
HS_INLINE _Float16 hs_half_toward_zero(float x)
{
    _Float16 h = (_Float16)x;
    uint16_t bits = __builtin_bit_cast(uint16_t, h);
    const bool finite = (__builtin_bit_cast(hs_u32, x) & 0x7fffffff) < 0x7f800000;
    if (finite && __builtin_fabsf((float)h) > __builtin_fabsf(x)) bits--;
    return __builtin_bit_cast(_Float16, bits);
}
HS_INLINE hs_f16x2 hs_cvt_pkrtz(float a, float b) { return hs_f16x2{hs_half_toward_zero(a), hs_half_toward_zero(b)}; }
#define __builtin_amdgcn_cvt_pkrtz(a, b) hs_cvt_pkrtz(a, b)
template <class V> HS_INLINE float hs_fdot2(V a, V b, float c)
{
    return __builtin_fmaf((float)a[1], (float)b[1], __builtin_fmaf((float)a[0], (float)b[0], c));
}
#define __builtin_amdgcn_fdot2(a, b, c, clamp) hs_fdot2(a, b, c)
#endif
