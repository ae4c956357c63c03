/* In: the program of a plan before tiles are chosen. Out: the same, with the first operand of each product on wgmma where tensor loads can
 * reach it: in rows that are multiples of 16 bytes apart, from the start or by a copy. Refuses what gen/plan/tile.h refuses. */
#ifndef TFGEN_GEN_ALIGN_H
#define TFGEN_GEN_ALIGN_H
#include "gen/plan/wishes.h"
#include "ir/program/build.h"

/* b->p: a program with kernels, which may be changed. */
void align_operands(builder *b, const device_model *device, wishes *w, const tuning *t);
#endif
