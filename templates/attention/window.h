// In: a position, the number of keys. Out: the end of the keys that a window shows there if later keys are visible: it reaches as far ahead
// as back. S: window.
#pragma once
#include "templates/base/spec.h"

template <class S> DEV int window_end(int position, int keys) { return position > keys - S::window ? keys : position + S::window; }
