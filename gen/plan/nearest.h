/* In: a phase of a plan and values for some fields of its tile. Out: the nearest legal tile among all programs of the family that have
 * these fields: ranked by the distance of the requested fields, then by how little the others differ from the program's defaults. */
#ifndef TFGEN_GEN_NEAREST_H
#define TFGEN_GEN_NEAREST_H
#include "gen/plan/overrides.h"
#include "gen/program/problem.h"

typedef struct nearest {
    bool known;        /* a program of the family, on the requested layer if any, has the requested fields */
    bool found, exact; /* exact: every requested value is met */
    ir_tile tile;
    const char *why; /* unless exact: the rule that the requested values break; a rule of program `own` if it has the fields */
} nearest;

nearest nearest_tile(arena *a, const plan *p, const ir_phase *phase, const tile_override *asked);
/* The same during planning. own: the program that wins ties. */
nearest nearest_of_problem(const problem *p, program_kind own, const tile_override *asked);
#endif
