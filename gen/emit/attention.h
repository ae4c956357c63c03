/* Writes the members of the spec structs of attention, decode and combine. Each program calls the functions for those members that its
 * template reads. */
#ifndef TFGEN_GEN_EMIT_ATTENTION_H
#define TFGEN_GEN_EMIT_ATTENTION_H
#include "gen/emit/emit.h"

typedef struct heads {
    emission *e;
    writer *w;
    const ir_op *op;
    long long head, value_head; /* elements per head: of q and k; of v and the result */
    int splits;     /* decode and combine: into how many parts the keys are split */
} heads;

heads heads_start(emission *e, writer *w);                          /* writes nothing yet */
void heads_write_sizes(heads *h);                                   /* head_dim, value_dim if it differs, heads, kv_heads */
void heads_write_rules(heads *h);                                   /* mask, scale, dtype, extents, key counts, positions */
void heads_write_scores(heads *h); /* ALiBi slopes, a bias and sinks, if any */
/* For SIMT programs: `aligned` (rows allow 16-byte loads) and `long_lists` (so many keys that sums must be blocked: base/sums.h). */
void heads_write_lists(heads *h);
/* For flash-decoding in one launch, in place of heads_write_rules(): mask, scale, extents, pointers to the positions and lengths of
 * sequences, and the strides of keys and values. */
void heads_write_cache(heads *h);
void heads_write_strides(heads *h);                                 /* elements between rows of keys, of values; run length */
void heads_write_pointers(heads *h);                                /* q(), k(), v(): pointers to rows */
void heads_write_words(heads *h);                                   /* q_words(), k_words(), v_words(), of rows in words */
void heads_write_ragged(heads *h);                                  /* whether sequences of a batch may have different key counts */
void heads_write_maps(heads *h, long long pack, long long block_k); /* q, k, v as tensor maps */
void heads_write_partial(heads *h, const ir_value *x, bool written); /* pointer to the partials of a split-KV attention */
/* write(), which stores columns of the result. in_eights: the template always passes it whole vectors of 8 columns or of 16 bytes. */
void heads_write_output(heads *h, bool in_eights);
#endif
