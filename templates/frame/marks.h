// In: memory of a launch's workspace. Out: marks, by which the workgroups of a launch tell each other that they have ended their tiles of a
// phase. A mark is a number that memory nobody wrote does not hold, and the launch clears all marks at its end, also after a wait that
// timed out: the host prepares nothing, and calls and replays of graphs follow each other. gen/plan/plan.c counts their bytes.
//
// Words: [0] the first wait that timed out (its low half is that of `published`, its high half late_wait()), until tfgen_execute_check()
// clears it; [1] published once a wait of this launch timed out, which ends the others; from `head` on a mark per workgroup for each phase,
// and for the end.
#pragma once
#include "templates/frame/workspace.h"

struct marks {
    static constexpr unsigned long long published = 0xb51d4e0793f8c26bull;
    static constexpr int head = 16;
    // A workgroup without tiles waits for a whole phase, which may take seconds. The host engine runs workgroups in turn, on processors
    // that have other work too.
#if defined(TF_ON_HOST)
    static constexpr unsigned long long patience = most_polls * 256ull;
#else
    static constexpr unsigned long long patience = most_polls * 8ull;
#endif
    unsigned long long *words;

    DEV unsigned long long *mark(int phase, int group) const { return words + head + phase * block_total() + group; }
    // By one thread: after device_release() of every wave that stored and a barrier.
    DEV void publish(int phase, int group) const { flag_store(mark(phase, group), published); }
    DEV bool is_late() const { return flag_read(words + 1) == published; }
    DEV void tell_late(int phase, int of) const
    {
        const unsigned long long late = counters::late_wait(phase, of);
        flag_store(words, late << 32 | static_cast<unsigned>(published));
        flag_store(words + 1, published);
    }
    // By all threads, which share out the marks of `count` workgroups; then device_acquire(), a barrier, and device_acquire() by every wave
    // that reads. A wait that takes too long ends all waits.
    DEV void await(int phase, int of, int count, int threads) const
    {
        for (int group = thread_index(); group < count; group += threads)
            for (unsigned long long polls = 0; flag_read(mark(of, group)) != published; polls++) {
                if (polls % 64 == 63 && is_late()) break;
                if (polls == patience) {
                    tell_late(phase, of);
                    break;
                }
                pause();
            }
    }
    // By all threads of one workgroup: until all workgroups have passed their last wait, which they do, late or not; nobody stores a mark
    // afterwards. This has no limit, since the launch does not end before them either.
    DEV void await_end(int phases, int threads) const
    {
        for (int group = thread_index(); group < block_total(); group += threads)
            while (flag_read(mark(phases, group)) != published) pause();
    }
    // By all threads of one workgroup, after await_end() and a barrier.
    DEV void clear(int phases, int threads) const
    {
        for (int i = 1 + thread_index(); i < head + (phases + 1) * block_total(); i += threads) flag_store(words + i, 0);
    }
};
