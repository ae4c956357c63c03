/* In: plans. Out: texts about plans that several commands print, and lookup of launches by name or signature. */
#ifndef TFGEN_CLI_PLAN_WORDS_H
#define TFGEN_CLI_PLAN_WORDS_H
#include "gen/gen.h"

const char *dims_text(arena *a, const dim_table *dims, const char *between); /* "B=1,S=37" */
const char *tile_text(arena *a, const ir_tile *t);                           /* "m=128 n=64", without the layer */
const launch *launch_named(const plan *p, const char *name);                 /* NULL: not found */
/* The plan's first phase with that signature, and the index of its launch. Not found: NULL and -1. */
const launch_phase *phase_of_signature(arena *a, const plan *p, const char *signature, int *launch);
#endif
