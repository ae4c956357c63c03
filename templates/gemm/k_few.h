// In: one spec struct S of a product with split_k > 1 and few results per tile. S::partial(p) is memory of the workspace. Out: the split-K
// reduction. The workgroup of a tile's last slice adds up the sums of all slices in a fixed order. Its threads read the sums of the others
// in parallel, where a tree (gemm/k_parts.h) would read one slice after another. The slice that waits for others has the highest number, so
// there is no deadlock (gemm/k_parts.h).
//
// Sums: the sums of a thread, vector(i), each of `width` elements. Lanes: the workgroup's first Lanes threads have sums. A word is 16 bytes
// of a slice. Teams: how many threads add up one word; each of them adds every Teams-th slice.
#pragma once
#include "templates/frame/workspace.h"

template <class S, class Sums, int Lanes, int Teams> struct k_few {
    using args = typename S::args;
    // others: slices but the last; in_vector, of_thread, words: words of a vector, of a thread, of a slice
    static constexpr int others = S::split_k - 1, in_vector = Sums::width / 4, of_thread = Sums::vectors * in_vector;
    static constexpr int words = of_thread * Lanes;
    static_assert(Sums::width % 4 == 0, "tile: width is a multiple of 4, as sums of slices are exchanged in words of 16 bytes");
    static_assert(Teams >= 1 && (Teams == 1 || Teams * words <= S::threads), "tile: at least one thread for each word of a team's sums");
    using meeting = slices<4 * words>;
    struct alignas(16) scratch {
        slice_word sums[Teams * words];
    };

    // The first step along K of slice `part`, if K has `steps` steps.
    DEV static int first(int part, int steps) { return static_cast<int>(static_cast<long long>(part) * steps / S::split_k); }
    // All threads call it with the sums of slice `part` in c. True: c now has the sums of the whole tile. False: the workgroup of the last
    // slice will add c to its own.
    DEV static bool meet(const args &p, int tile, int part, Sums &c, scratch &s)
    {
        const meeting m = {S::partial(p)};
        const long long first = static_cast<long long>(tile) * others;
        if (part < others) {
            give(m, first + part, c);
            return false;
        }
        for (int i = thread_index(); i < others; i += S::threads) m.await(first + i);
        barrier();
        gather(m, first, s);
        barrier();
        if (has_sums()) add(s, c);
        for (int i = thread_index(); i < others; i += S::threads) m.clear(first + i);
        return true;
    }

  private:
    DEV static bool has_sums() { return Lanes == S::threads || thread_index() < Lanes; }
    DEV static int place(int word) { return word * Lanes + thread_index(); }
    DEV static void give(meeting m, long long slice, Sums &c)
    {
        if (has_sums()) {
#pragma unroll
            for (int i = 0; i < of_thread; i++) {
                const auto &x = c.vector(i / in_vector);
                const int k = i % in_vector * 4;
                slice_store(m.data(slice) + place(i) * 4, {{x[k], x[k + 1], x[k + 2], x[k + 3]}});
            }
            slice_stored();
        }
        barrier();
        if (thread_index() == 0) m.publish(slice);
    }
    // Adds up words of the slices. For each word, Teams threads each sum every Teams-th slice.
    DEV static void gather(meeting m, long long first, scratch &s)
    {
        for (int at = thread_index(); at < Teams * words; at += S::threads) {
            const int word = at % words;
            slice_word sum = {};
#pragma unroll 8
            for (int i = at / words; i < others; i += Teams) {
                const slice_word x = slice_read(m.data(first + i) + word * 4);
#pragma unroll
                for (int e = 0; e < 4; e++) sum.e[e] += x.e[e];
            }
            s.sums[at] = sum;
        }
    }
    DEV static void add(const scratch &s, Sums &c)
    {
#pragma unroll
        for (int i = 0; i < of_thread; i++)
#pragma unroll
            for (int team = 0; team < Teams; team++)
#pragma unroll
                for (int e = 0; e < 4; e++) c.vector(i / in_vector)[i % in_vector * 4 + e] += s.sums[team * words + place(i)].e[e];
    }
};
