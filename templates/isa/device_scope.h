// Loads, stores and fences at device scope (AMD: agent), with the same names for every vendor. All data that workgroups pass to each other
// pass through these (frame/workspace.h).
//
// To publish data: every thread stores, then calls device_release() (for slices: slice_stored()); the workgroup has a barrier; one thread
// adds to a counter or stores a flag. To wait for data: one thread polls until it reads the value; the workgroup has a barrier; every wave
// calls device_acquire(); all threads read.
//
// On NVIDIA, counters and flags are stored with release and read with acquire, except by the _relaxed functions. A release
// covers what the other threads stored before the workgroup's barrier, an acquire what they read after it (PTX ISA, memory consistency
// model), so device_release() and device_acquire() do nothing. On AMD they are relaxed, so
// that a poll drops no cache lines, and each wave orders its own accesses: device_release() waits for the wave's stores and writes back the
// L2, device_acquire() invalidates stale lines (LLVM, AMDGPU memory model). Slices bypass the L2 and need neither.
#pragma once
#include "templates/isa/simt.h"

#if defined(TF_ON_HOST) && !defined(TF_TARGET_AMD)

DEV unsigned counter_read(const unsigned *counter) { return __hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); }
DEV unsigned counter_add(unsigned *counter, unsigned n)
{
    return __hip_atomic_fetch_add(counter, n, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void counter_store(unsigned *counter, unsigned value)
{
    __hip_atomic_store(counter, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
DEV unsigned long long flag_read(const unsigned long long *flag)
{
    return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_store(unsigned long long *flag, unsigned long long value)
{
    __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_store_relaxed(unsigned long long *flag, unsigned long long value)
{
    __hip_atomic_store(flag, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_add(unsigned long long *flag, unsigned long long n)
{
    (void)__hip_atomic_fetch_add(flag, n, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_add_relaxed(unsigned long long *flag, unsigned long long n)
{
    (void)__hip_atomic_fetch_add(flag, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV unsigned long long flag_take(unsigned long long *flag, unsigned long long n)
{
    return __hip_atomic_fetch_add(flag, n, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}
DEV unsigned long long flag_take_relaxed(unsigned long long *flag, unsigned long long n)
{
    return __hip_atomic_fetch_add(flag, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV bool flag_swap(unsigned long long *flag, unsigned long long from, unsigned long long to)
{
    return __hip_atomic_compare_exchange_strong(flag, &from, to, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void pause() { tf_hs_yield(); }

#elif defined(__clang__)

DEV unsigned counter_read(const unsigned *counter) { return __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
DEV unsigned counter_add(unsigned *counter, unsigned n)
{
    return __hip_atomic_fetch_add(counter, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void counter_store(unsigned *counter, unsigned value)
{
    __hip_atomic_store(counter, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV unsigned long long flag_read(const unsigned long long *flag)
{
    return __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_store(unsigned long long *flag, unsigned long long value)
{
    __hip_atomic_store(flag, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_store_relaxed(unsigned long long *flag, unsigned long long value) { flag_store(flag, value); }
DEV void flag_add(unsigned long long *flag, unsigned long long n)
{
    (void)__hip_atomic_fetch_add(flag, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void flag_add_relaxed(unsigned long long *flag, unsigned long long n) { flag_add(flag, n); }
DEV unsigned long long flag_take(unsigned long long *flag, unsigned long long n)
{
    return __hip_atomic_fetch_add(flag, n, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV unsigned long long flag_take_relaxed(unsigned long long *flag, unsigned long long n) { return flag_take(flag, n); }
DEV bool flag_swap(unsigned long long *flag, unsigned long long from, unsigned long long to)
{
    return __hip_atomic_compare_exchange_strong(flag, &from, to, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
DEV void pause() { __builtin_amdgcn_s_sleep(1); }

#else

// The address in global memory of what a generic pointer points to. With a generic address, ptxas also emits code for shared memory, where
// an atomic takes a loop.
DEV unsigned long long global_address(const void *at) { return __cvta_generic_to_global(at); }

DEV unsigned counter_read(const unsigned *counter)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(global_address(counter)) : "memory");
    return value;
}
DEV unsigned counter_add(unsigned *counter, unsigned n)
{
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(global_address(counter)), "r"(n) : "memory");
    return old;
}
DEV void counter_store(unsigned *counter, unsigned value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(global_address(counter)), "r"(value) : "memory");
}
DEV unsigned long long flag_read(const unsigned long long *flag)
{
    unsigned long long value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(global_address(flag)) : "memory");
    return value;
}
DEV void flag_store(unsigned long long *flag, unsigned long long value)
{
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(global_address(flag)), "l"(value) : "memory");
}
DEV void flag_store_relaxed(unsigned long long *flag, unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(global_address(flag)), "l"(value) : "memory");
}
DEV void flag_add(unsigned long long *flag, unsigned long long n) // does not wait for the old value
{
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(global_address(flag)), "l"(n) : "memory");
}
DEV void flag_add_relaxed(unsigned long long *flag, unsigned long long n)
{
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(global_address(flag)), "l"(n) : "memory");
}
DEV unsigned long long flag_take(unsigned long long *flag, unsigned long long n)
{
    unsigned long long was;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(was) : "l"(global_address(flag)), "l"(n) : "memory");
    return was;
}
DEV unsigned long long flag_take_relaxed(unsigned long long *flag, unsigned long long n)
{
    unsigned long long was;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(was) : "l"(global_address(flag)), "l"(n) : "memory");
    return was;
}
DEV bool flag_swap(unsigned long long *flag, unsigned long long from, unsigned long long to)
{
    unsigned long long was;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(was)
                 : "l"(global_address(flag)), "l"(from), "l"(to)
                 : "memory");
    return was == from;
}
DEV void pause() { asm volatile("nanosleep.u32 20;"); }
#endif

// ---- floats that carry a tag: the lower half of a word is a float, and the upper half, the tag, shows that the float has been stored.
// Other data hardly ever have this tag (as f32 it is a NaN, as f16 or bf16 two NaNs). Readers poll the words themselves, so no fence is
// needed. Each word has one reader, which clears it.
struct alignas(16) tagged_pair {
    static constexpr unsigned long long tag = 0xffd5ffb3ull;
    unsigned long long word[2];
    DEV static unsigned long long of(float x) { return tag << 32 | float_bits(x); }
    DEV bool there() const { return word[0] >> 32 == tag && word[1] >> 32 == tag; }
    DEV float value(int i) const { return bits_float(static_cast<unsigned>(word[i])); }
};
#if defined(TF_ON_HOST) || defined(__clang__)
DEV void tagged_store(tagged_pair *to, const tagged_pair &x)
{
    flag_store_relaxed(&to->word[0], x.word[0]);
    flag_store_relaxed(&to->word[1], x.word[1]);
}
DEV tagged_pair tagged_read(const tagged_pair *from)
{
    return {{__hip_atomic_load(&from->word[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT),
             __hip_atomic_load(&from->word[1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)}};
}
#else
DEV void tagged_store(tagged_pair *to, const tagged_pair &x)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(global_address(to)), "l"(x.word[0]), "l"(x.word[1]) : "memory");
}
DEV tagged_pair tagged_read(const tagged_pair *from)
{
    tagged_pair x;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x.word[0]), "=l"(x.word[1])
                 : "l"(global_address(from))
                 : "memory");
    return x;
}
#endif

// ---- slices (partial results that workgroups exchange), 16 bytes at a time, and the fences that each wave calls
using slice_word = neighbours<float, 4>;
#if defined(TF_TARGET_AMD)
DEV void device_acquire() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
DEV void device_release() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); }

// Each die has an L2 of its own. A slice's bytes bypass it, as its flag does. So nothing must be written back before the flag is stored,
// and the reader invalidates nothing.
struct slice_halves {
    unsigned long long of[2];
};
DEV void slice_store(float *to, const slice_word &x)
{
    const slice_halves w = __builtin_bit_cast(slice_halves, x);
    unsigned long long *const at = reinterpret_cast<unsigned long long *>(to);
    flag_store(at, w.of[0]);
    flag_store(at + 1, w.of[1]);
}
DEV slice_word slice_read(const float *from)
{
    const unsigned long long *const at = reinterpret_cast<const unsigned long long *>(from);
    return __builtin_bit_cast(slice_word, (slice_halves{{flag_read(at), flag_read(at + 1)}}));
}
DEV void slice_stored() // waits until the wave's stores have completed
{
#if TF_WAVE == 64
    asm volatile("" ::: "memory");
    __builtin_amdgcn_s_waitcnt(0x0f70); // vmcnt(0)
#else
    device_release();
#endif
}
#else
DEV void device_acquire() {}
DEV void device_release() {}
DEV void slice_store(float *to, const slice_word &x) { put_element(reinterpret_cast<slice_word *>(to), x); }
DEV slice_word slice_read(const float *from) { return element_of(reinterpret_cast<const slice_word *>(from)); }
DEV void slice_stored() {}
#endif
