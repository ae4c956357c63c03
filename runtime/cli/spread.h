/* In: measured seconds. Out: their median and spread, and a time as a person reads it. */
#ifndef TFGEN_CLI_SPREAD_H
#define TFGEN_CLI_SPREAD_H
#include "ir/base/arena.h"

/* Seconds. low: 10 % of the samples took less; high: 90 % did. Between two samples by a straight line. */
typedef struct spread { double median, low, high; } spread;

/* Sorts the samples, of which there is one at least. */
spread spread_of(double *samples, int count);

/* "12 us", "1.25 ms", "2.50 s"; fine: "12.34 us", "1.250 ms", "2.500 s". */
const char *spread_time_text(arena *a, double seconds, bool fine);
#endif
