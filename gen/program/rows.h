/* What planning asks of a rows phase beside its program (gen/program/rows.c). */
#ifndef TFGEN_GEN_PROGRAM_ROWS_H
#define TFGEN_GEN_PROGRAM_ROWS_H
#include "gen/program/program.h"

/* What a thread holds of a row, in vectors, whatever its tile is. */
typedef struct row_need {
    int packed, kept; /* of each chunk from its loads on: of two numbers a register, of one */
    int alive;        /* while a chunk is worked on, beside these: the most at a time */
    int steps;        /* sums or the like, each a vector */
} row_need;

row_need row_need_of(const problem *p);
/* About how many registers of a lane compilers take for the tile. */
int row_registers(const problem *p, const row_need *need, const rows_tile *t);
#endif
