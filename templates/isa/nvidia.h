// Functions that several layers share on NVIDIA's GPUs from sm_80 on, with versions for the host engine: byte addresses of shared memory,
// two 16-bit numbers packed into a register, shuffles of a whole warp, clusters, prefetches.
#pragma once
#include "templates/isa/simt.h"

using shared_address = unsigned; // byte address in the shared window

#if defined(TF_ON_HOST)

template <class T> DEV unsigned packed(T, float lo, float hi)
{
    const T two[2] = {from_float<T>::convert(lo), from_float<T>::convert(hi)};
    return __builtin_bit_cast(unsigned, two);
}
template <class T> DEV T warp_xor(T x, int mask) { return tf_hs_shfl_xor(x, mask, 32); }
template <class T> DEV T lane_above(T x) { return tf_hs_shfl_down(x, 1, 32); }
template <class T> DEV T lane_below(T x) { return tf_hs_shfl_up(x, 1, 32); }
DEV bool any_lane(bool yes) { return wave_join<take_max, 32>(yes ? 1.0f : 0.0f) > 0.0f; }
DEV float larger(float x, float y) { return x > y ? x : y != y ? x : y; }
DEV float machine_exp2(float x) { return weight_exp(x * 0.69314718056f); }

DEV int number_read(const int *number) { return __hip_atomic_load(number, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

DEV void cluster_arrive() { tf_hs_cluster_arrive(); }
DEV void cluster_wait() { tf_hs_cluster_wait(); }
DEV neighbours<float, 4> cluster_read(const float *own, int member)
{
    TF_SHARED_DYN(char, memory);
    const char *const there = tf_hs_cluster_shared(member) + (reinterpret_cast<const char *>(own) - memory);
    return element_of(reinterpret_cast<const neighbours<float, 4> *>(there));
}
DEV void prefetch_l2(const void *, int) {}

#else

DEV shared_address shared_at(const void *p) { return static_cast<shared_address>(__cvta_generic_to_shared(p)); }

DEV float larger(float x, float y) { return fmaxf(x, y); }
DEV bool any_lane(bool yes) { return __any_sync(0xffffffffu, yes); }

// Exchange within a warp. All of its lanes must call these.
template <class T> DEV T warp_xor(T x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
template <class T> DEV T lane_above(T x) { return __shfl_down_sync(0xffffffffu, x, 1); } // the last lane gets its own
template <class T> DEV T lane_below(T x) { return __shfl_up_sync(0xffffffffu, x, 1); }   // the first lane gets its own

// Reads a number that the previous launch may still write. Volatile, so that a second call, after the wait for that launch, reads it again.
DEV int number_read(const int *number)
{
    int value;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(number)));
    return value;
}

// ---- clusters: adjacent workgroups that start together and reach each other's shared memory (sm_90a)
DEV void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); } // called by all threads of all members
DEV void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// Reads 16 bytes of another member's shared memory, at the same offset as `own` in this workgroup's.
DEV neighbours<float, 4> cluster_read(const float *own, int member)
{
    neighbours<float, 4> x;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; }"
                 : "=f"(x.e[0]), "=f"(x.e[1]), "=f"(x.e[2]), "=f"(x.e[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(member));
    return x;
}
// Prefetches `bytes` bytes, a multiple of 16, into L2; before sm_90, does nothing.
DEV void prefetch_l2(const void *from, int bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#endif
}
#endif
