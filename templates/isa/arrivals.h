// sm_90a's transaction barriers (mbarriers) in shared memory. A barrier's phase ends when all its arrivals and all expected bytes have
// come; its n-th phase has parity n % 2. For the host engine, isa/wgmma_host.h and isa/bulk.h have their own.
#pragma once
#include "templates/isa/nvidia.h"

#if !defined(TF_ON_HOST)

DEV void barrier_init(shared_address barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

DEV void barrier_init_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

DEV void barrier_expect(shared_address barrier, unsigned bytes) // also arrives
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

DEV void barrier_wait(shared_address barrier, unsigned parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\n"
                 "bra again;\n"
                 "done: }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}
#endif
