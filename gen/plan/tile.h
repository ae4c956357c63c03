/* In: a problem, its program, what is preferred of its tile. Out: the tile: the program's defaults, changed by what wisdom, the plan's text
 * or the user says. Refuses (code_unsupported) settings that the phase, the template or the target cannot have, with the reason; settings
 * that there are not are bad usage. */
#ifndef TFGEN_GEN_TILE_H
#define TFGEN_GEN_TILE_H
#include "gen/program/program.h"

/* What a user and a tuning want of the phases of a plan. Programs do not see it. */
typedef struct preferences {
    struct overrides *overrides; /* the user's lines */
    const tuning *tuning;        /* or NULL: for its wisdom */
} preferences;

/* What keeps the program from the phase, whatever its tile; NULL: nothing. */
const char *program_obstacle(const problem *p, const program *of);
/* Why a tile with all of its fields is none that the phase can have, program and all; NULL: it can. */
const char *tile_illegal(const problem *p, const ir_tile *t);
/* The program's own choice; false: it is illegal, or something is in the program's way: *why. */
bool tile_default(const problem *p, program_kind kind, ir_tile *t, const char **why);
/* Fills phase->tile of the copy that is being planned. known: the tile by wisdom, or NULL. fallback: the preferred program has spilled, so
 * neither text nor user speaks of this one. False: all tiles of the program that come into question have spilled (phase->spilled), or *rule
 * says why phase->tile, which text or user ask for, is illegal. */
bool tile_choose(const problem *p, const preferences *w, const program *of, const ir_tile *known, bool fallback, ir_phase *phase,
                 const char **rule);
#endif
