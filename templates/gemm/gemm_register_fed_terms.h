// In: one spec struct S as for gemm_register_fed.h, but with rows of 16 bits and a weight of another dtype. Out: the same program; weights
// go from memory to registers in their own dtype, and become bf16 terms there. Sources have isa/mma_terms.h or isa/wave_terms.h in place of
// isa/mma_pieces.h or isa/wave_pieces.h.
#pragma once
#include "templates/gemm/gemm_register_fed.h"
#include "templates/isa/term_pairs.h"

template <class A, class B> inline constexpr bool one_type<beside<A, B>, B> = true; // both are multiplied as bf16

// S with beside<A, B> for the type of A (isa/term_pairs.h).
template <class S> struct rows_beside : S {
    using a_type = beside<typename S::a_type, typename S::b_type>;
    DEV static const a_type *a_row(const typename S::args &p, int batch, int row)
    {
        return reinterpret_cast<const a_type *>(S::a_row(p, batch, row));
    }
};

template <class S> struct gemm_register_fed_terms : gemm_register_fed<rows_beside<S>> {};
