// In: rows of keys and of values, contiguous in memory, of one type T. Out: a warp's ring over some of them, a fixed number of rows per
// turn: copies of a few turns are in flight to shared memory while the warp computes. They take no registers and bypass L1, of which the
// previous launch may leave little. Refuses rows with gaps (the caller knows that there are none).
#pragma once
#include "templates/isa/bulk.h"

// Shared memory for all warps of a workgroup: each has some stages of one turn.
template <class T, int Warps, int Slots, int Elements> struct ring_memory {
    struct alignas(16) turn {
        T keys[Elements], values[Elements];
    };
    turn turns[Warps][Slots];
    bulk_arrival arrivals[(Warps * Slots + 1) / 2 * 2];
};
template <class T, int Warps, int Elements> struct ring_memory<T, Warps, 0, Elements> {};

// One warp's ring. Its stages are used in order, across parts too: a part's turns begin once all turns of the part before have been taken.
template <class T, int Warps, int Slots, int Elements> struct cache_ring {
    using memory = ring_memory<T, Warps, Slots, Elements>;
    typename memory::turn *turns;
    bulk_arrival *arrivals;
    unsigned asked, taken; // in turns

    DEV cache_ring(memory &m) : asked(0), taken(0)
    {
        const int warp = wave_index();
        turns = m.turns[warp];
        arrivals = m.arrivals + warp * Slots;
        if (first_lane())
            for (int i = 0; i < Slots; i++) arrivals[i].clear();
        __syncwarp();
    }
    DEV static bool first_lane() { return thread_index() % 32 == 0; }

    // Issues the loads of a turn: `elements` of keys and as many of values. All lanes must be done with the stage and have met since.
    DEV void ask(const T *keys, const T *values, int elements)
    {
        const unsigned slot = asked++ % Slots;
        if (!first_lane()) return;
        const int bytes = elements * static_cast<int>(sizeof(T));
        arrivals[slot].announce(2 * bytes);
        bulk_copy(turns[slot].keys, keys, bytes, arrivals[slot]);
        bulk_copy(turns[slot].values, values, bytes, arrivals[slot]);
    }
    // Waits for the next turn. Its stage belongs to the warp until leave().
    DEV const typename memory::turn &take()
    {
        const unsigned slot = taken % Slots;
        arrivals[slot].wait(taken / Slots % 2);
        return turns[slot];
    }
    DEV void leave()
    {
        taken++;
        __syncwarp();
    }
};
template <class T, int Warps, int Elements> struct cache_ring<T, Warps, 0, Elements> {
    using memory = ring_memory<T, Warps, 0, Elements>;
    DEV cache_ring(memory &) {}
};
