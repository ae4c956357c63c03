// In: how many parts a tile's K is split into. Out: which part adds up which others, in a fixed order. Up to 8 go to the last one. Of more,
// the last of each group of about their square root adds up its group, and the last of all its own group and then the other groups' sums:
// so few are added one after the other. Who waits has the highest number of those that meet.
#pragma once
#include "templates/base/sums.h"

template <int Parts> struct part_tree {
    static constexpr int group = Parts <= 8 ? Parts : static_cast<int>(root_up(Parts, 2));

    DEV static bool is_last(int part) { return part + 1 == Parts; }
    DEV static int in_group(int part) // how many of its group it adds up
    {
        return part % group + 1 == group || is_last(part) ? part % group : 0;
    }
    DEV static int taken(int part) { return in_group(part) + (is_last(part) ? part / group : 0); } // all that it adds up
    DEV static int giver(int part, int i) // the i-th of them
    {
        const int own = in_group(part);
        return i < own ? part - own + i : (i - own + 1) * group - 1;
    }
};
