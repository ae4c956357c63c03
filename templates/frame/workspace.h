// In: memory of a launch's workspace. Out: two ways in which the workgroups of a launch pass results on: slices, each written by one
// workgroup (or warpgroup), and counters of finished tiles. A workgroup waits only for resident workgroups that are earlier in the order of
// tiles, or for a limited time (gemm/k_shares.h), so there is no deadlock. isa/device_scope.h says which fence orders what.
#pragma once
#include "templates/isa/device_scope.h"

// Each slice has a flag, then Floats floats at a multiple of 16 bytes. It is published while its flag holds a magic number, which
// uninitialised memory does not hold by chance. The reader clears the flag, so the next launch finds no slice published, and the host
// initialises nothing. gen/base/layout.c counts the bytes.
template <int Floats> struct slices {
    static constexpr int head = 4, pitch = head + Floats; // floats before the data of a slice; floats from slice to slice
    static constexpr unsigned long long published = 0x9d2be3167f4a91c5ull;
    static_assert(Floats % 4 == 0, "a slice is a multiple of 16 bytes");
    float *memory;

    DEV float *data(long long i) const { return memory + i * pitch + head; }
    DEV unsigned long long *flag(long long i) const { return reinterpret_cast<unsigned long long *>(memory + i * pitch); }
    // Called by one thread, after slice_stored() by all threads that stored, and a barrier.
    DEV void publish(long long i) const { flag_store(flag(i), published); }
    // Called by one thread; a barrier must follow before the others read.
    DEV void await(long long i) const
    {
        while (flag_read(flag(i)) != published) pause();
    }
    DEV void clear(long long i) const { flag_store_relaxed(flag(i), 0); } // called by the thread that waited, after all have read
};

#if defined(TF_MOST_POLLS) // set by a test
constexpr unsigned most_polls = TF_MOST_POLLS;
#else
constexpr unsigned most_polls = 1u << 24;
#endif

// The words of a launch, all zero before it: [0] workgroups that have left; [1] the first wait that timed out, encoded by late_wait(); from
// [2] on the counters, which only grow while the launch runs. After the launch all but [1] are zero again. runtime/module/counters.c clears
// the words before each call and reads [1] after it.
struct counters {
    unsigned *words;

    DEV bool has(int counter, int count) const { return counter_read(words + 2 + counter) >= static_cast<unsigned>(count); }
    DEV static unsigned late_wait(int phase, int counter) { return 1u << 31 | static_cast<unsigned>(phase) << 24 | (counter & 0xffffff); }
    // Waits until the counter has reached `count`. Called by one thread; a barrier must follow, and device_acquire() by every wave that
    // reads. A wait that times out ends all waits. phase: that of the waiting tile, for the message.
    DEV void await(int phase, int counter, int count) const
    {
        for (unsigned polls = 0; !has(counter, count); polls++) {
            if (counter_read(words + 1)) break;
            if (polls == most_polls) {
                counter_store(words + 1, late_wait(phase, counter));
                break;
            }
            pause();
        }
    }
    // Called by one thread, after device_release() by every wave that stored, and a barrier.
    DEV void publish(int counter) const { counter_add(words + 2 + counter, 1); }
    // Called by one thread of each workgroup as it ends. The last workgroup sets all `count` counters to zero, so launches and graph
    // replays need no memset.
    DEV void leave(int count) const
    {
        device_release(); // what this workgroup published becomes visible before the workgroup counts as having left
        if (counter_add(words, 1) != static_cast<unsigned>(block_total()) - 1) return;
        device_acquire();
        for (int i = 0; i < count; i++) counter_store(words + 2 + i, 0);
        counter_store(words, 0);
    }
};
