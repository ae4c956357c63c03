/* Addresses of rows of a KV cache, for kernels that read it or append to it, and strides for tensor maps. The layout is [sequence, head,
 * token, column]; a row is one head of one token. Apart from value_run_length() (how many rows lie one stride apart), only this code knows
 * the layout. */
#ifndef TFGEN_GEN_EMIT_CACHE_H
#define TFGEN_GEN_EMIT_CACHE_H
#include "gen/emit/emit.h"

typedef struct cache_place {
    const expression *sequence, *head, *token;
} cache_place;

typedef enum cache_walk {
    cache_one_row,   /* the kernel computes one address */
    cache_row_by_row /* in a loop over tokens: sequence and head are in a term of their own, which compilers move out of the loop */
} cache_walk;

long long cache_heads(const ir_value *cache); /* heads of keys and values */
/* Pointer to the first element of a row. */
const expression *cache_row(emission *e, const ir_value *cache, const cache_place *at, cache_walk walk, bool written);
/* Coordinates in a tensor map whose axes are columns, heads, tokens and sequences. Maps of values with a token axis have the same axes. */
typedef struct map_place {
    const expression *token, *sequence;
} map_place;
map_place cache_map_place(const cache_place *at);
/* Of a tensor map: strides of rows (tokens), heads and sequences in bytes; how many rows a head has, and how many sequences there are. */
typedef struct cache_strides {
    extent row, head, sequence, rows, sequences;
} cache_strides;
cache_strides cache_strides_of(arena *a, position at, const ir_value *cache);
#endif
