/* Makes the tile of a phase whose program is chosen: the program's defaults, or a tile from wisdom, then fields of the plan's text, then
 * the user's. The result is checked as a whole. Settings that the phase, the template or the target does not allow are refused with the
 * reason (code_unsupported); unknown settings are bad usage (code_usage). */
#ifndef TFGEN_GEN_TILE_H
#define TFGEN_GEN_TILE_H
#include "gen/program/program.h"

/* What a user and a tuning want for the phases of a plan. Programs do not see it. */
typedef struct preferences {
    struct overrides *overrides; /* the user's lines */
    const tuning *tuning;        /* has the wisdom; may be NULL */
} preferences;

/* Why the program cannot compute the phase with any tile; NULL: it can. */
const char *program_obstacle(const problem *p, const program *of);
/* Why the phase cannot have this tile or the tile's program; NULL: it can. All fields of the tile are set. */
const char *tile_illegal(const problem *p, const ir_tile *t);
/* The program's default tile. False: the program has an obstacle or its default is illegal; *why has the reason. */
bool tile_default(const problem *p, program_kind kind, ir_tile *t, const char **why);
bool tile_has_spilled(const ir_phase *phase, const ir_tile *t); /* t is among the phase's forbidden tiles */
/* Fills phase->tile, where `phase` is the planner's copy of the problem's phase. known: the tile from wisdom; NULL: none. fallback: the
 * preferred program spilled, so settings of the text and the user, which were meant for it, do not apply. Returns false if the tile is
 * illegal, with the reason in *rule, or if the tile and all smaller ones of the program have spilled (phase->spilled), with *rule NULL. */
bool tile_choose(const problem *p, const preferences *w, const program *of, const ir_tile *known, bool fallback, ir_phase *phase,
                 const char **rule);
#endif
