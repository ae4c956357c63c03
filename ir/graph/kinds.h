/* Families, layers, frames and levels: ir/kinds.def and ir/frame.def as enums and as names. */
#ifndef TFGEN_IR_KINDS_H
#define TFGEN_IR_KINDS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum phase_family {
#define FAMILY(name, help) family_##name,
#include "ir/kinds.def"
    family_count
} phase_family;

typedef enum layer_kind {
#define LAYER(name, units, help) layer_##name,
#include "ir/kinds.def"
    layer_count
} layer_kind;

typedef enum frame_kind {
#define FRAME(name, dynamic, list, early, fills, memory, entry, help) frame_##name,
#include "ir/frame.def"
    frame_count
} frame_kind;

typedef struct frame_info {
    const char *name, *help;
    const char *memory, *entry; /* C++, with $K, $T, $S and $P */
    bool dynamic;
    enum { list_never, list_of_any, list_without_loader, list_with_loader } list;
    bool early, fills;
} frame_info;
extern const frame_info frame_table[frame_count];

typedef enum fusion_level {
#define LEVEL(name, there, help) fusion_##name,
#include "ir/kinds.def"
    level_count
} fusion_level;

typedef enum tile_source {
#define SOURCE(name, help) tile_of_##name,
#include "ir/kinds.def"
    source_total
} tile_source;

/* Names, indexed by the enums above; count may be NULL. */
const char *const *family_names(size_t *count);
const char *const *layer_names(size_t *count);
const char *const *frame_names(size_t *count);
const char *const *level_names(size_t *count);
const char *const *source_names(size_t *count);
bool layer_is_on_units(layer_kind layer); /* uses tensor-core / MFMA instructions */
extern const char *const fusion_levels;   /* those that fuse() implements: "none,ops,tile,block" */
/* False: there is no such level. Also finds level auto, which fuse() does not implement. */
bool level_find(const char *name, fusion_level *level);
#endif
