/* Registers that a rows phase needs, for the choice of its tile (gen/program/rows.c). */
#ifndef TFGEN_GEN_PROGRAM_ROWS_H
#define TFGEN_GEN_PROGRAM_ROWS_H
#include "gen/program/program.h"

/* What a thread keeps of a row, in vectors, independent of the tile. */
typedef struct row_need {
    int packed, kept; /* per chunk, from its loads on: vectors with two elements per register, and with one */
    int alive;        /* the most further vectors alive while a chunk is computed */
    int steps;        /* reductions, each a vector */
} row_need;

row_need row_need_of(const problem *p);
/* Estimate of the registers per lane that compilers allocate for the tile. */
int row_registers(const problem *p, const row_need *need, const rows_tile *t);
#endif
