// In: one spec struct S as for gemm_ring.h, whose rows have 16 bits and whose weight has another dtype. Out: the same program; weights
// reach shared memory in their own dtype and become bf16 terms in registers (isa/memory_terms.h).
#pragma once
#include "templates/gemm/gemm_register_fed_terms.h"
#include "templates/gemm/gemm_ring.h"

template <class S> struct gemm_ring_terms : gemm_ring<rows_beside<S>> {};
