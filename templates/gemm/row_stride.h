// In: one spec struct S of a product. Out: the distance between rows of its operands: S::a_stride elements or, if that is 0 because each
// call gives its own stride, S::a_stride_of(p); b_stride likewise.
#pragma once
#include "templates/base/device.h"

template <class S> DEV long long a_stride_of(const typename S::args &p)
{
    if constexpr (S::a_stride != 0)
        return S::a_stride;
    else
        return S::a_stride_of(p);
}

template <class S> DEV long long b_stride_of(const typename S::args &p)
{
    if constexpr (S::b_stride != 0)
        return S::b_stride;
    else
        return S::b_stride_of(p);
}
