/* The ring of weights of a launch (templates/isa/page_ring.h). */
#ifndef TFGEN_GEN_GEMM_RING_H
#define TFGEN_GEN_GEMM_RING_H
#include "ir/ir.h"

int ring_bytes(int pages);                      /* sizeof(page_memory) */
int ring_pages(int room);                       /* the most of them in so many bytes */
int ring_pages_in_flight(const ir_tile *tile);  /* 0: its program has no ring */
#endif
