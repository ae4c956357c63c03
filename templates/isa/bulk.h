// Bulk copies from global to shared memory (cp.async.bulk, sm_90a), and the reusable mbarrier that counts their bytes. A copy takes a
// multiple of 16 contiguous bytes, runs beside the threads and uses no registers. On the host engine a copy lands only when a thread waits
// for it, and until then its destination is NaN. So results are wrong if a wait is missing or the destination is still being read.
#pragma once
#include "templates/isa/arrivals.h"

// One bulk_arrival is used again and again: its n-th arrival, with parity n % 2, has happened when all bytes of the n-th announce() have
// come. Any thread may call announce().
struct alignas(8) bulk_arrival {
    unsigned long long word; // on the host: the address of the last copy in flight times 2, plus the parity of the next arrival

    DEV void clear();                // called first, by one thread
    DEV void announce(int bytes);    // bytes: the sum over all copies of the next arrival
    DEV void wait(unsigned parity);
};
DEV void bulk_copy(void *to, const void *from, int bytes, bulk_arrival &arrival);

#if defined(TF_ON_HOST)

struct bulk_in_flight {
    const void *from;
    unsigned long long before; // address of another copy for the same arrival; 0: none
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
    const bulk_in_flight copy = {from, x >> 1, bytes};
    static_assert(sizeof copy <= 32, "the record fits in the shortest copy, 32 bytes");
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
            bulk_in_flight copy;
            __builtin_memcpy(&copy, reinterpret_cast<const void *>(place), sizeof copy);
            __builtin_memcpy(reinterpret_cast<void *>(place), copy.from, copy.bytes);
            place = copy.before;
        }
        bulk_write(*this, (x & 1) ^ 1);
        tf_hs_progressed();
    }
}

#else

DEV void bulk_arrival::clear()
{
    barrier_init(shared_at(this), 1);
    barrier_init_done();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
DEV void bulk_arrival::announce(int bytes) { barrier_expect(shared_at(this), bytes); }
DEV void bulk_arrival::wait(unsigned parity) { barrier_wait(shared_at(this), parity); }
DEV void bulk_copy(void *to, const void *from, int bytes, bulk_arrival &arrival)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_at(to)),
                 "l"(from), "r"(bytes), "r"(shared_at(&arrival))
                 : "memory");
}
#endif
