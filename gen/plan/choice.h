/* Chooses the program that computes a phase: the one that a user's override names, else the plan's text, else wisdom, else the one with the
 * least predicted time. Also lists the alternatives: each program of the family with its rewrites and its time or obstacle. Refuses
 * (code_unsupported) phases that no program can compute, and requested layers that cannot compute the phase, with the reason. */
#ifndef TFGEN_GEN_CHOICE_H
#define TFGEN_GEN_CHOICE_H
#include "gen/plan/tile.h"

/* Changes to the IR that a program requires before it can compute a phase: gen/plan/split.h, sums.h, align.h, terms.h. */
typedef enum rewrite {
    rewrite_split_keys = 1,  /* split-KV: the attention stores partials, which a second kernel combines */
    rewrite_row_sums = 2,    /* a product accumulates sums of squares of A's rows while it loads them */
    rewrite_aligned_rows = 4, /* rows of operands begin at multiples of 16 bytes */
    rewrite_terms = 8,        /* one operand of a matmul is stored as two TF32 numbers per element */
    rewrite_rows_of_a = 16,   /* A of a matmul that is stored as [K, M] is copied as [M, K] */
    rewrite_row_terms = 32    /* rows of a linear are stored as two or three bf16 numbers per element */
} rewrite;

typedef struct alternative {
    const program *of;
    unsigned rewrites; /* those it requires, a set of the above */
    /* obstacle: why it cannot compute the phase; NULL: it can. worse: why every program without such a reason is preferred, whatever the
     * times; NULL: no reason */
    const char *obstacle, *worse;
    double seconds; /* predicted with its default tile for the phase before rewrites, plus the copies of operands that they add. 0: not
                     * computed, as it has an obstacle or no competitor. Infinite: its default tile is illegal */
    double usual; /* the same by program.usual_seconds; 0: as that */
    const char *no_tile; /* why its default tile is illegal */
} alternative;

typedef struct choice {
    problem original; /* the problem before the rewrites */
    int op_count;     /* ops in the phase at that time */
    const program *of;       /* the chosen program */
    unsigned rewrites;       /* those that it requires */
    const alternative *list; /* judged before the rewrites; empty if the program was requested */
    int count;
    const ir_tile *tuned; /* the tile from wisdom; NULL: none */
} choice;

/* Chooses before the rewrites, for the phase as fusion made it. */
choice *choice_make(const problem *p, const preferences *w);
/* Predicted seconds of the phase with the program that the user or the plan's text names, else with its best program. INFINITY: no program
 * can compute it with the launch's number of threads. */
double choice_seconds(const problem *p, const preferences *w);
program_kind choice_kind(const problem *p, const preferences *w); /* the program that choice_seconds() takes; 0: there is none */
/* Chooses again after the rewrites, because they may change the signature by which overrides and wisdom find the phase. Updates c->of and
 * c->tuned, and fills phase->refused (why the other programs were not chosen). */
void choice_revise(choice *c, const problem *p, const preferences *w, ir_phase *phase);
/* True if no rewrite changed the phase, so that c->original still describes it. */
bool choice_still_holds(const choice *c, const ir_phase *phase);
/* The best program; NULL: there is none. tried: the programs to skip, by kind; with it, programs that require a rewrite are skipped as
 * well. tried NULL: none is skipped. */
const program *choice_next(const problem *p, const bool tried[program_count]);
/* The best of at most program_count alternatives, in whatever order they stand, if no two take the same time; NULL: each has an obstacle or
 * was tried. guesses: times_are_guesses(). tried: as for choice_next(). */
const alternative *choice_best(const alternative *list, int count, bool guesses, const bool *tried);
#endif
