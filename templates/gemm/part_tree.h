// In: how many slices a tile's K is split into. Out: the reduction tree: which slice adds up which others, in a fixed order. With up to 8
// slices, the last one adds up all. More slices are cut into groups, about as many as slices per group: the last slice of a group adds up
// its group, and the last slice of all then adds the sums of the other groups. So no slice waits for long chains of additions. A slice
// waits only for slices with lower numbers.
#pragma once
#include "templates/base/sums.h"

template <int Parts> struct part_tree {
    static constexpr int group = Parts <= 8 ? Parts : static_cast<int>(root_up(Parts, 2));

    DEV static bool is_last(int part) { return part + 1 == Parts; }
    DEV static int in_group(int part) // how many slices of its own group a slice adds to itself
    {
        return part % group + 1 == group || is_last(part) ? part % group : 0;
    }
    DEV static int taken(int part) { return in_group(part) + (is_last(part) ? part / group : 0); } // how many in all
    DEV static int giver(int part, int i) // the i-th slice that it adds
    {
        const int own = in_group(part);
        return i < own ? part - own + i : (i - own + 1) * group - 1;
    }
};
