/* In: cache lines in the order of their touches. Out: reuse distances: distinct lines between two touches of a line. Pure; fails only if
 * out of memory. */
#ifndef TFGEN_CLI_REUSE_H
#define TFGEN_CLI_REUSE_H
#include "runtime/cli/access/recorder.h"

typedef struct reuse_room {
    size_t *last; /* by line: index of its last touch + 1 */
    int *tree;    /* Fenwick tree over last touches */
} reuse_room;
/* Allocates for lines numbered 0 .. lines-1 and up to `touches` touches per call. False: out of memory. */
bool reuse_open(reuse_room *room, size_t lines, size_t touches);
void reuse_close(reuse_room *room);
/* Adds to *out. Counts only sampled lines (all if out->rate is 1) and divides their distances by the rate. A distance below out->bytes is a
 * hit. */
void reuse_count(reuse_room *room, const unsigned *touches, size_t count, int line_bytes, unsigned long long seed, access_reuse *out);
/* Number of distinct lines touched. */
size_t reuse_distinct(reuse_room *room, const unsigned *touches, size_t count);
#endif
