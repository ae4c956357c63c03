/* In: measured seconds. Out: their median and spread, and a time as readable text. */
#ifndef TFGEN_CLI_SPREAD_H
#define TFGEN_CLI_SPREAD_H
#include "ir/base/arena.h"

/* Seconds. low and high: the 10th and 90th percentile, interpolated linearly between samples. */
typedef struct spread { double median, low, high; } spread;

/* Sorts the samples in place; count must be at least 1. */
spread spread_of(double *samples, int count);

/* "12 us", "1.25 ms", "2.50 s"; fine: "12.34 us", "1.250 ms", "2.500 s". */
const char *spread_time_text(arena *a, double seconds, bool fine);
#endif
