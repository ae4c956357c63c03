/* In: a phase and the tile that somebody asked for. Out: nothing: it bails (code_unsupported) with where that stands, why it is illegal,
 * and the nearest tile that is legal. */
#ifndef TFGEN_GEN_REFUSE_H
#define TFGEN_GEN_REFUSE_H
#include "gen/program/program.h"

/* phase->tile is refused for `rule`. */
_Noreturn void tile_refuse(const tile_request *r, const ir_phase *phase, const char *rule);
#endif
