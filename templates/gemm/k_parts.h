// In: one spec struct S of a product with split_k > 1, and partial(p), memory of the workspace. Out: how its workgroups add up the parts of
// a tile's K: each gives its sums to the workgroup with the last part, which adds them up in the order of the parts, so results repeat.
// Items are ordered by part: who waits has the highest number of those that meet, and workgroups begin in the order of their numbers.
//
// Sums: of a thread; vectors, of width elements each, vector(i), clear(), add(Sums). Lanes: threads that have some, the first of a
// workgroup.
#pragma once
#include "templates/base/sums.h"
#include "templates/frame/workspace.h"

template <class S, class Sums, int Lanes> struct k_parts {
    using args = typename S::args;
    static constexpr int others = S::split_k - 1, in_vector = Sums::width / 4, words = Sums::vectors * in_vector; // of 16 bytes
    static_assert(Sums::width % 4 == 0, "tile: parts of K meet in whole words");
    static_assert(Lanes <= S::threads, "tile: threads that have sums are threads");
    using meeting = slices<4 * words * Lanes>;

    // The first of `steps` along K that is a part's.
    DEV static int first(int part, int steps) { return static_cast<int>(static_cast<long long>(part) * steps / S::split_k); }
    DEV static bool is_last(int part) { return part == others; }

    // By all threads.
    DEV static void give(const args &p, int tile, int part, Sums &c)
    {
        const meeting m = {S::partial(p)};
        if (has_sums()) {
#pragma unroll
            for (int i = 0; i < words; i++) {
                const auto &x = c.vector(i / in_vector);
                const int k = i % in_vector * 4;
                slice_store(m.data(slice(tile, part)) + place(i), {{x[k], x[k + 1], x[k + 2], x[k + 3]}});
            }
            slice_stored();
        }
        barrier();
        if (thread_index() == 0) m.publish(slice(tile, part));
    }
    // By all threads. Sums of sums: a few parts are added up before they are added to the others.
    DEV static void take(const args &p, int tile, Sums &c)
    {
        constexpr int each = static_cast<int>(root_up(S::split_k, 2));
        const meeting m = {S::partial(p)};
        for (int part = thread_index(); part < others; part += S::threads) m.await(slice(tile, part));
        barrier();
#pragma unroll 1
        for (int from = 0; from < others && has_sums(); from += each) {
            Sums block;
            block.clear();
#pragma unroll 1
            for (int part = from; part < from + each && part < others; part++) add(m.data(slice(tile, part)), block);
            c.add(block);
        }
        barrier();
        for (int part = thread_index(); part < others; part += S::threads) m.clear(slice(tile, part));
    }

  private:
    DEV static bool has_sums() { return Lanes == S::threads || thread_index() < Lanes; }
    DEV static long long slice(int tile, int part) { return static_cast<long long>(tile) * others + part; }
    DEV static int place(int word) { return (word * Lanes + thread_index()) * 4; }
    DEV static void add(const float *from, Sums &to)
    {
#pragma unroll
        for (int i = 0; i < words; i++) {
            const slice_word x = slice_read(from + place(i));
#pragma unroll
            for (int e = 0; e < 4; e++) to.vector(i / in_vector)[i % in_vector * 4 + e] += x.e[e];
        }
    }
};
