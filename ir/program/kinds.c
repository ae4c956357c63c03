/* In: ir/kinds.def. Out: its names by enum. Refuses nothing. */
#include "ir/program/kinds.h"

static const char *const families[] = {
#define FAMILY(name, help) #name,
#include "ir/kinds.def"
}, *const layers[] = {
#define LAYER(name, help) #name,
#include "ir/kinds.def"
}, *const frames[] = {
#define FRAME(name, dynamic, help) #name,
#include "ir/kinds.def"
}, *const levels[] = {
#define LEVEL(name, help) #name,
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
LIST(family_names, families)
LIST(layer_names, layers)
LIST(frame_names, frames)
LIST(level_names, levels)
LIST(source_names, sources)
#undef LIST
