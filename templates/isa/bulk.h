// In: consecutive bytes of memory, 16 at a time, and shared memory. Out: copies that run beside the threads and take no register (sm_90a),
// and what tells of them: an arrival is of so many announced bytes, again and again. Refuses other targets. On the host engine a copy
// lands when somebody waits for it and not before; until then what it will fill is NaN and tells what is to come, so that numbers are
// wrong where a wait is missing, and where memory is filled that is still read. Needs isa/nvidia.h.
#pragma once

// Of whichever thread announces next; the n-th has parity n % 2.
struct alignas(8) bulk_arrival {
    unsigned long long word; // on the host: of the copies under way the last one's place, doubled, and the parity of the next arrival

    DEV void clear();                // before all else, by one thread
    DEV void announce(int bytes);    // of all copies until the next arrival
    DEV void wait(unsigned parity);
};
DEV void bulk_copy(void *to, const void *from, int bytes, bulk_arrival &arrival);

#if defined(TF_ON_HOST)

struct bulk_under_way {
    const void *from;
    unsigned long long before; // the place of another copy for the same arrival; 0: none
    long long bytes;
};
DEV unsigned long long bulk_read(const bulk_arrival &a)
{
    return __hip_atomic_load(&a.word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
DEV void bulk_write(bulk_arrival &a, unsigned long long x)
{
    __hip_atomic_store(&a.word, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
DEV void bulk_arrival::clear() { bulk_write(*this, 0); }
DEV void bulk_arrival::announce(int) {}
DEV void bulk_copy(void *to, const void *from, int bytes, bulk_arrival &arrival)
{
    const unsigned long long x = bulk_read(arrival);
    const bulk_under_way copy = {from, x >> 1, bytes};
    static_assert(sizeof copy <= 32, "the least copy that is made");
    for (int i = 0; i < bytes / 4; i++) static_cast<unsigned *>(to)[i] = ~0u;
    __builtin_memcpy(to, &copy, sizeof copy);
    bulk_write(arrival, reinterpret_cast<unsigned long long>(to) << 1 | (x & 1));
}
DEV void bulk_arrival::wait(unsigned parity)
{
    for (unsigned long long x; x = bulk_read(*this), (x & 1) == parity;) {
        if (x < 2) {
            tf_hs_yield();
            continue;
        }
        for (unsigned long long place = x >> 1; place;) {
            bulk_under_way copy;
            __builtin_memcpy(&copy, reinterpret_cast<const void *>(place), sizeof copy);
            __builtin_memcpy(reinterpret_cast<void *>(place), copy.from, copy.bytes);
            place = copy.before;
        }
        bulk_write(*this, (x & 1) ^ 1);
    }
}

#else

DEV unsigned bulk_place(const void *shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
DEV void bulk_arrival::clear()
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::"r"(
                     bulk_place(this))
                 : "memory");
}
DEV void bulk_arrival::announce(int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bulk_place(this)), "r"(bytes) : "memory");
}
DEV void bulk_arrival::wait(unsigned parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\n"
                 "bra again;\n"
                 "done: }" ::"r"(bulk_place(this)),
                 "r"(parity)
                 : "memory");
}
DEV void bulk_copy(void *to, const void *from, int bytes, bulk_arrival &arrival)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(bulk_place(to)),
                 "l"(from), "r"(bytes), "r"(bulk_place(&arrival))
                 : "memory");
}
#endif
