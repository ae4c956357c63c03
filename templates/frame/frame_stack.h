// In: a list of phases F (frame_list.h) that computes a layer, and the arguments of a stack of layers. Out: one launch of all its layers.
// Layers differ in their packed weights, params and states, whose pointers are a row of a table in device memory; each layer reads what the
// one before it stored. They share the rest of the workspace.
//
// F is as for by_phases, but its functions take a layer_view. F::args also has tf_pointers, of row_length pointers per layer; tf_layers;
// and tf_turn_0 and tf_turn_1, memory for what a layer hands on: layer n stores to turn n % 2, the last one to the caller's output.
#pragma once
#include "templates/frame/frame_list.h"

// A pointer of the table, which nobody writes while the launch runs. Compilers see that it points to global memory.
#if defined(TF_ON_HOST)
template <class T> DEV T *table_pointer(const unsigned long long *at) { return reinterpret_cast<T *>(*at); }
#elif defined(__clang__)
template <class T> DEV T *table_pointer(const unsigned long long *at)
{
    using constant = const __attribute__((address_space(4))) unsigned long long *; // so that a scalar load fetches it
    using global = __attribute__((address_space(1))) T *;
    return (T *)(global)(*(constant)(unsigned long long)at);
}
#else
template <class T> DEV T *table_pointer(const unsigned long long *at)
{
    unsigned long long there;
    asm("ld.global.nc.u64 %0, [%1];" : "=l"(there) : "l"(at));
    return static_cast<T *>(__cvta_global_to_generic(there));
}
#endif

template <class F> struct layer_view {
    const typename F::args &all;
    int layer;

    // All arguments, for a phase that begins. AMD compilers do not know that they are the same for every layer: else they load them all
    // ahead of the loop over layers, which takes too many scalar registers.
    DEV const typename F::args &now() const
    {
#if defined(TF_TARGET_AMD) && !defined(TF_ON_HOST)
        auto at = __builtin_amdgcn_kernarg_segment_ptr();
        asm volatile("" : "+s"(at));
        return *(const typename F::args *)at;
#else
        return all;
#endif
    }
    DEV int layers() const { return all.tf_layers; }
    template <class T> DEV void own(T *&to, int place) const
    {
        to = table_pointer<T>(all.tf_pointers + static_cast<long long>(layer) * F::row_length + place);
    }
    template <class T> DEV void in(T *&from) const
    {
        if (layer > 0) from = reinterpret_cast<T *>(layer % 2 ? all.tf_turn_0 : all.tf_turn_1);
    }
    template <class T> DEV void out(T *&to) const
    {
        if (layer + 1 < all.tf_layers) to = reinterpret_cast<T *>(layer % 2 ? all.tf_turn_1 : all.tf_turn_0);
    }
};
template <class F> constexpr bool is_layer<layer_view<F>> = true;

template <class F> DEV void run_stack(const typename F::args &p)
{
#if defined(TF_ON_HOST)
    TF_SHARED_DYN(char, shared);
#elif defined(__clang__)
    __shared__ __attribute__((aligned(16))) char shared[F::shared_bytes];
#else
    extern __shared__ __attribute__((aligned(128))) char shared[];
#endif
    typename F::waits sync;
    int next = block_index();
#pragma unroll 1
    for (int layer = 0; layer < p.tf_layers; layer++) next = run_phases<F, 0>(layer_view<F>{p, layer}, next, shared, sync);
    sync.leave(layer_view<F>{p, p.tf_layers - 1}, next);
}

#if defined(TF_ON_HOST)
#define TF_KERNEL_STACK(name, ...)                                                            \
    extern "C" __global__ void name(const __VA_ARGS__::args p) { run_stack<__VA_ARGS__>(p); } \
    TF_EXPORT(name)
#elif defined(__clang__)
#define TF_KERNEL_STACK(name, ...)                                                                                      \
    extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(__VA_ARGS__::threads, __VA_ARGS__::threads))) \
    name(const __VA_ARGS__::args p)                                                                                     \
    {                                                                                                                   \
        run_stack<__VA_ARGS__>(p);                                                                                      \
    }
#else
#define TF_KERNEL_STACK(name, ...)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::threads, 1) name(const __grid_constant__ __VA_ARGS__::args p) \
    {                                                                                                                                   \
        run_stack<__VA_ARGS__>(p);                                                                                                      \
    }
#endif
