// In: one spec struct S of a product with split_k > 1. S::partial(p) is memory of the workspace. Out: the split-K reduction: workgroups add
// up the slices of a tile's K in a fixed order, so that results are reproducible (gemm/part_tree.h). Work items are ordered by slice, so a
// slice waits only for items with lower numbers; workgroups start in the order of their numbers, so there is no deadlock.
//
// Sums: the sums of a thread, vector(i), each of `width` elements. Lanes: the workgroup's first Lanes threads have sums.
#pragma once
#include "templates/frame/workspace.h"
#include "templates/gemm/part_tree.h"

template <class S, class Sums, int Lanes> struct k_parts {
    using args = typename S::args;
    // others: slices but the last; in_vector, words: words of 16 bytes of a vector and of a thread
    static constexpr int others = S::split_k - 1, in_vector = Sums::width / 4, words = Sums::vectors * in_vector;
    static_assert(Sums::width % 4 == 0, "tile: width is a multiple of 4, as sums of slices are exchanged in words of 16 bytes");
    static_assert(Lanes <= S::threads, "tile: no more lanes with sums than threads");
    using meeting = slices<4 * words * Lanes>;

    // The first step along K of slice `part`, if K has `steps` steps.
    DEV static int first(int part, int steps) { return static_cast<int>(static_cast<long long>(part) * steps / S::split_k); }
    // All threads call it with the sums of slice `part` in c. True: c now has the sums of the whole tile. False: another workgroup will add
    // c to its own.
    DEV static bool meet(const args &p, int tile, int part, Sums &c)
    {
        if (const int count = tree::taken(part)) take(p, tile, part, count, c);
        if (tree::is_last(part)) return true;
        give(p, tile, part, c);
        return false;
    }

  private:
    using tree = part_tree<S::split_k>;
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
    DEV static void take(const args &p, int tile, int part, int count, Sums &c)
    {
        const meeting m = {S::partial(p)};
        for (int i = thread_index(); i < count; i += S::threads) m.await(slice(tile, tree::giver(part, i)));
        barrier();
        constexpr int at_once = words <= 8 ? 2 : 1; // slices whose loads are in flight together, as far as registers allow
#pragma unroll at_once
        for (int i = 0; i < count && has_sums(); i++) add(m.data(slice(tile, tree::giver(part, i))), c);
        barrier();
        for (int i = thread_index(); i < count; i += S::threads) m.clear(slice(tile, tree::giver(part, i)));
    }
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
