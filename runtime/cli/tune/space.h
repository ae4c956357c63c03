/* In: a phase of a plan. Out: its legal tiles near a given one, over every supported program of its family and the steps of each field's
 * range (ir/tile.def). Independent of particular programs and fields. */
#ifndef TFGEN_TUNE_SPACE_H
#define TFGEN_TUNE_SPACE_H
#include "gen/gen.h"

typedef struct space {
    arena *a;
    const plan *plan;
    const ir_phase *phase;
    ir_tile *known; /* visited: proposed already, or excluded */
    int known_count, known_room;
} space;

space *space_of(arena *a, const plan *p, const ir_phase *phase);
void space_forget(space *s, const ir_tile *t); /* excludes the tile from proposals */
/* Up to `most` unvisited legal tiles, nearest first: other programs' defaults, then tiles that differ by a step in one field, then in two,
 * then in three. Marks them visited. */
int space_near(space *s, const ir_tile *of, int most, ir_tile *out);
/* The --tile line that selects this tile. */
const char *space_line(arena *a, const char *signature, const ir_tile *t);
const char *space_text(arena *a, const ir_tile *t); /* its layer and fields */
#endif
