/* In: a phase and the tile that somebody asked for. Out: nothing: it bails (code_unsupported) with where that stands, why it is illegal,
 * and the nearest tile that is legal. */
#ifndef TFGEN_GEN_REFUSE_H
#define TFGEN_GEN_REFUSE_H
#include "gen/plan/tile.h"

/* phase: the copy that is being planned, whose tile is refused for `rule`. */
_Noreturn void tile_refuse(const problem *p, const preferences *w, const ir_phase *phase, const char *rule);
/* A layer is refused that the plan's text (at: its line) or a user asks for. */
_Noreturn void layer_refuse(const problem *p, position at, const char *rule);
#endif
