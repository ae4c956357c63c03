// A ring of pages in shared memory through which global memory that no launch writes, such as weights, is streamed. One warp, the writer,
// issues bulk copies into the pages, in the order in which the other warps read them.
//
// The ring has a number of pages, of which a smaller number may be in flight. Bytes in flight delay every other access of the
// multiprocessor, so they should be few: about bandwidth times latency. The other pages hold data that arrived ahead of its use, for
// example while warps waited for rows. During such waits fewer pages are in flight (calm), since their bytes queue ahead of what is waited
// for. Copies have an evict-first hint, so that the L2 keeps rows and caches, which are used again, rather than these bytes.
#pragma once
#include "templates/isa/bulk.h"

// Counts how often all warps have read a page.
struct alignas(8) page_reads {
    unsigned long long word; // on the host: the number of arrivals

    DEV void clear(int warps); // called first, by one thread
    // Called by one lane of each warp, after all its lanes have read. `offset` is 0, but the compiler must not know that
    // (page_reader::give_back).
    DEV void arrive(unsigned offset);
    // Waits until all warps have read the page turn + 1 times. Call it before any warp has read the page turn + 2 times.
    DEV void wait(unsigned turn, unsigned warps);
};

#if defined(TF_ON_HOST)
DEV void clear_page(bulk_arrival &arrival) { arrival.clear(); }
DEV void copy_page(void *to, const void *from, int bytes, bulk_arrival &arrival) { bulk_copy(to, from, bytes, arrival); }
DEV void page_reads::clear(int) { __hip_atomic_store(&word, 0ull, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP); }
DEV void page_reads::arrive(unsigned)
{
    tf_hs_stands_in();
    (void)__hip_atomic_fetch_add(&word, 1ull, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP);
    tf_hs_progressed();
}
DEV void page_reads::wait(unsigned turn, unsigned warps)
{
    tf_hs_stands_in();
    while (__hip_atomic_load(&word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) < (turn + 1ull) * warps) tf_hs_yield();
}
#else
DEV void clear_page(bulk_arrival &arrival) { barrier_init(shared_at(&arrival), 1); }
DEV void copy_page(void *to, const void *from, int bytes, bulk_arrival &arrival)
{
    constexpr unsigned long long evict_first = 0x12f0000000000000; // what createpolicy.fractional.L2::evict_first makes for all bytes
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
                     shared_at(to)),
                 "l"(from), "r"(bytes), "r"(shared_at(&arrival)), "l"(evict_first)
                 : "memory");
}
DEV void page_reads::clear(int warps) { barrier_init(shared_at(this), warps); }
DEV void page_reads::arrive(unsigned offset)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(this) + offset) : "memory");
}
DEV void page_reads::wait(unsigned turn, unsigned) { barrier_wait(shared_at(this), turn % 2); }
#endif

constexpr int page_bytes = 16384; // with pages of 8 KB, loads reach 0.8 of this size's rate (H200)

// The shared memory of a ring that Warps warps read.
template <int Pages, int Warps> struct alignas(128) page_memory {
    static constexpr int pages = Pages, warps = Warps;
    struct alignas(128) page {
        char bytes[page_bytes];
    };
    bulk_arrival filled[Pages];
    page_reads read[Pages];
    // Of a launch that counts its workgroups (frame_list.h): `decided`: the readers know the workgroup's seat. `stopped`: the writer has
    // stopped, after it had written `fed` pages.
    page_reads decided, stopped;
    unsigned fed;
    unsigned calm; // not 0: readers wait for other workgroups, so the writer keeps fewer pages in flight
    page data[Pages];

    // set_calm() is called by one reading thread.
#if defined(TF_ON_HOST)
    DEV void set_calm(bool x) { __hip_atomic_store(&calm, x ? 1u : 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP); }
    DEV bool is_calm() { return __hip_atomic_load(&calm, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP); }
#else
    DEV void set_calm(bool x) { *static_cast<volatile unsigned *>(&calm) = x; }
    DEV bool is_calm() { return *static_cast<volatile unsigned *>(&calm); }
#endif
    // Called by one thread, before a barrier of the whole workgroup. Addresses are constants: the instruction that initialises an mbarrier
    // takes its address from a uniform register, so lanes with different addresses would take turns, 80 cycles each.
    DEV void clear()
    {
        decided.clear(Warps), stopped.clear(1), set_calm(false);
#pragma unroll
        for (int i = 0; i < Pages; i++) read[i].clear(Warps);
#pragma unroll
        for (int i = 1; i < Pages; i++) clear_page(filled[i]);
        filled[0].clear(); // its fence also covers what was cleared before
    }
};

// The writing warp. All of its lanes call put(); the first one copies.
template <class Memory, int InFlight> struct page_writer {
    static constexpr unsigned pages = Memory::pages, warps = Memory::warps;
    Memory &memory;
    unsigned written = 0;
    static constexpr unsigned calm_pages = InFlight > 2 ? 2 : InFlight;
    static_assert(InFlight >= 1 && InFlight <= Memory::pages, "ring: at most all pages are in flight");

    DEV void put(const void *from, int bytes)
    {
        if (thread_index() % 32 == 0) copy(from, bytes);
        written++;
    }
    DEV void copy(const void *from, int bytes)
    {
        const unsigned page = written % pages, turn = written / pages;
        if (turn) memory.read[page].wait(turn - 1, warps);
        const unsigned most = memory.is_calm() ? calm_pages : InFlight;
        if (written >= most) memory.filled[(written - most) % pages].wait((written - most) / pages % 2);
        memory.filled[page].announce(bytes);
        copy_page(memory.data[page].bytes, from, bytes, memory.filled[page]);
    }
};

// Returns 0, but as blockIdx.z: compilers do not know that it is 0 in every launch.
#if defined(TF_ON_HOST)
DEV unsigned hidden_zero() { return 0; }
#else
DEV unsigned hidden_zero()
{
    unsigned z;
    asm("mov.u32 %0, %%ctaid.z;" : "=r"(z));
    return z;
}
#endif

// A reading warp: it reads every page, in order.
template <class Memory> struct page_reader {
    Memory &memory;
    int page = 0;
    unsigned parity = 0, zero = hidden_zero();

    // Waits for the next page and returns its index. It may be kept while later pages are taken, if the ring is large enough.
    DEV unsigned take()
    {
        memory.filled[page].wait(parity);
        const unsigned taken = page;
        if (++page == Memory::pages) page = 0, parity ^= 1;
        return taken;
    }
    DEV const char *bytes(unsigned taken) const { return memory.data[taken].bytes; }
    // Called after all lanes' last reads of the page. `read` has bits of every load from the page, so that the arrival depends on these
    // loads. Otherwise ptxas lets the mbarrier's arrive overtake loads from shared memory, which may queue behind loads of rows until the
    // page is refilled.
    DEV void give_back(unsigned taken, unsigned read) { give_back(taken, read, thread_index() % 32); }
    DEV void give_back(unsigned taken, unsigned read, unsigned lane)
    {
        __syncwarp();
        if (lane == 0) memory.read[taken].arrive(read & zero);
    }
};
