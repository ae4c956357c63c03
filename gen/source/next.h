/* In: the launches of a plan. Out: members of its last phase's spec struct, by which it prefetches into L2 the weights that the next
 * launch with weights reads first. DRAM is otherwise idle from its own last loads until that launch begins (docs/overlap.md). */
#ifndef TFGEN_GEN_NEXT_H
#define TFGEN_GEN_NEXT_H
#include "gen/emit/emit.h"

typedef struct next_weights next_weights;

/* Bytes that a launch prefetches for the one that follows it. */
enum { next_usual_bytes = 4 << 20 };

/* Where a call of a plan begins in its packed weights: `bytes` of each of `count` runs, `step` bytes apart. pack -1: not with weights. */
typedef struct first_weights {
    int pack, count;
    long long step, bytes;
} first_weights;
/* At most `most` bytes together; none if that is less than the smallest part of each run. */
first_weights next_first(const plan *p, long long most);

/* What each launch of the plan prefetches, by index of the launch; no byte is prefetched twice. */
next_weights *next_find(arena *a, const plan *p);
void emit_next(emission *e, writer *w, const next_weights *all, int launch);
#endif
