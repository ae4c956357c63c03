/* In: plans. Out: what several commands say of them alike, and launches by what they are called. */
#ifndef TFGEN_CLI_PLAN_WORDS_H
#define TFGEN_CLI_PLAN_WORDS_H
#include "gen/gen.h"

const char *dims_text(arena *a, const dim_table *dims, const char *between); /* "B=1,S=37" */
const char *tile_text(arena *a, const ir_tile *t);                           /* "m=128 n=64"; its layer is not in it */
const launch *launch_named(const plan *p, const char *name);                 /* NULL: there is none */
/* The first phase of a plan with that signature, and its launch's index. NULL, -1: there is none. */
const launch_phase *phase_of_signature(arena *a, const plan *p, const char *signature, int *launch);
#endif
