// In: indices of workgroups. Out: which tile each takes on machines of several chiplets, which have an L2 each and to which workgroups are
// dealt out in turn: neighbours in the order of tiles, which share data, go to one chiplet. One to one whatever the
// counts.
#pragma once
#include "templates/base/device.h"

// Of a row of `count` workgroups, before which `first` others were dealt out: chiplets have equal shares (by at most one) of a row of as
// many tiles, each in succession. Which tile workgroup `in` of the row takes.
template <int Chiplets> DEV int chiplet_place(int first, int in, int count)
{
    if constexpr (Chiplets == 1)
        return in;
    else {
        const int shift = first % Chiplets, chiplet = (shift + in) % Chiplets, more = count % Chiplets;
        // Those with one more are the `more` from `shift` on, round the end.
        int longer = chiplet < shift ? 0 : chiplet - shift < more ? chiplet - shift : more;
        const int wrapped = shift + more - Chiplets;
        if (wrapped > 0) longer += chiplet < wrapped ? chiplet : wrapped;
        return chiplet * (count / Chiplets) + longer + in / Chiplets;
    }
}

// Of `count` tiles each chiplet has Chunk in succession, as many as it has under way, then all of them the next ones. So what all chiplets
// together read at a time stays as compact as without this. Chiplets of 1: as they come.
template <int Chiplets, int Chunk> DEV int chiplet_tile(int index, int count)
{
    constexpr int all = Chiplets * Chunk;
    const int first = index / all * all, left = count - first;
    return Chiplets == 1 ? index : first + chiplet_place<Chiplets>(0, index - first, left < all ? left : all);
}
