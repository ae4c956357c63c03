// In: a launch whose workgroups wait for each other, and a word of its workspace. Out: the workgroups that take part. Not all may be
// resident: other launches may occupy multiprocessors and wait, too. So each workgroup counts itself when it starts, and waits until all
// have started. If some do not start for long, a waiting one closes the census: those counted so far share all tiles, and those that start
// later end at once. All that take part are resident, so no wait lasts for ever, however many launches run.
//
// The word has the form of a mark (marks.h): the upper 16 bits count workgroups. The lower 48 are `open`; or, once the census is closed,
// `closed` in their upper 32 and in their lower 16 the number of workgroups that take part. In a closed census these count again when they
// end, and the last one to count resets all marks.
#pragma once
#include "templates/frame/workspace.h"

struct seat {
    int index, total; // among the workgroups that take part; total 0: this one does not
    int last;         // no other workgroup of the launch will access the marks
};

struct census {
    static constexpr unsigned long long open = 0x4e0793f8c26bull, closed = 0x93f8c26bull;
    static constexpr int shift = 48, nobody = 0x7fffffff;
    static constexpr unsigned long long one = 1ull << shift;
    // Polls before a workgroup closes the census: a launch of another stream may occupy multiprocessors for that long. On the host engine
    // all workgroups are resident, but start late.
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
    DEV static int part(unsigned long long x) { return static_cast<int>(x & 0xffff); } // of a closed census: the workgroups that take part

    // Counts the workgroup; returns the word before that. By one thread.
    DEV unsigned long long join() const
    {
        unsigned long long was = flag_take(word, one);
        while (!is_open(was) && !is_closed(was)) { // nobody has initialised it
            const unsigned long long now = flag_read(word);
            if (is_open(now) || is_closed(now))
                was = flag_take(word, one);
            else
                flag_swap(word, now, open);
        }
        return was;
    }
    // By one thread, before anything else.
    DEV seat enter() const
    {
        const unsigned long long was = join();
        if (is_closed(was)) return {nobody, 0, is_last(was)};
        for (unsigned long long polls = 0;; polls++) {
            const unsigned long long now = flag_read(word);
            if (is_closed(now)) return {count(was), part(now), 0};
            if (count(now) == block_total()) return {static_cast<int>(block_index()), static_cast<int>(block_total()), 0};
            if (polls >= patience)
                flag_swap(word, now, now >> shift << shift | closed << 16 | now >> shift);
            else
                pause();
        }
    }
    // By one thread of each workgroup that took part in a closed census, as it ends. True: it is the last of the launch.
    DEV bool end() const { return is_last(flag_take(word, one)); }

  private:
    // True if the workgroup that read this from the word is the last one to count: all have started, and those that take part have ended.
    DEV static bool is_last(unsigned long long was) { return count(was) + 1 == static_cast<int>(block_total()) + part(was); }
};
