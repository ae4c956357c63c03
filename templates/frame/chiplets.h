// In: indices of workgroups. Out: the tile that each workgroup takes on a GPU of several chiplets (XCDs). The hardware deals workgroups out
// to chiplets in turn, and each chiplet has an L2 of its own. This remap gives neighbouring tiles, which share data, to one chiplet. It is
// a bijection for any number of tiles.
#pragma once
#include "templates/base/device.h"

// Deals a row of `count` tiles out so that each chiplet gets a run of consecutive tiles; the lengths of the runs differ by at most one.
// Returns the tile that workgroup `in` of the row takes. `first`: workgroups before the row.
template <int Chiplets> DEV int chiplet_place(int first, int in, int count)
{
    if constexpr (Chiplets == 1)
        return in;
    else {
        const int shift = first % Chiplets, chiplet = (shift + in) % Chiplets, more = count % Chiplets;
        // `more` chiplets, from `shift` on and then from 0 on, have one tile more
        int longer = chiplet < shift ? 0 : chiplet - shift < more ? chiplet - shift : more;
        const int wrapped = shift + more - Chiplets;
        if (wrapped > 0) longer += chiplet < wrapped ? chiplet : wrapped;
        return chiplet * (count / Chiplets) + longer + in / Chiplets;
    }
}

// Deals `count` tiles out in rounds: in each round every chiplet takes Chunk consecutive tiles, as many as it runs at a time. So the tiles
// that run at the same time on all chiplets are consecutive, as they are without the remap. Returns the tile of workgroup `index`.
template <int Chiplets, int Chunk> DEV int chiplet_tile(int index, int count)
{
    constexpr int all = Chiplets * Chunk;
    const int first = index / all * all, left = count - first;
    return Chiplets == 1 ? index : first + chiplet_place<Chiplets>(0, index - first, left < all ? left : all);
}
