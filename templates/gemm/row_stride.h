// Distance between rows of a product's operands: S::a_stride elements, or S::a_stride_of(p) where that is 0, because each call gives it;
// b_stride likewise.
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
