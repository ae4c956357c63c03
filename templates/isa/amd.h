// What AMD's matrix layers (mfma.h, wmma.h) share: LDS access, wave-uniform values, scheduling fences for the compiler. It is written with
// compiler builtins, which the host engine can replace.
#pragma once
#include "templates/isa/simt.h"

DEV int uniform(int same_in_all_lanes) { return __builtin_amdgcn_readfirstlane(same_in_all_lanes); }
DEV const char *uniform(const void *same_in_all_lanes)
{
    const unsigned long long bits = reinterpret_cast<unsigned long long>(same_in_all_lanes);
    const unsigned low = uniform(static_cast<int>(bits)), high = uniform(static_cast<int>(bits >> 32));
    return reinterpret_cast<const char *>(static_cast<unsigned long long>(high) << 32 | low);
}

using lds_address = __attribute__((address_space(3))) char *;
using sixteen_bytes = unsigned __attribute__((ext_vector_type(4)));

DEV unsigned storage_bits(bf16 x) { return x.bits; }
DEV unsigned storage_bits(f16 x) { return __builtin_bit_cast(unsigned short, x); }
DEV unsigned storage_bits(float x) { return float_bits(x); }

#if defined(TF_ON_HOST)
DEV void lds_write(lds_address to, sixteen_bytes x) { tf_hs_write_whole(reinterpret_cast<sixteen_bytes *>(to), x); }
template <class T> DEV T lds_read(lds_address from) { return tf_hs_read_whole(reinterpret_cast<const T *>(from)); }
#else
DEV void lds_write(lds_address to, sixteen_bytes x) { *reinterpret_cast<__attribute__((address_space(3))) sixteen_bytes *>(to) = x; }
template <class T> DEV T lds_read(lds_address from) { return *reinterpret_cast<__attribute__((address_space(3))) const T *>(from); }
#endif

// A wave-uniform pointer to global memory, kept in scalar registers: the base to which a load adds a lane's 32-bit offset.
using global_address = const __attribute__((address_space(1))) char *;
DEV global_address scalar(const char *same_in_all_lanes)
{ TF_TRACED(same_in_all_lanes = uniform(same_in_all_lanes));
#if !defined(TF_ON_HOST) && __clang_major__ < 17 // clang dies ("illegal copy") if the pointer was computed in vector registers
    same_in_all_lanes = uniform(same_in_all_lanes);
#endif
    global_address p = (global_address)same_in_all_lanes;
#if !defined(TF_ON_HOST)
    asm("" : "+s"(p));
#endif
    return p;
}

// scalar() for a pointer that the compiler does not know to be wave-uniform and would keep in vector registers.
DEV global_address scalar_of(const void *same_in_all_lanes)
{
#if defined(TF_ON_HOST)
    return scalar(reinterpret_cast<const char *>(same_in_all_lanes));
#else
    return scalar(uniform(same_in_all_lanes));
#endif
}

typedef unsigned sixteen_bytes_anywhere __attribute__((ext_vector_type(4), aligned(2))); // memory accepts 16-byte loads at any address
#if defined(TF_ON_HOST)
struct sixteen_bytes_in_one { // a struct, because as a template argument the typedef loses its alignment
    sixteen_bytes_anywhere raw;
};
#endif
DEV sixteen_bytes global_read(global_address from)
{
#if defined(TF_ON_HOST)
    return tf_hs_read_whole(reinterpret_cast<const sixteen_bytes_in_one *>(from)).raw;
#else
    return *reinterpret_cast<const __attribute__((address_space(1))) sixteen_bytes_anywhere *>(from);
#endif
}

// Has x computed here, in registers, instead of in the branches that use it, to which the compiler would move the computation.
template <class T> DEV void settle(T &x)
{
#if !defined(TF_ON_HOST)
    asm volatile("" : "+v"(x));
#endif
}

DEV void wave_group_barrier() { __builtin_amdgcn_s_barrier(); }
#if defined(TF_ON_HOST) || __has_builtin(__builtin_amdgcn_sched_barrier)
DEV void schedule_fence()
{
    asm volatile("" ::: "memory"); // s_barrier alone lets the compiler move accesses to LDS
    __builtin_amdgcn_sched_barrier(0);
}
template <int Level> DEV void priority() { __builtin_amdgcn_s_setprio(Level); }
#else // HIPRTC 5.2
DEV void schedule_fence() { asm volatile("" ::: "memory"); }
template <int Level> DEV void priority() { asm volatile("s_setprio %0" ::"n"(Level)); }
#endif
