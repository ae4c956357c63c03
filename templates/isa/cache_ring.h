// In: rows of keys and of values, contiguous in memory, of one type T. Out: a warp's ring, through which its key tiles, a fixed number of
// rows each, pass: copies of a few key tiles are in flight to shared memory while the warp computes. Copies take no registers and bypass
// L1, of which the previous launch may leave little. Rows with gaps are not supported; the caller checks that there are none.
#pragma once
#include "templates/isa/bulk.h"

// Shared memory for all warps of a workgroup: each has Stages stages, each for one key tile of Keys elements of keys and Values elements of
// values.
template <class T, int Warps, int Stages, int Keys, int Values> struct ring_memory {
    struct alignas(16) stage {
        T keys[Keys], values[Values];
    };
    stage stages[Warps][Stages];
    bulk_arrival arrivals[(Warps * Stages + 1) / 2 * 2];
};
template <class T, int Warps, int Keys, int Values> struct ring_memory<T, Warps, 0, Keys, Values> {};

// One warp's ring. Its stages are used in order, across parts too: a part's key tiles begin once all key tiles of the part before have been
// used.
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

    // Issues the loads of a key tile: of_keys elements of keys, of_values of values. All lanes must have finished reading the stage, and
    // must have met at a __syncwarp() since (release()).
    DEV void issue(const T *keys, const T *values, int of_keys, int of_values)
    {
        const unsigned index = issued++ % Stages;
        if (!first_lane()) return;
        constexpr int each = sizeof(T);
        arrivals[index].announce((of_keys + of_values) * each);
        bulk_copy(stages[index].keys, keys, of_keys * each, arrivals[index]);
        bulk_copy(stages[index].values, values, of_values * each, arrivals[index]);
    }
    // Waits for the next key tile. Its stage belongs to the warp until release().
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
