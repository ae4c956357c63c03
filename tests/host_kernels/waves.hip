// Wave operations: each kernel writes a word a thread (or as many as it says) that the test computes by other means.
struct waves_args { const unsigned *in; unsigned *out; };
#define KERNEL(name, ...)                                                                                                      \
    extern "C" __global__ void name(const waves_args p)                                                                        \
    {                                                                                                                          \
        const unsigned t = threadIdx.x, v = p.in[t];                                                                           \
        (void)v;                                                                                                               \
        __VA_ARGS__;                                                                                                           \
    }                                                                                                                          \
    TF_EXPORT(name)
KERNEL(xor5, p.out[t] = __shfl_xor(v, 5))
KERNEL(xor8in8, p.out[t] = tf_hs_shfl_xor(v, 8, 8))
KERNEL(pick, p.out[t] = tf_hs_shfl(v, (int)(t * 7), 16))
KERNEL(down3, p.out[t] = __shfl_down(v, 3u, 16))
KERNEL(up3, p.out[t] = __shfl_up(v, 3u))
KERNEL(wide, struct five { unsigned a[5]; } f = {{v, v + 1, v + 2, v + 3, v + 4}}; f = __shfl(f, 2); p.out[t] = f.a[0] ^ f.a[4])
KERNEL(ballots, const unsigned long long b = __ballot(v & 1); p.out[2 * t] = (unsigned)b, p.out[2 * t + 1] = (unsigned)(b >> 32))
KERNEL(votes, p.out[t] = (unsigned)(tf_hs_any(v > 90) | tf_hs_all(v > 0) << 1 | tf_hs_any(v > 1000) << 2 | tf_hs_all(v > 10) << 3))
KERNEL(sums, p.out[t] = tf_hs_wave_sum(v); p.out[1024 + t] = tf_hs_wave_sum(v, 8); p.out[2048 + t] = tf_hs_wave_max((int)v - 50);
       p.out[3072 + t] = tf_hs_wave_min(v, 4))
KERNEL(float_sums, float s = __uint_as_float(v), b = s; b = tf_hs_wave_sum(b); for (int m = 1; m < warpSize; m *= 2) s += __shfl_xor(s, m);
       p.out[t] = __float_as_uint(s); p.out[1024 + t] = __float_as_uint(b);
       p.out[2048 + t] = __float_as_uint(tf_hs_wave_max(__uint_as_float(v))))
KERNEL(first, p.out[t] = __builtin_amdgcn_readfirstlane(v))
KERNEL(lane9, p.out[t] = __builtin_amdgcn_readlane(v, 9))
KERNEL(bpermute, p.out[t] = __builtin_amdgcn_ds_bpermute(4 * (t * 3 + 1), v))
KERNEL(permute, p.out[t] = __builtin_amdgcn_ds_permute(4 * (t ^ 6), v))
KERNEL(swizzle_xor, p.out[t] = __builtin_amdgcn_ds_swizzle(v, 0x401f | 3 << 10))
KERNEL(swizzle_quad, p.out[t] = __builtin_amdgcn_ds_swizzle(v, 0x8000 | 0x1b))
KERNEL(swizzle_broadcast, p.out[t] = __builtin_amdgcn_ds_swizzle(v, 5 << 5 | 0x18))
KERNEL(swap32, const auto r = __builtin_amdgcn_permlane32_swap(v, v + 1000, false, false); p.out[2 * t] = r[0], p.out[2 * t + 1] = r[1])
KERNEL(swap16, const auto r = __builtin_amdgcn_permlane16_swap(v, v + 1000, false, false); p.out[2 * t] = r[0], p.out[2 * t + 1] = r[1])
KERNEL(permlanex, p.out[t] = __builtin_amdgcn_permlanex16(7, v, 0x76543210, 0xfedcba98, true, false))
KERNEL(permlane_turn, p.out[t] = __builtin_amdgcn_permlane16(7, v, 0x89abcdef, 0x01234567, true, false))

#define DPP(name, control, rows, banks, bound) KERNEL(name, p.out[t] = __builtin_amdgcn_update_dpp(7u, v, control, rows, banks, bound))
DPP(dpp_quad, 0x4e, 15, 15, true)
DPP(dpp_shl, 0x103, 15, 15, true)
DPP(dpp_shr, 0x111, 15, 15, false)
DPP(dpp_ror, 0x124, 15, 15, true)
DPP(dpp_mirror, 0x140, 15, 15, true)
DPP(dpp_half_mirror, 0x141, 15, 15, true)
DPP(dpp_bcast15, 0x142, 10, 15, false)
DPP(dpp_bcast31, 0x143, 12, 15, false)
DPP(dpp_share, 0x155, 15, 15, true)
DPP(dpp_xmask, 0x163, 15, 15, true)
DPP(dpp_banks, 0xb1, 5, 6, false)
KERNEL(dpp_float, p.out[t] = __float_as_uint(__builtin_amdgcn_mov_dpp(__uint_as_float(v), 0x140, 15, 15, true)))
KERNEL(mov_dpp8, p.out[t] = __builtin_amdgcn_mov_dpp8(v, 0xfac688)) // lanes 0,1,2,3,4,5,6,7 of each group in reverse

// Lanes diverge, run different wave operations, some leave, the rest meet again.
KERNEL(divergent, unsigned r = 0; const unsigned lane = t & 63; if (lane < 20) {
    r = __shfl(v, 3);
    r += __popcll(__ballot(1));
} else {
    r = __shfl(v * 2, 25);
}
r += __shfl_xor(v, 1);
if (lane == 7) return;
for (unsigned i = 0; i < lane % 3; i++) r += __popcll(__ballot(1));
r += __popcll(__ballot(1));
__syncthreads();
p.out[t] = r)

// In a branch, lanes outside of it give 0, and the first lane is the first of the branch.
KERNEL(alone, unsigned r = 0; if ((t & 63) >= 20) {
    r = __shfl(v, 3) + 1000 * __shfl(v, 40);
    r += 1000000 * __builtin_amdgcn_readfirstlane(v);
}
p.out[t] = r)

// A function with a wave operation, called in a branch: lanes that skip the branch must wait behind it.
static __device__ __forceinline__ unsigned helper(unsigned v) { return __popcll(__ballot(v != ~0u)); }
KERNEL(helped, unsigned r = 0; if (t & 1) r = helper(v); r += 100 * helper(v + 1); if (t & 2) r += 10000 * helper(v); p.out[t] = r)

KERNEL(copied_to_lds, TF_SHARED_STRUCT(unsigned[256], sh);
       __builtin_amdgcn_global_load_lds(p.in + (t ^ 1), (unsigned __attribute__((address_space(3))) *)&sh[t & ~63u], 4, 0, 0);
       __builtin_amdgcn_s_waitcnt(0); __syncthreads(); p.out[t] = sh[t])
KERNEL(buffered, const auto b = __builtin_amdgcn_make_buffer_rsrc((void *)p.in, 0, 40 * 4, 0x27000);
       const auto w = __builtin_amdgcn_raw_buffer_load_b128(b, 4 * t, 0, 0); p.out[t] = w[0] + w[1] + w[2] + w[3];
       const auto o = __builtin_amdgcn_make_buffer_rsrc(p.out + 1024, 0, 8 * 4, 0);
       __builtin_amdgcn_raw_buffer_store_b32(v, o, 4 * t, 0, 0))
KERNEL(permuted_bytes, p.out[t] = __builtin_amdgcn_perm(v * 0x01030507u, v * 0x11131517u, 0x0c060104))
