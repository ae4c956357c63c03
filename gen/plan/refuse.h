/* Refuses (code_unsupported) an illegal tile or layer that the plan's text or a user requested. The message has the line that requested it
 * and the rule that it breaks, and for a tile the nearest legal one. */
#ifndef TFGEN_GEN_REFUSE_H
#define TFGEN_GEN_REFUSE_H
#include "gen/plan/tile.h"

/* Bails: the tile of `phase`, the planner's copy of the problem's phase, breaks `rule`. */
_Noreturn void tile_refuse(const problem *p, const preferences *w, const ir_phase *phase, const char *rule);
/* Bails: the requested layer cannot be used, because of `rule`. at: its line in the plan's text; {0}: a user's override requested it. */
_Noreturn void layer_refuse(const problem *p, position at, const char *rule);
#endif
