// In: vectors of a wave's registers, pointers, LDS. Out: CDNA's matrix products and copies under one set of names, with the row and
// column of each accumulator as functions. Refuses other targets. Builtins alone, so that the host engine can stand in for them. Needs isa/simt.h.
#pragma once

DEV int uniform(int same_in_all_lanes) { return __builtin_amdgcn_readfirstlane(same_in_all_lanes); }

// ---- matrix products of a wave: result(i, j) += sum over k of a(i, k) * b(j, k), 16 x 16, over 64 bytes of k

using accumulator = float __attribute__((ext_vector_type(4)));
using four_shorts = short __attribute__((ext_vector_type(4)));
using four_halves = _Float16 __attribute__((ext_vector_type(4)));
using four_floats = float __attribute__((ext_vector_type(4)));

// Lane l holds 16 bytes of a(l % 16, ...) and of b(l % 16, ...), piece l / 16 of the 64, and result(4 * (l / 16) + e, l % 16). Where an
// instruction takes less than 16 bytes, several do; which element then meets which instruction is the same in a and b, so k is merely
// summed in another order.
template <class T> struct matrix;

#if TF_GFX >= 0x950
template <> struct matrix<bf16> {
    using operand = __bf16 __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
    }
};
template <> struct matrix<f16> {
    using operand = _Float16 __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
    }
};
#else
template <> struct matrix<bf16> {
    using operand = short __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        const four_shorts a0 = {a[0], a[1], a[2], a[3]}, a1 = {a[4], a[5], a[6], a[7]};
        const four_shorts b0 = {b[0], b[1], b[2], b[3]}, b1 = {b[4], b[5], b[6], b[7]};
        c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a0, b0, c, 0, 0, 0);
        return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a1, b1, c, 0, 0, 0);
    }
};
template <> struct matrix<f16> {
    using operand = _Float16 __attribute__((ext_vector_type(8)));
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
        const four_halves a0 = {a[0], a[1], a[2], a[3]}, a1 = {a[4], a[5], a[6], a[7]};
        const four_halves b0 = {b[0], b[1], b[2], b[3]}, b1 = {b[4], b[5], b[6], b[7]};
        c = __builtin_amdgcn_mfma_f32_16x16x16f16(a0, b0, c, 0, 0, 0);
        return __builtin_amdgcn_mfma_f32_16x16x16f16(a1, b1, c, 0, 0, 0);
    }
};
#endif
template <> struct matrix<float> {
    using operand = four_floats;
    DEV static accumulator multiply(operand a, operand b, accumulator c)
    {
#pragma unroll
        for (int i = 0; i < 4; i++) c = __builtin_amdgcn_mfma_f32_16x16x4f32(a[i], b[i], c, 0, 0, 0);
        return c;
    }
};

struct fragment {
    DEV static int quad() { return thread_index() % 64 / 16; }
    DEV static int line() { return thread_index() % 16; }
};

// ---- memory

using lds_address = __attribute__((address_space(3))) char *;
using sixteen_bytes = unsigned __attribute__((ext_vector_type(4)));

DEV unsigned storage_bits(bf16 x) { return x.bits; }
DEV unsigned storage_bits(f16 x) { return __builtin_bit_cast(unsigned short, x); }
DEV unsigned storage_bits(float x) { return float_bits(x); }

DEV void lds_write(lds_address to, sixteen_bytes x)
{
    *reinterpret_cast<__attribute__((address_space(3))) sixteen_bytes *>(to) = x;
}
template <class T> DEV T lds_read(lds_address from) { return *reinterpret_cast<__attribute__((address_space(3))) const T *>(from); }

#if TF_GFX >= 0x950
using buffer = __amdgpu_buffer_rsrc_t;

// Loads beyond `bytes` give zero. The base is the same in all lanes.
DEV buffer buffer_of(const void *base, long long bytes)
{
    const long long most = 0x7ffffff0;
    const int size = uniform(static_cast<int>(bytes < 0 ? 0 : bytes < most ? bytes : most));
    const unsigned long long at = reinterpret_cast<unsigned long long>(base);
    const unsigned low = uniform(static_cast<int>(at)), high = uniform(static_cast<int>(at >> 32));
    void *same = reinterpret_cast<void *>(static_cast<unsigned long long>(high) << 32 | low);
    return __builtin_amdgcn_make_buffer_rsrc(same, 0, size, 0x00020000);
}
constexpr int beyond = 0x7ffffff8; // an offset that no buffer reaches

// 16 bytes a lane from buffer + offset + step to LDS at `to` + 16 * lane. `to` and `step` are the same in all lanes; asynchronous. With
// Shared, past the caches of one chiplet: data that other workgroups of this launch stored.
template <bool Shared> DEV void copy_to_lds(lds_address to, buffer from, int offset, int step)
{
    constexpr int device_scope = 1 << 4; // sc1
    __builtin_amdgcn_raw_ptr_buffer_load_lds(from, reinterpret_cast<__attribute__((address_space(3))) void *>(to), 16, offset, step, 0,
                                             Shared ? device_scope : 0);
}
#endif

DEV void wait_memory() { __builtin_amdgcn_s_waitcnt(0x0f70); } // global loads, copies to LDS
DEV void wait_lds() { __builtin_amdgcn_s_waitcnt(0xc07f); }
DEV void wave_group_barrier() { __builtin_amdgcn_s_barrier(); }
#if defined(TF_ON_HOST) || __has_builtin(__builtin_amdgcn_sched_barrier)
DEV void schedule_fence() { __builtin_amdgcn_sched_barrier(0); }
template <int Level> DEV void priority() { __builtin_amdgcn_s_setprio(Level); }
#else // HIPRTC 5.2
DEV void schedule_fence() { asm volatile("" ::: "memory"); }
template <int Level> DEV void priority() { asm volatile("s_setprio %0" ::"n"(Level)); }
#endif

DEV float sum_over_quads(float x) // of the four lanes with the same line()
{
    x += lane_xor<64>(x, 16);
    return x + lane_xor<64>(x, 32);
}

// ---- global counters between workgroups (agent scope)

DEV unsigned counter_read(const unsigned *counter)
{
    return __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV unsigned counter_add(unsigned *counter, unsigned n)
{
    return __hip_atomic_fetch_add(counter, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void counter_store(unsigned *counter, unsigned value)
{
    __hip_atomic_store(counter, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void foreign_fence() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
DEV void own_fence() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }
DEV void pause() { __builtin_amdgcn_s_sleep(1); }
