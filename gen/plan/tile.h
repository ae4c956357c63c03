/* In: a problem, its program, preferences. Out: the tile: the program's defaults, overridden by wisdom, the plan's text, then the user.
 * Refuses (code_unsupported) settings that the phase, the template or the target does not allow, with the reason; unknown settings are
 * bad usage (code_usage). */
#ifndef TFGEN_GEN_TILE_H
#define TFGEN_GEN_TILE_H
#include "gen/program/program.h"

/* What a user and a tuning want for the phases of a plan. Programs do not see it. */
typedef struct preferences {
    struct overrides *overrides; /* the user's lines */
    const tuning *tuning;        /* for its wisdom; or NULL */
} preferences;

/* Why the program cannot compute the phase with any tile; NULL: it can. */
const char *program_obstacle(const problem *p, const program *of);
/* Why the phase cannot have this tile, which has all fields, or its program; NULL: it can. */
const char *tile_illegal(const problem *p, const ir_tile *t);
/* The program's default tile. False: the program has an obstacle, or the default is illegal; *why says which. */
bool tile_default(const problem *p, program_kind kind, ir_tile *t, const char **why);
bool tile_has_spilled(const ir_phase *phase, const ir_tile *t); /* t is among the phase's forbidden tiles */
/* Fills phase->tile of the copy that is being planned. known: the tile from wisdom, or NULL. fallback: the preferred program spilled, so
 * settings of the text and the user do not apply to this one. False: *rule says why the tile is illegal, or, with *rule NULL, the tile and
 * all smaller ones of the program have spilled (phase->spilled). */
bool tile_choose(const problem *p, const preferences *w, const program *of, const ir_tile *known, bool fallback, ir_phase *phase,
                 const char **rule);
#endif
