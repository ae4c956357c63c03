// In: memory of a launch's workspace. Out: marks, by which the workgroups of a launch tell each other that they have ended their tiles of
// a phase: a word for each phase, and for the end, that counts workgroups in its upper 16 bits. Its lower 48 bits are a magic number: if it
// is missing, the word is not initialised, and a workgroup writes it with a count of zero. The launch ends with all counts zero. So
// the host prepares nothing, and calls and graph replays can follow each other. If another call overwrites a word in part, it overwrites
// the first bytes, so the magic number is gone, too. A word per workgroup would need no such number, but every wait would poll them all.
// gen/plan/plan.c counts the bytes.
//
// Words: [0] 0, or which wait timed out first (in its high half late_wait(), in its low half that of `late`), until tfgen_execute_check()
// clears it; [1] `late` once a wait of this launch has timed out, which ends all other waits; [2] a mark that counts workgroups that have
// ended, used if some gave up (census.h); from `head` on, `pitch` words apart (a cache line each), the marks, then the census.
#pragma once
#include "templates/frame/census.h"

struct marks {
    static constexpr unsigned long long late = 0xb51d4e0793f8c26bull, none = census::open;
    static constexpr int head = 16, pitch = 16, shift = 48;
    // Polls before a wait times out. A workgroup without tiles waits for a whole phase, which may take seconds. The host engine runs
    // workgroups in turn, on processors that have other work too.
#if defined(TF_ON_HOST)
    static constexpr unsigned long long patience = most_polls * 256ull;
#else
    static constexpr unsigned long long patience = most_polls * 8ull;
#endif
    unsigned long long *words;

    DEV unsigned long long *mark(int phase) const { return words + head + phase * pitch; }
    DEV unsigned long long *ends() const { return words + 2; }
    DEV static bool counts(unsigned long long mark) { return mark << 16 == none << 16; }
    DEV static bool has(unsigned long long mark, int groups) { return counts(mark) && static_cast<int>(mark >> shift) >= groups; }
    DEV bool is_late() const { return flag_read(words + 1) == late; }
    DEV void tell_late(int phase, int of) const
    {
        flag_store(words, static_cast<unsigned long long>(counters::late_wait(phase, of)) << 32 | static_cast<unsigned>(late));
        flag_store(words + 1, late);
    }

    DEV census who(int phases) const { return {mark(phases + 1)}; }

    DEV unsigned long long *nth(int i, int phases) const { return i <= phases ? mark(i) : ends(); }
    // By one wave, before a barrier and the workgroup's own marks: from here on all marks are initialised.
    DEV void initialise(int phases) const
    {
        for (int i = thread_index() % TF_WAVE; i <= phases + 1; i += TF_WAVE) {
            unsigned long long *const at = nth(i, phases);
            const unsigned long long now = flag_read(at);
            if (!counts(now)) flag_swap(at, now, none);
        }
    }
    // By one thread, before the workgroup's first tile.
    DEV seat take_seat(int phases) const
    {
        seat own = census::seat_of(who(phases).join());
        assemble(phases, own);
        return own;
    }
    // By one thread: waits until the census counts all workgroups and all that gave up have ended, or finds that this one must give up.
    DEV void assemble(int phases, seat &own) const
    {
        for (unsigned long long polls = 0; !who(phases).decided(own, polls < census::patience); polls++)
            if (polls < census::patience) pause();
        while (own.total > 0 && own.gone > 0 && !has(flag_read(ends()), own.gone)) pause();
    }
    // By one thread of each workgroup as it ends, if some gave up. The last one sets everything back.
    DEV void end(int phases) const
    {
        if (census::count(flag_take(ends(), census::one)) + 1 == static_cast<int>(block_total())) clear(phases, 0, 1);
    }
    // By one thread: after device_release() of every wave that stored and a barrier.
    DEV void publish(int phase) const { flag_add(mark(phase), 1ull << shift); }
    // By one thread: the workgroup reads no more marks. It publishes no data, so no fence is needed.
    DEV void leave(int phases) const { flag_add_relaxed(mark(phases), 1ull << shift); }
    // By one thread: waits until `groups` workgroups have ended phase `of`; then device_acquire(), a barrier, and device_acquire() by every
    // wave that reads. A wait that takes too long ends all waits.
    DEV void await(int phase, int of, int groups) const
    {
        for (unsigned long long polls = 0; !has(flag_read(mark(of)), groups); polls++) {
            if (polls % 64 == 63 && is_late()) break;
            if (polls == patience) {
                tell_late(phase, of);
                break;
            }
            pause();
        }
    }
    // By one thread: waits until `groups` workgroups have ended the phase. There is no limit, since they end even if waits timed out, and
    // the launch cannot end before them.
    DEV void await_end(int phase, int groups) const
    {
        while (!has(flag_read(mark(phase)), groups)) pause();
    }
    // By `threads` threads, of which this is `thread`, of one workgroup, when none waits or publishes any more.
    DEV void clear(int phases, int thread, int threads) const
    {
        if (thread == 0) flag_store_relaxed(words + 1, 0), flag_store_relaxed(ends(), none);
        for (int i = thread; i <= phases + 1; i += threads) flag_store_relaxed(mark(i), none);
    }
};
