// In: a position, how many keys there are. Out: the end of the keys that a window shows there if later keys count, too: as many later ones
// as earlier ones. S: window.
#pragma once
#include "templates/base/spec.h"

template <class S> DEV int window_end(int position, int keys) { return position > keys - S::window ? keys : position + S::window; }
