/* Registers that a rows phase needs, for the choice of its tile (gen/program/rows.c). */
#ifndef TFGEN_GEN_PROGRAM_ROWS_H
#define TFGEN_GEN_PROGRAM_ROWS_H
#include "gen/program/program.h"

/* What a thread keeps for each chunk of a row, its v adjacent columns, whatever the tile: a vector of v elements per value. */
typedef struct row_need {
    int packed, kept; /* vectors kept from the loads on, with two elements per register, and with one */
    int alive;        /* the most further vectors that are alive while a chunk is computed */
    int steps;        /* reductions over the row's columns */
} row_need;

row_need row_need_of(const problem *p);
/* An estimate of the vector registers per lane that compilers allocate for the tile. */
int row_registers(const problem *p, const row_need *need, const rows_tile *t);
#endif
