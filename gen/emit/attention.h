/* Members of the spec structs of attention, decode and combine, from which the programs of these families put theirs together. */
#ifndef TFGEN_GEN_EMIT_ATTENTION_H
#define TFGEN_GEN_EMIT_ATTENTION_H
#include "gen/program/program.h"

typedef struct heads {
    emission *e;
    writer *w;
    const ir_op *op;
    long long head; /* elements */
    int splits;     /* decode and combine */
} heads;

heads heads_start(emission *e, writer *w); /* writes nothing yet */
void heads_write_sizes(heads *h);           /* head_dim, heads, kv_heads */
void heads_write_rules(heads *h);           /* mask, scale, types, extents, keys and positions */
void heads_write_lists(heads *h);           /* may lists of keys be too long for one chain of additions */
void heads_write_pointers(heads *h);        /* q, k, v in memory */
void heads_write_maps(heads *h, long long pack, long long block_k); /* as tensor maps */
void heads_write_partial(heads *h, const ir_value *x, bool written);
void heads_write_output(heads *h, bool in_eights); /* in_eights: write() is given eight columns that exist */

/* ---- what the programs of attention share when they plan (gen/program/attention.c) */
const char *attention_in_registers_obstacle(const tile_request *r);
long long request_team(const tile_request *r, long long most); /* threads of a wave that share a head: a power of two */
void attention_geometry(const tile_request *r, int queries, launch *l); /* a row tile is so many queries of a head */
#endif
