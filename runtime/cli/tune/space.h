/* In: a phase of a plan. Out: the tiles that it may have, near a given one: every program of its family that nothing is in the way of, each
 * field in the steps of its range (ir/tile.def), whatever the program calls legal. Knows no program and no field by name. Refuses
 * nothing. */
#ifndef TFGEN_TUNE_SPACE_H
#define TFGEN_TUNE_SPACE_H
#include "gen/gen.h"

typedef struct space {
    arena *a;
    const plan *plan;
    const ir_phase *phase;
    ir_tile *known; /* proposed, or not to be */
    int known_count, known_room;
} space;

space *space_of(arena *a, const plan *p, const ir_phase *phase);
void space_forget(space *s, const ir_tile *t); /* it is not proposed any more */
/* Legal tiles that are not known yet, at most `most`, the nearest first: other programs' defaults, then tiles of which one field is a step
 * away, then two, then three. They are known then. */
int space_near(space *s, const ir_tile *of, int most, ir_tile *out);
/* A user's line that asks for it (--tile). */
const char *space_line(arena *a, const char *signature, const ir_tile *t);
const char *space_text(arena *a, const ir_tile *t); /* layer and fields of it */
#endif
