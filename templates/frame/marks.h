// In: memory of a launch's workspace. Out: marks, by which the workgroups of a launch tell each other that they have ended their tiles of a
// phase. A mark is a word that counts workgroups in its upper 16 bits. There is one for each phase, and one for the end of the launch. Its
// lower 48 bits are a magic number. If that is missing, the word is not initialised, and a workgroup initialises it with a count of zero.
// The launch ends with all counts zero. So the host prepares nothing, and calls and graph replays can follow each other. If another call
// overwrites a word in part, that part includes the first bytes, so the magic number is gone, too. (A word per workgroup and phase would
// need no magic number, but every wait would poll many words.) gen/plan/plan.c counts the bytes.
//
// The words are
// - [0]: which wait timed out first, until tfgen_execute_check() clears it: late_wait() in the high 32 bits, the low 32 bits of `late` in
//   the low ones; else 0
// - [1]: `late` once a wait of this launch has timed out, which ends all other waits
// - [2]: a mark that counts workgroups that have ended; used if some gave up (census.h)
// - [3]: in launches whose rows come in words (words.h): the epoch of the next launch's first layer
// - from `head` on, `pitch` words (a cache line) apart: the marks, then the census
#pragma once
#include "templates/frame/census.h"

// A clock that does not stand still between launches.
#if defined(TF_ON_HOST)
DEV unsigned long long nanoseconds_now() { return __builtin_readcyclecounter(); }
#elif defined(__clang__)
DEV unsigned long long nanoseconds_now() { return 0; } // not used
#else
DEV unsigned long long nanoseconds_now()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#endif

struct marks {
    static constexpr unsigned long long late = 0xb51d4e0793f8c26bull, none = census::open;
    static constexpr int head = 16, pitch = 16, shift = 48;
    // Polls before a wait times out. A workgroup without tiles waits for whole phases, which may take seconds. The host engine runs
    // workgroups in turn, on processors that do other work, too.
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
    // Initialises the words that are not initialised. Called by one wave; a barrier must follow before the workgroup marks or waits.
    DEV void initialise(int phases) const
    {
        for (int i = thread_index() % TF_WAVE; i <= phases + 1; i += TF_WAVE) {
            unsigned long long *const at = nth(i, phases);
            const unsigned long long now = flag_read(at);
            if (!counts(now)) flag_swap(at, now, none);
        }
    }
    // Returns the epoch of the launch's first layer. Called by one thread.
    DEV unsigned long long first_epoch() const
    {
        unsigned long long now = flag_read(words + 3);
        if (now >> 48 != next_epochs) {
            flag_swap(words + 3, now, numbered(next_epochs, nanoseconds_now()));
            now = flag_read(words + 3);
        }
        return epoch_of(now);
    }
    // An epoch is a number of 48 bits behind 16 bits that are a NaN as f16 or bf16. In the marks these bits are others: a call with other
    // sizes may have kept words where this one has its marks, and their tags must not be taken for the next epoch.
    static constexpr unsigned long long epochs = 0xffd5, next_epochs = 0xffb3;
    DEV static unsigned long long numbered(unsigned long long first, unsigned long long number)
    {
        return first << 48 | number << 16 >> 16;
    }
    DEV static unsigned long long epoch_of(unsigned long long number) { return numbered(epochs, number); }
    // Called by one thread of the launch, when all its workgroups have called first_epoch().
    DEV void set_first_epoch(unsigned long long next) const { flag_store_relaxed(words + 3, numbered(next_epochs, next)); }
    // Counts the workgroup and returns its seat. Called by one thread before the workgroup's first tile.
    DEV seat take_seat(int phases) const { return seat_of(phases, who(phases).join()); }
    // The seat of a workgroup for which census::join() returned `ticket`.
    DEV seat seat_of(int phases, unsigned long long ticket) const
    {
        seat own = census::seat_of(who(phases).joined(ticket));
        assemble(phases, own);
        return own;
    }
    // Waits until the census counts all workgroups and those that gave up have ended, or until this workgroup has to give up (own.total is
    // 0). Called by one thread.
    DEV void assemble(int phases, seat &own) const
    {
        for (unsigned long long polls = 0; !who(phases).decided(own, polls < census::patience); polls++)
            if (polls < census::patience) pause();
        while (own.total > 0 && own.gone > 0 && !has(flag_read(ends()), own.gone)) pause();
    }
    // If some workgroups gave up: called by one thread of each workgroup as it ends. The last workgroup resets all words. Returns whether
    // this one is the last.
    DEV bool end(int phases) const
    {
        if (census::count(flag_take(ends(), census::one)) + 1 != static_cast<int>(block_total())) return false;
        clear(phases, 0, 1);
        return true;
    }
    // Marks that the workgroup has ended its tiles of a phase. Called by one thread, after device_release() by every wave that stored, and
    // a barrier.
    DEV void publish(int phase) const { flag_add(mark(phase), 1ull << shift); }
    // Marks that the workgroup reads no more marks. Called by one thread. It publishes no data, so no fence is needed.
    DEV void leave(int phases) const { flag_add_relaxed(mark(phases), 1ull << shift); }
    // Waits until `groups` workgroups have ended phase `of`. Called by one thread; then device_acquire(), a barrier, and device_acquire()
    // by every wave that reads must follow. A wait that takes too long ends all waits. phase: that of the waiting tile, for the message.
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
    // Waits until `groups` workgroups have ended the phase. Called by one thread. There is no limit, since workgroups end even if waits
    // timed out, and the launch cannot end before them.
    DEV void await_end(int phase, int groups) const
    {
        while (!has(flag_read(mark(phase)), groups)) pause();
    }
    // Resets all words but [0]. Called by `threads` threads of one workgroup, of which this one is `thread`, when no workgroup waits or
    // marks any more.
    DEV void clear(int phases, int thread, int threads) const
    {
        if (thread == 0) flag_store_relaxed(words + 1, 0), flag_store_relaxed(ends(), none);
        for (int i = thread; i <= phases + 1; i += threads) flag_store_relaxed(mark(i), none);
    }
};
