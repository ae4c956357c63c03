// In: one spec struct S of a packed weight (docs/architecture.md: pack). Out: the program that writes it, a thread an element. Refuses
// nothing.
#pragma once

template <class S> struct pack {
    using args = typename S::args;
    struct tile {
        long long first;
    };
    struct carry {};
    struct slot {};
    struct scratch {};
    static constexpr int slots = 1, each = 8 * S::threads; // elements a tile
    static constexpr long long count = static_cast<long long>(S::packed_n) * S::packed_k;

    DEV static int tiles(const args &) { return static_cast<int>((count + each - 1) / each); }
    DEV static tile at(const args &, int index) { return {static_cast<long long>(index) * each}; }
    DEV static int stages(const args &, const tile &) { return 0; }
    DEV static void load(const args &, const tile &, int, slot &) {}
    template <class Ring> DEV static void compute(const args &, const tile &, Ring &, carry &) {}
    DEV static void finish(const args &p, const tile &t, carry &, scratch &)
    {
        for (int i = thread_index(); i < each; i += S::threads) {
            const long long at = t.first + i;
            if (at >= count) return;
            const int n = static_cast<int>(at / S::packed_k), k = static_cast<int>(at % S::packed_k);
            S::out(p)[at] = from_float<typename S::type>::convert(S::element(p, n, k));
        }
    }
};
