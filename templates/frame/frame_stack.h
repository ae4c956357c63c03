// In: a list of phases F (frame_list.h) that computes one layer, and the arguments of a stack of layers. Out: one launch that computes all
// layers. Layers differ in their packed weights, params and states: a table in device memory has a row of these pointers for each layer. If
// layers are of several kinds, which differ in numbers such as an attention's window, the row also has the layer's kind, a whole number.
// Each layer reads the output of the previous one. All layers use the same workspace.
//
// F is as by_phases needs it, but its functions take a layer_view. F::args also has
// - tf_pointers: the table, with F::row_length words per layer
// - tf_layers: the number of layers
// - tf_turn_0, tf_turn_1: buffers for outputs of layers. Layer n stores to tf_turn_(n % 2), the last layer to the caller's output
#pragma once
#include "templates/frame/frame_list.h"

// A layer's row of the table, which is constant during the launch. On AMD the lanes of each wave hold its pointers, so that a phase begins
// without a load. The casts tell compilers that the pointers point to global memory.
#if defined(__clang__) && !defined(TF_ON_HOST)
template <class F> struct table_row {
    static constexpr int each = (F::row_length + TF_WAVE - 1) / TF_WAVE; // pointers that a lane holds
    unsigned own[each][2];
    DEV table_row(const typename F::args &p, int layer)
    {
        const unsigned long long *at = p.tf_pointers + static_cast<long long>(layer) * F::row_length;
        const int lane = thread_index() % TF_WAVE;
#pragma unroll
        for (int i = 0; i < each; i++) {
            const unsigned long long mine = i * TF_WAVE + lane < F::row_length ? at[i * TF_WAVE + lane] : 0;
            own[i][0] = static_cast<unsigned>(mine), own[i][1] = static_cast<unsigned>(mine >> 32);
        }
    }
    template <class T> DEV T *pointer(const typename F::args &, int, int place) const
    {
        const unsigned(&words)[2] = own[place / TF_WAVE];
        unsigned half[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            half[i] = static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(words[i]), place % TF_WAVE));
        return (T *)(__attribute__((address_space(1))) T *)(static_cast<unsigned long long>(half[1]) << 32 | half[0]);
    }
    DEV int number(const typename F::args &, int, int place) const
    {
        return __builtin_amdgcn_readlane(static_cast<int>(own[place / TF_WAVE][0]), place % TF_WAVE);
    }
};
#else
template <class F> struct table_row {
    DEV table_row(const typename F::args &, int) {}
    template <class T> DEV static T *pointer(const typename F::args &p, int layer, int place)
    {
        const unsigned long long *at = p.tf_pointers + static_cast<long long>(layer) * F::row_length + place;
#if defined(TF_ON_HOST)
        return reinterpret_cast<T *>(*at);
#else
        unsigned long long there;
        asm("ld.global.nc.u64 %0, [%1];" : "=l"(there) : "l"(at));
        return static_cast<T *>(__cvta_global_to_generic(there));
#endif
    }
    DEV static int number(const typename F::args &p, int layer, int place)
    {
        return static_cast<int>(p.tf_pointers[static_cast<long long>(layer) * F::row_length + place]);
    }
};
#endif

template <class F> struct layer_view {
    const typename F::args &all;
    int layer;
    const table_row<F> &row;

    // The arguments of the launch, for a phase that begins. On AMD the compiler must not see that they are the same for every layer, since
    // it would load all of them before the loop over layers, which takes too many scalar registers.
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
    // own(), kind(): set a pointer, or the layer's kind, from this layer's row of the table. in(), out(): set the layer's input and output,
    // unless these are the caller's.
    DEV int layers() const { return all.tf_layers; }
    template <class T> DEV void own(T *&to, int place) const { to = row.template pointer<T>(all, layer, place); }
    DEV void kind(int &to, int place) const { to = row.number(all, layer, place); }
    // later(), last(): clear a pointer in the first layer, or in all but the last one.
    template <class T> DEV void later(T *&at) const
    {
        if (layer == 0) at = nullptr;
    }
    template <class T> DEV void last(T *&at) const
    {
        if (layer + 1 < all.tf_layers) at = nullptr;
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
    __shared__ __attribute__((aligned(16))) char memory[list_bytes<F>];
    char *shared = memory;
#else
    extern __shared__ __attribute__((aligned(128))) char memory[];
    char *shared = memory;
#endif
    typename F::waits sync;
    int next = block_index();
    bool loads;
    list_ring<F> ring = open_ring<F>(shared, loads, [&](auto &writer, char *) {
#pragma unroll 1
        for (int layer = 0; layer < p.tf_layers; layer++) {
            const table_row<F> row(p, layer);
            next = feed_phases<F, 0>(layer_view<F>{p, layer, row}, next, block_total(), writer);
        }
    });
    if (loads) return;
    table_row<F> row(p, 0);
#pragma unroll 1
    for (int layer = 0; layer < p.tf_layers; layer++) {
        const table_row<F> later(p, layer + 1 < p.tf_layers ? layer + 1 : layer); // on AMD loaded while this layer runs
        next = run_phases<F, 0>(layer_view<F>{p, layer, row}, next, shared, sync, ring);
        row = later;
    }
    sync.leave(layer_view<F>{p, p.tf_layers - 1, row}, next);
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
    extern "C" __global__ void __launch_bounds__(list_threads<__VA_ARGS__>, 1) name(const __grid_constant__ __VA_ARGS__::args p) \
    {                                                                                                                                   \
        run_stack<__VA_ARGS__>(p);                                                                                                      \
    }
#endif
