/* In: a phase and an illegal tile that the plan's text or a user requested. Bails (code_unsupported) with the line that requested it, the
 * rule that it breaks, and the nearest legal tile. */
#ifndef TFGEN_GEN_REFUSE_H
#define TFGEN_GEN_REFUSE_H
#include "gen/plan/tile.h"

/* phase: the copy that is being planned; its tile breaks `rule`. */
_Noreturn void tile_refuse(const problem *p, const preferences *w, const ir_phase *phase, const char *rule);
/* Bails: a requested layer breaks `rule`. at: its line in the plan's text; {0}: a user's override requested it. */
_Noreturn void layer_refuse(const problem *p, position at, const char *rule);
#endif
