// In: a warp's registers, words in memory. Out: what programs of several layers need of NVIDIA's GPUs from sm_80 on: pairs of 16 bits,
// exchange in a warp whose lanes are all here, words through which the workgroups of a launch meet. Refuses nothing. Needs isa/simt.h.
#pragma once
#if defined(TF_ON_HOST)

template <class T> DEV unsigned packed(T, float lo, float hi)
{
    const T two[2] = {from_float<T>::convert(lo), from_float<T>::convert(hi)};
    return __builtin_bit_cast(unsigned, two);
}
template <class T> DEV T warp_xor(T x, int mask) { return tf_hs_shfl_xor(x, mask, 32); }
DEV bool any_lane(bool yes) { return wave_join<take_max, 32>(yes ? 1.0f : 0.0f) > 0.0f; }
DEV float larger(float x, float y) { return x > y ? x : y != y ? x : y; }
DEV float machine_exp2(float x) { return weight_exp(x * 0.69314718056f); }

// ---- words of all workgroups
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
DEV void pause() { tf_hs_yield(); }
#else

DEV unsigned packed(bf16, float lo, float hi)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
    return pair;
}

DEV unsigned packed(f16, float lo, float hi)
{
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
    return pair;
}
DEV float larger(float x, float y) { return fmaxf(x, y); }
DEV bool any_lane(bool yes) { return __any_sync(0xffffffffu, yes); }

// Exchange in a warp whose lanes are all here.
template <class T> DEV T warp_xor(T x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }

// ---- words of all workgroups
DEV unsigned counter_read(const unsigned *counter)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}
DEV unsigned counter_add(unsigned *counter, unsigned n) // releases what came before, acquires what others released
{
    unsigned old;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(counter), "r"(n) : "memory");
    return old;
}
DEV void counter_store(unsigned *counter, unsigned value)
{
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}
DEV unsigned long long flag_read(const unsigned long long *flag)
{
    unsigned long long value;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
    return value;
}
DEV void flag_store(unsigned long long *flag, unsigned long long value)
{
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
DEV void pause() { asm volatile("nanosleep.u32 20;"); }
#endif
