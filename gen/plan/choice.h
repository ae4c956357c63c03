/* In: a problem, what is preferred of it. Out: its alternatives (each program of the phase's family, the rewrites that it wants, its time
 * or what is in its way) and the one that the phase gets: by the plan's text, by a user's line, by wisdom, else the one that takes least
 * time. Refuses (code_unsupported) phases that no program can compute, and layers that are asked for in vain, with the reason. */
#ifndef TFGEN_GEN_CHOICE_H
#define TFGEN_GEN_CHOICE_H
#include "gen/plan/tile.h"

/* Changes to the IR by which a program gets the phase that it computes: gen/plan/split.h, sums.h, align.h. */
typedef enum rewrite {
    rewrite_split_keys = 1,  /* attention leaves parts of the keys, which a kernel behind it joins */
    rewrite_row_sums = 2,    /* a product takes sums of squares of its rows while it loads them */
    rewrite_aligned_rows = 4 /* rows of a product's first operand begin at multiples of 16 bytes */
} rewrite;

typedef struct alternative {
    const program *of;
    unsigned rewrites;            /* a set of the above */
    const char *obstacle, *worse; /* NULL: none. worse: it is left to others here, whatever its time, if there are any */
    double seconds;               /* of its default tile, on the phase before the rewrites; where there are several without an obstacle */
} alternative;

typedef struct choice {
    problem asked; /* of the phase before the rewrites */
    int op_count;  /* of it */
    const program *of;
    unsigned rewrites;       /* that it wants */
    const alternative *list; /* of the phase before the rewrites */
    int count;
    const ir_tile *known; /* by wisdom; or NULL */
} choice;

/* For the phase as fusion made it. */
choice *choice_make(const problem *p, const preferences *w);
/* For the phase after the choice's rewrites: lines and wisdom may be for it by the signature that it has now. Fills phase->refused: why it
 * is none of the other programs. */
void choice_settle(choice *c, const problem *p, const preferences *w, ir_phase *phase);
/* What was counted before the rewrites holds for the phase: none of them changed it. */
bool choice_still_holds(const choice *c, const ir_phase *phase);
/* The best program that is not in `tried`, by kind, and wants no rewrite of the phase; NULL: there is none left. */
const program *choice_next(const problem *p, const bool tried[program_count]);
#endif
