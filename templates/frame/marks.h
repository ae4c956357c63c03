// In: memory of a launch's workspace. Out: marks, by which the workgroups of a launch tell each other that they have ended their tiles of a
// phase. A mark is a number that memory nobody wrote does not hold, and the launch clears all marks at its end: the host prepares nothing,
// and calls and replays of graphs follow each other. gen/plan/plan.c counts their bytes.
//
// Words: [0] the first wait that timed out (its low half is that of `published`, its high half late_wait()); then a mark per workgroup for
// each phase, and for the end.
#pragma once
#include "templates/frame/workspace.h"

struct marks {
    static constexpr unsigned long long published = 0xb51d4e0793f8c26bull;
    static constexpr int head = 16;
    unsigned long long *words;

    DEV unsigned long long *mark(int phase, int group) const { return words + head + phase * block_total() + group; }
    // By one thread: after device_release() of every wave that stored and a barrier.
    DEV void publish(int phase, int group) const { flag_store(mark(phase, group), published); }
    DEV bool is_late() const { return static_cast<unsigned>(flag_read(words)) == static_cast<unsigned>(published); }
    // By all threads, which share out the marks of `count` workgroups; then device_acquire(), a barrier, and device_acquire() by every wave
    // that reads. A wait that takes too long ends all waits.
    DEV void await(int phase, int of, int count, int threads) const
    {
        for (int group = thread_index(); group < count; group += threads)
            for (unsigned polls = 0; flag_read(mark(of, group)) != published; polls++) {
                if (polls % 64 == 63 && is_late()) break;
                if (polls == most_polls) {
                    const unsigned long long late = counters::late_wait(phase, of);
                    flag_store(words, late << 32 | static_cast<unsigned>(published));
                    break;
                }
                pause();
            }
    }
    // By all threads of one workgroup when no other one waits any more.
    DEV void clear(int phases, int threads) const
    {
        for (int i = thread_index(); i < phases * block_total(); i += threads) flag_store(words + head + i, 0);
    }
};
