/* Costs of products of 16-bit operands that depend on where rows begin. */
#ifndef TFGEN_GEN_BEGINNINGS_H
#define TFGEN_GEN_BEGINNINGS_H
#include "gen/program/products.h"

/* How often the byte of a loaded row counts, by where rows begin: at L2 lines, at sectors, elsewhere. */
typedef struct beginnings {
    double lines, sectors, elsewhere;
} beginnings;

/* Cycles per result in addition, if the rows of the result begin at multiples of 8 bytes, 4 or 2, not at 16. Of epilogues that only round,
 * those of 8 and 4 bytes were fitted together. */
typedef struct unaligned {
    double pairs, words, halves;
} unaligned;

double count_of_byte(const beginnings *of, bool lines, bool sectors);
double count_of_columns(const problem *p, const beginnings *of); /* for B */
double cycles_of_unaligned(const problem *p, unaligned cycles);
#endif
