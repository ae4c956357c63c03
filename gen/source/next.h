/* Writes the members of a spec struct by which a launch prefetches into L2 what the next launches read first of their packed weights.
 * Otherwise DRAM is idle from a launch's last loads until the next launch begins (docs/overlap.md). */
#ifndef TFGEN_GEN_NEXT_H
#define TFGEN_GEN_NEXT_H
#include "gen/emit/emit.h"

typedef struct next_weights next_weights;

/* Most bytes that a launch prefetches, if the next launch has weights. */
enum { next_usual_bytes = 4 << 20 };

/* What a launch reads first of its packed weights, those of index `pack`: `bytes` of each of `count` runs, which begin `step` bytes apart.
 * pack -1: nothing. */
typedef struct first_weights {
    int pack, count;
    long long step, bytes;
} first_weights;
/* What a call of the plan reads first, limited to `most` bytes. Nothing if its first launch does not begin with weights, or if `most` is
 * less than a piece of each run. */
first_weights next_first(const plan *p, long long most);

/* What each launch of the plan prefetches, by launch. No byte is prefetched twice. */
next_weights *next_find(arena *a, const plan *p);
void emit_next(emission *e, writer *w, const next_weights *all, int launch);
#endif
