/* In: a phase with a legal tile, and the tiles that compilers had too few registers for (phase->spilled). Out: the next tile, of which a thread
 * has fewer results. Refuses nothing: says when a layer has no such tile. */
#ifndef TFGEN_GEN_SPILLED_H
#define TFGEN_GEN_SPILLED_H
#include "gen/tile.h"

bool tile_has_spilled(const ir_phase *phase);
/* The next tile of its layer that has fewer registers a thread, in place of the phase's; false: there is none. */
bool tile_make_smaller(const tile_request *r, ir_phase *phase);
#endif
