/* In: a cache and a place in it. Out: where its rows lie, for kernels that append to it or read it and for tensor maps. The layout is said
 * here alone, but for how many rows lie one stride apart (value_run_length()): a row is a head's numbers of one token, rows of a head lie
 * one behind the other, heads of a sequence behind each other. */
#ifndef TFGEN_GEN_EMIT_CACHE_H
#define TFGEN_GEN_EMIT_CACHE_H
#include "gen/emit/emit.h"

typedef struct cache_place {
    const expression *sequence, *head, *token;
} cache_place;

typedef enum cache_walk {
    cache_one_row,   /* each place is reckoned once */
    cache_row_by_row /* tokens change in a loop, sequence and head do not: what depends on those alone is a sum of its own */
} cache_walk;

long long cache_heads(const ir_value *cache); /* KV */
/* Pointer to the first element of a row. */
const expression *cache_row(emission *e, const ir_value *cache, const cache_place *at, cache_walk walk, bool written);
/* Where it is in a tensor map of axes columns, heads, tokens, sequences; also of a value of tokens. */
typedef struct map_place {
    const expression *token, *sequence;
} map_place;
map_place cache_map_place(const cache_place *at);
/* How far apart rows, heads and sequences begin, in bytes, and how many rows and sequences there are. */
typedef struct cache_steps {
    long long row;
    extent head, sequence, rows, sequences;
} cache_steps;
cache_steps cache_steps_of(arena *a, position at, const ir_value *cache);
#endif
