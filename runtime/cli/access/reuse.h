/* In: lines in the order in which they are touched. Out: how far apart the touches of a line are, in other lines. Refuses nothing but a
 * shortage of memory. Pure. */
#ifndef TFGEN_CLI_REUSE_H
#define TFGEN_CLI_REUSE_H
#include "runtime/cli/access/recorder.h"

typedef struct reuse_room {
    size_t *last; /* of each line: the place of its last touch, plus one */
    int *tree;    /* sums over last touches */
} reuse_room;
/* For as many lines, numbered from 0, and as many touches at a time. False: no memory. */
bool reuse_open(reuse_room *room, size_t lines, size_t touches);
void reuse_close(reuse_room *room);
/* Adds to *out; distances are those of the lines alone that sampling takes (all when rate is 1), over the rate. What lies less than
 * out->bytes apart hits. */
void reuse_count(reuse_room *room, const unsigned *touches, size_t count, int line_bytes, unsigned long long seed, access_reuse *out);
/* Lines that are touched. */
size_t reuse_distinct(reuse_room *room, const unsigned *touches, size_t count);
#endif
