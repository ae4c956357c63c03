// In: one spec struct S as for gemm_register_fed.h, whose rows have 16 bits and whose weight has another dtype. Out: the same program; each
// weight goes from memory to registers in its own dtype, and becomes bf16 terms there. The pieces' headers are isa/mma_terms.h.
#pragma once
#include "templates/gemm/gemm_register_fed.h"
#include "templates/isa/term_pairs.h"

template <class A, class B> inline constexpr bool one_type<beside<A, B>, B> = true; // both are multiplied as bf16

template <class S> struct rows_beside : S {
    using a_type = beside<typename S::a_type, typename S::b_type>;
    DEV static const a_type *a_row(const typename S::args &p, int batch, int row)
    {
        return reinterpret_cast<const a_type *>(S::a_row(p, batch, row));
    }
};

template <class S> struct gemm_register_fed_terms : gemm_register_fed<rows_beside<S>> {};
