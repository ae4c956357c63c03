/* In: a cache and a place in it. Out: the address of a row, for kernels that append to or read the cache, and strides for tensor maps. This
 * is the only code that knows the layout, apart from value_run_length() (how many rows lie one stride apart): a row is one head of one
 * token, the rows of a head are contiguous, then the heads of a sequence, then sequences. */
#ifndef TFGEN_GEN_EMIT_CACHE_H
#define TFGEN_GEN_EMIT_CACHE_H
#include "gen/emit/emit.h"

typedef struct cache_place {
    const expression *sequence, *head, *token;
} cache_place;

typedef enum cache_walk {
    cache_one_row,   /* the address of a row is computed once */
    cache_row_by_row /* a loop over tokens of one sequence and head: their part of the address is a separate term, which compilers hoist */
} cache_walk;

long long cache_heads(const ir_value *cache); /* KV */
/* Pointer to the first element of a row. */
const expression *cache_row(emission *e, const ir_value *cache, const cache_place *at, cache_walk walk, bool written);
/* Coordinates in a tensor map of axes columns, heads, tokens, sequences; also for values with a token axis. */
typedef struct map_place {
    const expression *token, *sequence;
} map_place;
map_place cache_map_place(const cache_place *at);
/* Strides of rows, heads and sequences in bytes; numbers of rows and sequences. */
typedef struct cache_strides {
    extent row, head, sequence, rows, sequences;
} cache_strides;
cache_strides cache_strides_of(arena *a, position at, const ir_value *cache);
#endif
