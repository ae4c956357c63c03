/* In: a problem, preferences. Out: the program that computes the phase: a user's override decides, else the plan's text, else wisdom, else
 * the least predicted time; and the alternatives (each program of the family with its rewrites and its time or obstacle). Refuses
 * (code_unsupported) phases that no program can compute and requested layers that cannot compute the phase, with the reason. */
#ifndef TFGEN_GEN_CHOICE_H
#define TFGEN_GEN_CHOICE_H
#include "gen/plan/tile.h"

/* Changes to the IR that a program requires before it can compute a phase: gen/plan/split.h, sums.h, align.h, terms.h. */
typedef enum rewrite {
    rewrite_split_keys = 1,  /* split-KV: the attention stores partials, which a second kernel combines */
    rewrite_row_sums = 2,    /* a product accumulates sums of squares of A's rows while it loads them */
    rewrite_aligned_rows = 4, /* rows of operands begin at multiples of 16 bytes */
    rewrite_terms = 8,        /* B of a matmul is stored as two TF32 numbers per element */
    rewrite_rows_of_a = 16,   /* A of a matmul that is stored as [K, M] is copied as [M, K] */
    rewrite_row_terms = 32    /* rows of a linear are stored as two or three bf16 numbers per element */
} rewrite;

typedef struct alternative {
    const program *of;
    unsigned rewrites;            /* a set of the above */
    const char *obstacle, *worse; /* NULL: none. worse: why any program without such a reason is preferred, whatever the times */
    double seconds; /* with its default tile, before the rewrites, copies of operands included; 0: obstacle, or the only one; infinite: it
                     * has no legal default tile */
    const char *no_tile; /* why not */
} alternative;

typedef struct choice {
    problem original; /* before the rewrites */
    int op_count;     /* of its phase */
    const program *of;       /* the chosen program */
    unsigned rewrites;       /* those that it requires */
    const alternative *list; /* before the rewrites */
    int count;
    const ir_tile *tuned; /* the tile from wisdom; or NULL */
} choice;

/* Chooses before the rewrites, for the phase as fusion made it. */
choice *choice_make(const problem *p, const preferences *w);
/* Predicted seconds of the phase with its best program, or with the one that the user or the text names; INFINITY: no program can compute
 * it, or none with the launch's number of threads. */
double choice_seconds(const problem *p, const preferences *w);
program_kind choice_kind(const problem *p, const preferences *w); /* that program; 0: there is none */
/* Reconsiders after the rewrites, which may change the signature by which overrides and wisdom find the phase: updates c->of and c->tuned,
 * and fills phase->refused (why the other programs were not chosen). */
void choice_revise(choice *c, const problem *p, const preferences *w, ir_phase *phase);
/* True if no rewrite changed the phase, so that c->original still describes it. */
bool choice_still_holds(const choice *c, const ir_phase *phase);
/* The best program. If `tried` is given: among those that need no rewrite and are not in it (by kind). NULL: none is left. */
const program *choice_next(const problem *p, const bool tried[program_count]);
#endif
