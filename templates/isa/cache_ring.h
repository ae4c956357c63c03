// A warp's ring of stages in shared memory for attention over a cache: bulk copies of the next key tiles are in flight while the warp
// computes. A key tile has a fixed number of rows of keys and of values. Bulk copies need no registers and do not go through L1. (L1 may be
// small: shared memory is cut from the same memory, and workgroups of the previous launch may still hold theirs.) Rows must be contiguous
// in memory, which the caller checks.
#pragma once
#include "templates/isa/bulk.h"

// Shared memory for the rings of a workgroup's warps, with Stages stages per warp. A stage holds one key tile: Keys elements of keys and
// Values elements of values.
template <class T, int Warps, int Stages, int Keys, int Values> struct ring_memory {
    struct alignas(16) stage {
        T keys[Keys], values[Values];
    };
    stage stages[Warps][Stages];
    bulk_arrival arrivals[(Warps * Stages + 1) / 2 * 2];
};
template <class T, int Warps, int Keys, int Values> struct ring_memory<T, Warps, 0, Keys, Values> {};

// One warp's ring. Its stages are used in turn. When a warp goes on to another part of the keys, it uses the stages after those of the
// previous part.
template <class T, int Warps, int Stages, int Keys, int Values> struct cache_ring {
    using memory = ring_memory<T, Warps, Stages, Keys, Values>;
    typename memory::stage *stages;
    bulk_arrival *arrivals;
    unsigned issued, used; // in key tiles

    DEV cache_ring(memory &m) : issued(0), used(0)
    {
        const int warp = wave_index();
        stages = m.stages[warp];
        arrivals = m.arrivals + warp * Stages;
        if (first_lane())
            for (int i = 0; i < Stages; i++) arrivals[i].clear();
        __syncwarp();
    }
    DEV static bool first_lane() { return thread_index() % 32 == 0; }

    // Issues the copies of a key tile: of_keys elements of keys, of_values of values. The stage that it reuses must have been released.
    // release() meets the warp's lanes, so all of them have then passed their wait for the stage.
    DEV void issue(const T *keys, const T *values, int of_keys, int of_values)
    {
        const unsigned index = issued++ % Stages;
        if (!first_lane()) return;
        constexpr int each = sizeof(T);
        arrivals[index].announce((of_keys + of_values) * each);
        bulk_copy(stages[index].keys, keys, of_keys * each, arrivals[index]);
        bulk_copy(stages[index].values, values, of_values * each, arrivals[index]);
    }
    // Waits for the next key tile. The warp may read its stage until release().
    DEV const typename memory::stage &wait()
    {
        const unsigned index = used % Stages;
        arrivals[index].wait(used / Stages % 2);
        return stages[index];
    }
    DEV void release()
    {
        used++;
        __syncwarp();
    }
};
template <class T, int Warps, int Keys, int Values> struct cache_ring<T, Warps, 0, Keys, Values> {
    using memory = ring_memory<T, Warps, 0, Keys, Values>;
    DEV cache_ring(memory &) {}
};
