/* What the phases of a launch read and write, op by op, and sets of phases, for the proofs of waits and words (order.h, words.h). */
#ifndef TFGEN_GEN_ACCESSES_H
#define TFGEN_GEN_ACCESSES_H
#include "gen/gen.h"
#include "gen/plan/block.h"

typedef struct access {
    int phase; /* its index in the launch */
    const ir_op *op;
    const ir_value *value;
    bool writes;
} access;
typedef struct access_list {
    access *list;
    int count, capacity;
} access_list;

/* In the order of the phases and of their ops, an op's reads before its writes. Views access nothing. */
access_list accesses_of(arena *a, const launch *l);
/* The first phase that writes memory of this root value; -1: none. */
int first_writer(const access_list *x, const ir_value *root);

/* A set of phases; in proofs about a stack, of those of two layers. */
typedef struct phase_set {
    unsigned long long bits[(2 * most_block_phases + 63) / 64];
} phase_set;
static inline bool set_has(const phase_set *s, int i) { return s->bits[i / 64] >> i % 64 & 1; }
static inline void set_add(phase_set *s, int i) { s->bits[i / 64] |= 1ull << i % 64; }
static inline void set_join(phase_set *s, const phase_set *more)
{
    for (size_t i = 0; i < sizeof s->bits / sizeof *s->bits; i++) s->bits[i] |= more->bits[i];
}
#endif
