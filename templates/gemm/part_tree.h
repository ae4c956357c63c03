// In: Parts, the slices into which a tile's K is split. Out: the reduction tree: which slices each slice adds to its own sums, in a fixed
// order. Up to 8 slices: the last one adds all others. More slices form groups of about sqrt(Parts): the last slice of a group adds its
// group, and then the last slice of all adds the other groups, so no slice waits for a long chain of additions. A slice waits only for
// slices with lower numbers.
#pragma once
#include "templates/base/sums.h"

template <int Parts> struct part_tree {
    static constexpr int group = Parts <= 8 ? Parts : static_cast<int>(root_up(Parts, 2));

    DEV static bool is_last(int part) { return part + 1 == Parts; }
    DEV static int in_group(int part) // how many slices of its own group a slice adds
    {
        return part % group + 1 == group || is_last(part) ? part % group : 0;
    }
    DEV static int taken(int part) { return in_group(part) + (is_last(part) ? part / group : 0); } // how many slices it adds in all
    DEV static int giver(int part, int i) // the i-th slice that it adds
    {
        const int own = in_group(part);
        return i < own ? part - own + i : (i - own + 1) * group - 1;
    }
};
