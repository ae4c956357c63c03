// In: a launch of several phases (frame_list.h) and workspace for the rows that they pass on. Out: rows in words. Readers poll the elements
// themselves: a word of 128 bits has four adjacent elements and a tag, the epoch, which numbers the launch and the layer that stored them.
// So neither a fence nor a mark is needed, and nothing is cleared. docs/one-launch.md says what orders these accesses (Rows in words).
//
// An element lies where it would in a matrix of floats, as each takes 4 bytes. Words begin at columns that are multiples of 4, and rows at
// multiples of 8 elements.
//
// Epochs count layers. The epoch of a launch's first layer is in the launch's marks. If that memory holds none, the first workgroup that
// sees it takes the time in nanoseconds. A layer takes longer than a nanosecond, so no epoch repeats an earlier one, even if calls with
// other sizes keep their marks and words at other places of the same workspace.
#pragma once
#include "templates/frame/marks.h"
#include "templates/isa/nvidia.h"

// A word of 128 bits. Readers never see half of one.
struct alignas(16) tagged_word {
    unsigned long long data, tag;
};
#if defined(TF_ON_HOST)
DEV void word_store(tagged_word *to, const tagged_word &x)
{
    flag_store_relaxed(&to->data, x.data);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    flag_store_relaxed(&to->tag, x.tag);
}
// Reads a word if `yes`; else x stays as it is.
DEV void word_read(tagged_word &x, const tagged_word *from, bool yes)
{
    if (!yes) return;
    const unsigned long long tag = __hip_atomic_load(&from->tag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    x = {__hip_atomic_load(&from->data, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT), tag};
}
#else
DEV void word_store(tagged_word *to, const tagged_word &x)
{
    asm volatile("{\n.reg .b128 all;\nmov.b128 all, {%1, %2};\nst.relaxed.gpu.global.b128 [%0], all;\n}" ::"l"(global_address(to)),
                 "l"(x.data), "l"(x.tag)
                 : "memory");
}
DEV void word_read(tagged_word &x, const tagged_word *from, bool yes)
{
    asm volatile("{\n.reg .b128 all;\n.reg .pred yes;\nsetp.ne.u32 yes, %3, 0;\nmov.b128 all, {%0, %1};\n"
                 "@yes ld.relaxed.gpu.global.b128 all, [%2];\nmov.b128 {%0, %1}, all;\n}"
                 : "+l"(x.data), "+l"(x.tag)
                 : "l"(global_address(from)), "r"(static_cast<unsigned>(yes))
                 : "memory");
}
#endif

struct launch_words { // of a phase. `marks` is set by the host, the rest when the phase begins
    unsigned long long *marks;
    unsigned long long epoch; // of the layer
    int phase;

    DEV launch_words next() const { return {marks, marks::epoch_of(epoch + 1), phase}; } // for the next layer of a stack
    // Called after each poll that found words missing. True: this wait, or another one of the launch, took too long, and the caller goes on
    // with the words as they are. The report names the waiting phase twice.
    DEV bool is_late(unsigned long long polls) const
    {
        const struct marks m = {marks};
        if (polls % 64 == 63 && m.is_late()) return true;
        if (polls == marks::patience) {
            m.tell_late(phase, phase);
            return true;
        }
        pause();
        return false;
    }
    // Stores W adjacent elements, a multiple of 4.
    template <class T, int W> DEV void store(float *to, vec<float, W> v) const
    {
#pragma unroll
        for (int i = 0; i < W; i += 4) {
            const unsigned long long low = packed(T(), v[i], v[i + 1]), high = packed(T(), v[i + 2], v[i + 3]);
            word_store(reinterpret_cast<tagged_word *>(to + i), {high << 32 | low, epoch});
        }
    }
    template <class T> DEV static float element(unsigned long long data, int i)
    {
        return to_float(__builtin_bit_cast(T, static_cast<unsigned short>(data >> 16 * i)));
    }
    // Waits for 4 adjacent elements and returns them.
    template <class T, int W> DEV vec<float, W> load(const float *from) const
    {
        static_assert(W == 4, "words: epilogues load four elements at a time");
        const tagged_word *const at = reinterpret_cast<const tagged_word *>(from);
        tagged_word x = {};
        word_read(x, at, true);
        for (unsigned long long polls = 0; x.tag != epoch && !is_late(polls); polls++) word_read(x, at, true);
        return {element<T>(x.data, 0), element<T>(x.data, 1), element<T>(x.data, 2), element<T>(x.data, 3)};
    }
    // Two floats in a word.
    DEV void store_floats(void *to, float x, float y) const
    {
        word_store(static_cast<tagged_word *>(to), {static_cast<unsigned long long>(float_bits(y)) << 32 | float_bits(x), epoch});
    }
    DEV bool read_floats(const void *from, float &x, float &y) const
    {
        tagged_word w = {};
        word_read(w, static_cast<const tagged_word *>(from), true);
        x = bits_float(static_cast<unsigned>(w.data)), y = bits_float(static_cast<unsigned>(w.data >> 32));
        return w.tag == epoch;
    }
    // By all lanes of a wave: waits for Count runs of 8 adjacent elements. at(i): where run i begins; length(i): how many of its elements
    // the lane needs, counted in fours. to[i].word gets a run's elements. Words that a lane does not need are not read: a word that many
    // workgroups read at a time is stored late. Saving: nor are those that it has, which takes more registers.
    template <int Count, bool Saving, class Chunks, class At, class Length> DEV void take(Chunks &to, At at, Length length) const
    {
        static_assert(Count <= 16, "words: 32 bits tell which are missing");
        unsigned missing = 0; // words, if Saving
#pragma unroll
        for (int i = 0; i < Count; i++) {
            if constexpr (Saving) to[i] = {};
#pragma unroll
            for (int n = 0; n < 2; n++) missing |= static_cast<unsigned>(n < length(i)) << (2 * i + n);
        }
        unsigned long long polls = 0;
        bool there;
        do {
            tagged_word x[Count][2];
#pragma unroll
            for (int i = 0; i < Count; i++)
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    x[i][n] = {0, Saving ? 0 : epoch};
                    word_read(x[i][n], reinterpret_cast<const tagged_word *>(at(i)) + n,
                              Saving ? (missing >> (2 * i + n) & 1) != 0 : n < length(i));
                }
            there = true;
#pragma unroll
            for (int i = 0; i < Count; i++)
#pragma unroll
                for (int n = 0; n < 2; n++) {
                    const bool stored = x[i][n].tag == epoch; // and read
                    if (!Saving) there = there && stored;
                    if (Saving && !stored) continue;
                    missing &= ~(1u << (2 * i + n));
                    to[i].word[2 * n] = static_cast<unsigned>(x[i][n].data);
                    to[i].word[2 * n + 1] = static_cast<unsigned>(x[i][n].data >> 32);
                }
            if (Saving) there = missing == 0;
        } while (any_lane(!there) && !is_late(polls++));
    }
};
