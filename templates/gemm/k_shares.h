// In: accumulators of a tile whose K is split among Parts workgroups. Out: the tile's results. Each workgroup adds up one share of the
// tile, from all slices in a fixed order, and stores it. So it reads as many bytes as it wrote, however many slices there are; with the
// tree of gemm/part_tree.h, a workgroup would read a whole tile for each slice that it adds. Only for launches whose workgroups have one
// item each.
//
// No deadlock: a workgroup with a later item may need the multiprocessor of one with an earlier item. So workgroups wait for the other
// slices only for most_waits polls, and then leave their share to the workgroup of the last slice. That one waits only for workgroups
// before it: for their slices, and until each has stored or left its share.
//
// Owner is the program, with slice_of(tile, part), the index of a warpgroup's slice, and store_word(args, tile, word, thread, sums), which
// runs the epilogue on the four sums that `thread` had as its word number `word` (word_of()): of two columns, and of those 16 columns
// further on.
#pragma once
#include "templates/frame/workspace.h"

template <class Owner, int Parts, int Registers> struct k_shares {
    using args = typename Owner::args;
    using tile = typename Owner::tile;
    static constexpr int threads = 128, words = threads * (Registers / 4); // words of 16 bytes in a slice
    static constexpr int each = ceil_div(words, Parts);                    // words of a share
    static constexpr int teams = each > 64 ? 1 : each > 32 ? 2 : each > 16 ? 4 : 8; // threads that add up a word, each some of the slices
    static constexpr int lanes = 32 / teams, at_once = threads / teams;             // words that a warp, and the warpgroup, add at a time
    using meeting = slices<4 * words>;
    // Values of a slice's second flag. vain: only within any(): some thread passed true. left: the workgroup left its share to that of the
    // last slice. done: it stored its share.
    static constexpr unsigned long long vain = 0x6a09e667f3bcc908ull, left = 0xbb67ae8584caa73bull, done = 0x3c6ef372fe94f82bull;
    static constexpr unsigned most_waits = most_polls < 4096 ? most_polls : 4096;

    // A thread's first accumulator in its word i; the other three of the word are 1, 8 and 9 further on.
    DEV static int word_of(int i) { return i / 4 * 16 + i % 4 / 2 * 4 + i % 2 * 2; }

    DEV static void add(const args &p, const tile &t, meeting m, const float *acc)
    {
        const long long own = Owner::slice_of(t, t.part);
#pragma unroll
        for (int i = 0; i < Registers / 4; i++) {
            const float *x = acc + word_of(i);
            slice_store(m.data(own) + (i * threads + thread()) * 4, slice_word{{x[0], x[1], x[8], x[9]}});
        }
        slice_stored();
        meet();
        if (thread() == 0) m.publish(own);
        if (t.part + 1 < Parts)
            help(p, t, m, own);
        else
            complete(p, t, m, own);
    }

  private:
    DEV static int thread() { return thread_index() % threads; }
    DEV static void meet() { group_barrier(4 + thread_index() / threads, threads); }
    DEV static unsigned long long *fate(meeting m, long long slice) { return m.flag(slice) + 1; }
    // True if `says` is true for any thread of the warpgroup.
    DEV static bool any(meeting m, long long own, bool says)
    {
        if (says) flag_store(fate(m, own), vain);
        meet();
        const bool one = flag_read(fate(m, own)) == vain;
        meet();
        return one;
    }

    DEV static void help(const args &p, const tile &t, meeting m, long long own)
    {
        bool late = false;
        for (int i = thread(); i < Parts && !late; i += threads) {
            const unsigned long long *flag = m.flag(Owner::slice_of(t, i));
            unsigned polls = 0;
            while (flag_read(flag) != meeting::published && polls++ < most_waits) pause();
            late = polls > most_waits;
        }
        const bool leaves = any(m, own, late);
        if (!leaves) add_share(p, t, m, t.part);
        meet(); // all have read the slices
        if (thread() == 0) flag_store(fate(m, own), leaves ? left : done);
    }

    DEV static void complete(const args &p, const tile &t, meeting m, long long own)
    {
        for (int i = thread(); i + 1 < Parts; i += threads) m.await(Owner::slice_of(t, i));
        meet();
        add_share(p, t, m, t.part);
        bool some = false;
        for (int i = thread(); i + 1 < Parts; i += threads) some |= fate_of(m, Owner::slice_of(t, i)) == left;
        if (any(m, own, some))
            for (int part = 0; part + 1 < Parts; part++)
                if (fate_of(m, Owner::slice_of(t, part)) == left) add_share(p, t, m, part);
        meet();
        for (int i = thread(); i < Parts; i += threads) {
            const long long slice = Owner::slice_of(t, i);
            m.clear(slice);
            flag_store(fate(m, slice), 0);
        }
    }
    DEV static unsigned long long fate_of(meeting m, long long slice)
    {
        unsigned long long found = 0;
        while ((found = flag_read(fate(m, slice))) != left && found != done) pause();
        return found;
    }

    DEV static void add_share(const args &p, const tile &t, meeting m, int share)
    {
        const int first = static_cast<int>(static_cast<long long>(share) * words / Parts),
                  end = static_cast<int>((share + 1ll) * words / Parts), lane = thread() % 32, team = lane / lanes;
#pragma unroll 1
        for (int at = first; at < end; at += at_once) {
            const int word = at + thread() / 32 * lanes + lane % lanes;
            slice_word sum = {};
            if (word < end) {
#pragma unroll 8
                for (int part = team; part < Parts; part += teams) {
                    const slice_word x = slice_read(m.data(Owner::slice_of(t, part)) + word * 4);
#pragma unroll
                    for (int k = 0; k < 4; k++) sum.e[k] += x.e[k];
                }
            }
#pragma unroll
            for (int mask = lanes; mask < 32; mask *= 2)
#pragma unroll
                for (int k = 0; k < 4; k++) sum.e[k] += lane_xor<32>(sum.e[k], mask);
            if (word < end && team == 0) Owner::store_word(p, t, word / threads, word % threads, sum);
        }
    }
};
