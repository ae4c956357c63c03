/* In: a phase of a plan, and some fields of a tile that somebody asks for. Out: the nearest tile that the phase can have: of all programs
 * of its family that have those fields, first by the fields that are asked for, then by how little the others differ from what the program
 * has by default. Without such a tile it says so. */
#ifndef TFGEN_GEN_NEAREST_H
#define TFGEN_GEN_NEAREST_H
#include "gen/plan/overrides.h"
#include "gen/program/problem.h"

typedef struct nearest {
    bool known;        /* some program of the family has such fields */
    bool found, exact; /* exact: it has all that was asked for */
    ir_tile tile;
    const char *why; /* it is not exact, or there is none: what is wrong with what was asked for, as one program says it */
} nearest;

nearest nearest_tile(arena *a, const plan *p, const ir_phase *phase, const tile_override *asked);
/* The same while the plan is made. own: the program that is taken where others are as near. */
nearest nearest_of_problem(const problem *p, program_kind own, const tile_override *asked);
#endif
