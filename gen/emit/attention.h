/* Members of the spec structs of attention, decode and combine, from which the programs of these families put theirs together. */
#ifndef TFGEN_GEN_EMIT_ATTENTION_H
#define TFGEN_GEN_EMIT_ATTENTION_H
#include "gen/emit/emit.h"

typedef struct heads {
    emission *e;
    writer *w;
    const ir_op *op;
    long long head; /* elements */
    int splits;     /* decode and combine */
} heads;

heads heads_start(emission *e, writer *w);                          /* writes nothing yet */
void heads_write_sizes(heads *h);                                   /* head_dim, heads, kv_heads */
void heads_write_rules(heads *h);                                   /* mask, scale, types, extents, keys and positions */
void heads_write_scores(heads *h); /* slopes and sinks, where there are any */
/* Of programs off the matrix units: may rows be loaded 16 bytes at a time, may lists of keys be too long for one chain of additions. */
void heads_write_lists(heads *h);
/* In place of rules, of few queries over a cache: where a sequence's numbers lie, strides of keys and values. */
void heads_write_cache(heads *h);
void heads_write_strides(heads *h);                                 /* from a row of keys or of values to the next ones */
void heads_write_pointers(heads *h);                                /* q, k, v in memory */
void heads_write_ragged(heads *h);                                  /* may sequences of a batch have fewer keys than others */
void heads_write_maps(heads *h, long long pack, long long block_k); /* as tensor maps */
void heads_write_partial(heads *h, const ir_value *x, bool written);
void heads_write_output(heads *h, bool in_eights); /* in_eights: write() is given eight columns that exist, or as many as are 16 bytes */
#endif
