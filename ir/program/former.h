/* In: ir/former.def. Out: today's names of what an older tfgen called otherwise. A name that is no former one is its own. */
#ifndef TFGEN_FORMER_H
#define TFGEN_FORMER_H
#include "ir/program/tile.h"

typedef struct former_name {
    const char *former, *today;
} former_name;

/* Each ends in {NULL, NULL}. */
extern const former_name former_families[], former_layers[], former_frames[];
/* Of layers, behind the name of a family that the reader met: a former family's own, else former_layers. */
const former_name *former_layers_of(arena *a, const char *family);
const char *name_today(const former_name *list, const char *name); /* list NULL: nothing was renamed */
/* Of a field of the program's tile. */
const char *field_today(program_kind program, const char *name);
bool was_frame_of(program_kind program, frame_kind frame); /* in text of an older tfgen */
/* "team is called threads_per_row now"; NULL: the two are the same. */
const char *former_hint(arena *a, const char *given, const char *today);
#endif
