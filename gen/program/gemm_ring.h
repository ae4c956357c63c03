/* Size of the ring through which a launch streams its weights (templates/isa/page_ring.h). */
#ifndef TFGEN_GEN_GEMM_RING_H
#define TFGEN_GEN_GEMM_RING_H
#include "ir/ir.h"

int ring_bytes(int pages);                     /* shared memory of a ring of that many pages: sizeof(page_memory) */
int ring_pages(int room);                      /* the most pages whose ring fits `room` bytes */
int ring_pages_in_flight(const ir_tile *tile); /* pages that its bulk copies fill at a time; 0: its program has no ring */
#endif
