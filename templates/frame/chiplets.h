// In: indices of workgroups. Out: the tile each workgroup takes on a GPU of several chiplets. The hardware deals workgroups out to chiplets
// (XCDs) in turn, and each has an L2 of its own: this remap (a bijection for any count) gives neighbouring tiles, which share data, to one
// chiplet.
#pragma once
#include "templates/base/device.h"

// The tile that workgroup `in` of a row of `count` workgroups takes. `first` workgroups come before the row. Each chiplet gets a run of
// consecutive tiles; the lengths of the runs differ by at most one.
template <int Chiplets> DEV int chiplet_place(int first, int in, int count)
{
    if constexpr (Chiplets == 1)
        return in;
    else {
        const int shift = first % Chiplets, chiplet = (shift + in) % Chiplets, more = count % Chiplets;
        // The `more` chiplets from `shift` on, cyclically, have one tile more.
        int longer = chiplet < shift ? 0 : chiplet - shift < more ? chiplet - shift : more;
        const int wrapped = shift + more - Chiplets;
        if (wrapped > 0) longer += chiplet < wrapped ? chiplet : wrapped;
        return chiplet * (count / Chiplets) + longer + in / Chiplets;
    }
}

// Deals `count` tiles out in rounds: in each round every chiplet takes Chunk consecutive tiles, as many as it runs at a time. So the tiles
// that run at the same time, on all chiplets together, are consecutive, as without the remap. Chiplets = 1: tile = index.
template <int Chiplets, int Chunk> DEV int chiplet_tile(int index, int count)
{
    constexpr int all = Chiplets * Chunk;
    const int first = index / all * all, left = count - first;
    return Chiplets == 1 ? index : first + chiplet_place<Chiplets>(0, index - first, left < all ? left : all);
}
