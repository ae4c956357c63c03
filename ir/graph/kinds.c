/* In: ir/kinds.def, ir/frame.def. Out: names and properties of families, layers, frames, levels and sources of tiles, by enum. */
#include "ir/graph/kinds.h"
#include <string.h>

static const char *const families[] = {
#define FAMILY(name, help) #name,
#include "ir/kinds.def"
}, *const layers[] = {
#define LAYER(name, units, help) #name,
#include "ir/kinds.def"
}, *const frames[] = {
#define FRAME(name, dynamic, list, early, fills, memory, entry, help) #name,
#include "ir/frame.def"
}, *const levels[] = {
#define LEVEL(name, there, help) #name,
#include "ir/kinds.def"
}, *const sources[] = {
#define SOURCE(name, help) #name,
#include "ir/kinds.def"
};
#define LIST(function, list) \
    const char *const *function(size_t *count) \
    { \
        if (count) *count = sizeof list / sizeof *list; \
        return list; \
    }
const frame_info frame_table[frame_count] = {
#define FRAME(name, dynamic, list, early, fills, memory, entry, help) {#name, help, memory, entry, dynamic, list, early, fills},
#include "ir/frame.def"
};

LIST(family_names, families)
LIST(layer_names, layers)
LIST(frame_names, frames)
LIST(level_names, levels)
LIST(source_names, sources)
#undef LIST

#define THERE_0(name)
#define THERE_1(name) "," #name
const char *const fusion_levels = (
#define LEVEL(name, there, help) THERE_##there(name)
#include "ir/kinds.def"
                                      ) + 1;

bool level_find(const char *name, fusion_level *level)
{
    for (int i = 0; i < level_count; i++)
        if (strcmp(name, levels[i]) == 0) {
            *level = (fusion_level)i;
            return true;
        }
    return false;
}

bool layer_is_on_units(layer_kind layer)
{
    static const bool units[] = {
#define LAYER(name, units, help) units,
#include "ir/kinds.def"
    };
    return units[layer];
}
