// In: one spec struct S of a product. Out: the distance between rows of its operands, in elements: S::a_stride or, if that is 0 because
// each call gives the stride, S::a_stride_of(p); for B likewise.
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
