// In: rows of keys and of values, contiguous in memory, of one type T. Out: a warp's ring over some of them, a fixed number of rows per
// key tile: copies of a few key tiles are in flight to shared memory while the warp computes. They take no registers and bypass L1, of
// which the previous launch may leave little. Refuses rows with gaps (the caller knows that there are none).
#pragma once
#include "templates/isa/bulk.h"

// Shared memory for all warps of a workgroup: each has some stages of one key tile.
template <class T, int Warps, int Stages, int Elements> struct ring_memory {
    struct alignas(16) stage {
        T keys[Elements], values[Elements];
    };
    stage stages[Warps][Stages];
    bulk_arrival arrivals[(Warps * Stages + 1) / 2 * 2];
};
template <class T, int Warps, int Elements> struct ring_memory<T, Warps, 0, Elements> {};

// One warp's ring. Its stages are used in order, across parts too: a part's key tiles begin once all key tiles of the part before have been
// used.
template <class T, int Warps, int Stages, int Elements> struct cache_ring {
    using memory = ring_memory<T, Warps, Stages, Elements>;
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

    // Issues the loads of a key tile: `elements` of keys and as many of values. All lanes must be done with the stage and have met since.
    DEV void issue(const T *keys, const T *values, int elements)
    {
        const unsigned index = issued++ % Stages;
        if (!first_lane()) return;
        const int bytes = elements * static_cast<int>(sizeof(T));
        arrivals[index].announce(2 * bytes);
        bulk_copy(stages[index].keys, keys, bytes, arrivals[index]);
        bulk_copy(stages[index].values, values, bytes, arrivals[index]);
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
template <class T, int Warps, int Elements> struct cache_ring<T, Warps, 0, Elements> {
    using memory = ring_memory<T, Warps, 0, Elements>;
    DEV cache_ring(memory &) {}
};
