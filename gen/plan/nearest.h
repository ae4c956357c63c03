/* Finds the legal tile nearest to values that a user requests for some fields, among all programs of the phase's family that have these
 * fields. The distance of the requested fields counts first, then how little the other fields differ from the program's defaults. */
#ifndef TFGEN_GEN_NEAREST_H
#define TFGEN_GEN_NEAREST_H
#include "gen/plan/overrides.h"
#include "gen/program/problem.h"

typedef struct nearest {
    bool known;        /* a program of the family has the requested fields (and is on the requested layer, if there is one) */
    bool found, exact; /* found: there is a legal tile; exact: it has every requested value */
    ir_tile tile;
    const char *why; /* unless exact: the rule that the requested values break, if possible one of the phase's own program */
} nearest;

nearest nearest_tile(arena *a, const plan *p, const ir_phase *phase, const tile_override *asked);
/* The same while the phase is being planned. own: its program, which wins ties. */
nearest nearest_of_problem(const problem *p, program_kind own, const tile_override *asked);
#endif
