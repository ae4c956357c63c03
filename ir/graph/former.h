/* In: ir/former.def. Out: current names for those of older tfgen versions. A name that was never renamed maps to itself. */
#ifndef TFGEN_FORMER_H
#define TFGEN_FORMER_H
#include "ir/graph/tile.h"

typedef struct former_name {
    const char *former, *today;
} former_name;

/* Each ends in {NULL, NULL}. */
extern const former_name former_families[], former_layers[], former_frames[];
/* Former names of layers, for text that says `family`: if that is a former family, its own list, else former_layers. */
const former_name *former_layers_of(arena *a, const char *family);
const char *name_today(const former_name *list, const char *name); /* list NULL: nothing was renamed */
/* Current name of a field of the program's tile. */
const char *field_today(program_kind program, const char *name);
bool was_frame_of(program_kind program, frame_kind frame); /* an older tfgen used this frame for the program */
/* "team is called threads_per_row now"; NULL if both are equal. */
const char *former_hint(arena *a, const char *given, const char *today);
#endif
