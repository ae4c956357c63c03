// Which keys a query sees, and which rare features an attention phase has. A feature is detected by a member of the spec struct S
// (docs/spec-structs.md: attention): left padding, ALiBi slopes, a score bias, sinks, heads of values of another size.
#pragma once
#include "templates/base/spec.h"

template <class S, class = void> struct has_first {
    static constexpr bool value = false;
};
template <class S> struct has_first<S, decltype(static_cast<void>(S::firsts))> {
    static constexpr bool value = true;
};
template <class S, class = void> struct has_alibi {
    static constexpr bool value = false;
};
template <class S> struct has_alibi<S, decltype(static_cast<void>(S::alibi))> {
    static constexpr bool value = true;
};
template <class S, class = void> struct has_sinks {
    static constexpr bool value = false;
};
template <class S> struct has_sinks<S, decltype(static_cast<void>(S::sinks))> {
    static constexpr bool value = true;
};

template <class S, class = void> struct has_bias {
    static constexpr bool value = false;
};
template <class S> struct has_bias<S, decltype(static_cast<void>(S::biased))> {
    static constexpr bool value = true;
};

template <class S, class = void> struct has_window_at {
    static constexpr bool value = false;
};
template <class S> struct has_window_at<S, decltype(static_cast<void>(&S::window_at))> {
    static constexpr bool value = true;
};

// Columns per head of values and results: value_dim, which S has only if it differs from head_dim, that of queries and keys.
template <class S, class = void> struct value_head {
    static constexpr int size = S::head_dim;
};
template <class S> struct value_head<S, decltype(static_cast<void>(S::value_dim))> {
    static constexpr int size = S::value_dim;
};

// A query's row of the bias that is added to its scores.
template <class S, bool = has_bias<S>::value> struct row_of_bias {
    DEV void find(const typename S::args &, int, int, int) {}
    template <class X> DEV void add(X &, int) const {}
};
template <class S> struct row_of_bias<S, true> {
    decltype(S::bias(*static_cast<const typename S::args *>(nullptr), 0, 0, 0)) row;
    DEV void find(const typename S::args &p, int batch, int token, int head) { row = S::bias(p, batch, token, head); }
    template <int N> DEV void add(vec<float, N> &score, int key) const { score += ::load<N>(row + key, S::bias_keys - key); }
};

// The first key of a sequence that is not left padding.
template <class S> DEV int first_key(const typename S::args &p, int batch)
{
    if constexpr (has_first<S>::value)
        return S::first(p, batch);
    else
        return 0;
}

// The window of the call's layer. If layers of several kinds share the code (templates/frame/frame_stack.h), S has window_at(p); S::window
// then only says that some layers have a window, and window_at() of the others is so large that it hides no key.
template <class S> DEV int window_of(const typename S::args &p)
{
    if constexpr (has_window_at<S>::value)
        return S::window_at(p);
    else
        return S::window;
}

// Without a causal mask: the end of the keys that a query at a position sees through the window, which reaches as far ahead as back.
template <class S> DEV int window_end(const typename S::args &p, int position, int keys)
{
    const int window = window_of<S>(p);
    return position > keys - window ? keys : position + window;
}

// The first key that a query at a position sees.
template <class S> DEV int visible_start(const typename S::args &p, int batch, int position)
{
    const int first = first_key<S>(p, batch), oldest = S::window ? position - window_of<S>(p) + 1 : 0;
    return oldest > first ? oldest : first;
}

// The factor that normalises an output row if a sink takes a share of the weights. sum: the sum of the keys' weights, which are relative to
// the score `largest` (minus infinity if no key is seen). `largest` and `sink` are in units of log2.
template <class Exp2> DEV float factor_with_sink(float sum, float largest, float sink, Exp2 exp2)
{
    if (largest == take_max::identity()) return 0.0f;
    const float above = sink - largest, raised = above > 0.0f ? above : 0.0f, own = exp2(-raised);
    return own / (sum * own + exp2(above - raised));
}
