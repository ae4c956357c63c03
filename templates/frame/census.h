// In: a launch whose workgroups wait for each other, and a word of its workspace. Out: which workgroups take part. Not all may be resident,
// since workgroups of other launches may occupy multiprocessors and wait as well. So each workgroup counts itself before its first tile. If
// some do not start for a long time, a waiting workgroup closes the census: the workgroups counted so far give up and end, which frees
// their multiprocessors, and those that start later share all tiles. These may give up in turn, until one is left. So no wait lasts for
// ever, however many launches run.
//
// The word has the form of a mark (marks.h): its upper 16 bits count workgroups. The lower 48 bits are `open`. Once the census is closed,
// they are `closed` (32 bits) followed by the number of workgroups that gave up (16 bits).
#pragma once
#include "templates/frame/workspace.h"

struct alignas(16) seat {
    int index, total; // index among the workgroups that take part, and their number; total 0: this workgroup does not take part
    int gone;         // workgroups that gave up before this one started
    unsigned long long epoch; // of the launch's first layer (words.h), if rows come in words

    // Whether all workgroups of the launch take part, as nearly always. Then each has its own index.
    DEV bool is_usual() const { return index == static_cast<int>(block_index()) && total == static_cast<int>(block_total()); }
};

struct census {
    static constexpr unsigned long long open = 0x4e0793f8c26bull, closed = 0x93f8c26bull;
    static constexpr int shift = 48, nobody = 0x7fffffff;
    static constexpr unsigned long long one = 1ull << shift;
    // Polls before a waiting workgroup closes the census: time for a launch of another stream that occupies multiprocessors to end. On the
    // host engine all workgroups are resident, but may start late.
#if defined(TF_CENSUS_POLLS) // set by a test
    static constexpr unsigned long long patience = TF_CENSUS_POLLS;
#elif defined(TF_ON_HOST)
    static constexpr unsigned long long patience = most_polls * 256ull;
#else
    static constexpr unsigned long long patience = most_polls / 4096;
#endif
    unsigned long long *word;

    DEV static int count(unsigned long long x) { return static_cast<int>(x >> shift); }
    DEV static bool is_open(unsigned long long x) { return x << 16 == open << 16; }
    DEV static bool is_closed(unsigned long long x) { return x << 16 >> 32 == closed; }
    DEV static bool is_valid(unsigned long long x) { return is_open(x) || is_closed(x); }
    DEV static int gone(unsigned long long x) { return is_closed(x) ? static_cast<int>(x & 0xffff) : 0; }

    // One thread counts this workgroup: it calls join(), later joined() with the result. joined() returns the word as it was before. It
    // initialises the word if no workgroup has done so. Orders no other memory accesses.
    DEV unsigned long long join() const { return flag_take_relaxed(word, one); }
    DEV unsigned long long joined(unsigned long long was) const
    {
        while (!is_valid(was)) { // no workgroup had initialised the word
            const unsigned long long now = flag_read(word);
            if (is_valid(now))
                was = flag_take_relaxed(word, one);
            else
                flag_swap(word, now, open);
        }
        return was;
    }
    // The seat of a workgroup for which joined() returned `was`. If the workgroup has to give up, decided() sets the seat's total to 0.
    DEV static seat seat_of(unsigned long long was)
    {
        const int left = gone(was), index = left ? count(was) - left : static_cast<int>(block_index());
        return {index, static_cast<int>(block_total()) - left, left, 0};
    }
    // Reads the word once. True: all workgroups have been counted, or this one has to give up (own.total is 0). False: some are missing; if
    // not `patient`, this call has tried to close the census.
    DEV bool decided(seat &own, bool patient) const
    {
        const unsigned long long now = flag_read(word);
        if (gone(now) != own.gone) {
            own.total = 0;
            return true;
        }
        if (count(now) == static_cast<int>(block_total())) return true;
        if (!patient) flag_swap(word, now, now >> shift << shift | closed << 16 | now >> shift);
        return false;
    }
};
