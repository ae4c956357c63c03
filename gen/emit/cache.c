/* Addresses and strides of rows of a KV cache (gen/emit/cache.h). The reader of specs has checked the shapes of caches. */
#include "gen/emit/cache.h"

long long cache_heads(const ir_value *cache)
{
    long long heads = 1;
    extent_is_number(&cache->shape[cache_head], &heads);
    return heads;
}

/* A cache may have more rows than an int can count, so row indices have 64 bits. (For other values, planning checks that an int
 * suffices.) */
const expression *cache_row(emission *e, const ir_value *cache, const cache_place *at, cache_walk walk, bool written)
{
    expression_pool *p = e->pool;
    const view w = view_of(e->a, cache);
    const expression *lists = c_sum(p, c_product(p, at->sequence, c_long(p, cache_heads(cache))), at->head);
    const expression *first = c_product(p, lists, extent_c(e, value_tokens(cache))), *all = use_value(e, cache, written), *row;
    if (walk == cache_row_by_row)
        row = c_sum(p, c_sum(p, all, c_product(p, first, c_long(p, w.stride))), scaled(e, at->token, w.stride));
    else
        row = c_sum(p, all, c_product(p, c_sum(p, first, at->token), c_number(p, w.stride)));
    return c_shifted(p, row, w.offset);
}

map_place cache_map_place(const cache_place *at) { return (map_place){at->token, at->sequence}; }

cache_strides cache_strides_of(arena *a, position at, const ir_value *cache)
{
    const long long row = view_of(a, cache).stride * dtype_size(cache->type);
    const extent head = extent_multiply(a, at, *value_tokens(cache), extent_number(row));
    const extent sequence = extent_multiply(a, at, head, extent_number(cache_heads(cache)));
    return (cache_strides){extent_number(row), head, sequence, *value_tokens(cache), cache->shape[cache_batch]};
}
