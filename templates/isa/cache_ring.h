// In: rows of keys and of values that lie one behind the other in memory, of one type T. Out: a warp's way through some of them, so many
// rows a turn: copies of a few turns are under way to shared memory while the warp computes, without a register of its own and past the L1,
// of which kernels that run beside this one's beginning may leave little. Refuses rows with gaps: whoever takes this knows that there are
// none.
#pragma once
#include "templates/isa/bulk.h"

// What the warps of a workgroup share out: of each some slots, a turn each.
template <class T, int Warps, int Slots, int Elements> struct ring_memory {
    struct alignas(16) turn {
        T keys[Elements], values[Elements];
    };
    turn turns[Warps][Slots];
    bulk_arrival arrivals[(Warps * Slots + 1) / 2 * 2];
};
template <class T, int Warps, int Elements> struct ring_memory<T, Warps, 0, Elements> {};

// A warp's own. The slots are taken in turn, also from one part to the next, whose turns begin when those of the part before are all taken.
template <class T, int Warps, int Slots, int Elements> struct cache_ring {
    using memory = ring_memory<T, Warps, Slots, Elements>;
    typename memory::turn *turns;
    bulk_arrival *arrivals;
    unsigned asked, taken; // turns

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

    // Asks for a turn of `elements` of each. All lanes have done with the slot: they have met since.
    DEV void ask(const T *keys, const T *values, int elements)
    {
        const unsigned slot = asked++ % Slots;
        if (!first_lane()) return;
        const int bytes = elements * static_cast<int>(sizeof(T));
        arrivals[slot].announce(2 * bytes);
        bulk_copy(turns[slot].keys, keys, bytes, arrivals[slot]);
        bulk_copy(turns[slot].values, values, bytes, arrivals[slot]);
    }
    // The next turn, once it is here. Its slot is the warp's until leave().
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
