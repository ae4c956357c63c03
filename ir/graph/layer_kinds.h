/* Kinds of layers that share the launch of a stack (docs/one-launch.md): layers with the same ops on tensors of the same shapes, whose
 * ropes, and windows of attentions, may have different numbers. In: a graph of each kind. Out: one graph for all of them, and the numbers
 * of each kind. Refuses (code_unsupported) kinds that differ in anything else, by the op or value and what differs. */
#ifndef TFGEN_LAYER_KINDS_H
#define TFGEN_LAYER_KINDS_H
#include "ir/ir.h"

enum {
    most_layer_kinds = 16,
    kinds_no_window = 1 << 30 /* in the graph for all kinds: a window so long that it never hides a key, for kinds without one */
};

/* The attributes that an op of the graph has in the layers of one kind. Only those that kinds may differ in are used: theta, scaling and
 * attention_factor of a rope; the window of an attention. */
typedef struct kind_numbers {
    int kind, origin; /* origin: the index of the op in the graph, as ir_op.origin */
    op_kind op;       /* op_rope or op_attention */
    ir_attributes attributes;
    position at; /* of its line in IR text */
} kind_numbers;

/* The ops that are not the same in all kinds: `count` entries for each, one for each kind, in this order. */
struct layer_kinds {
    int count;
    kind_numbers *list;
    int list_count;
};

/* Joins the graphs of `count` kinds, at least 2. `p` is another reading of kinds[0]; it becomes the graph for all kinds. Its own numbers
 * are those for which tiles are chosen: of attentions the longest window of all kinds. names: of the kinds, for messages. */
void kinds_join(arena *a, ir_graph *p, const ir_graph *const *kinds, const char *const *names, int count);
/* Whether layers of these two graphs can be kinds of one launch. */
bool kinds_may_share(arena *a, const ir_graph *x, const ir_graph *y);
int kinds_count(const ir_graph *p); /* 1: all layers are of one kind */
/* What an op, at any stage, has in the layers of a kind. */
const ir_attributes *kinds_attributes(const ir_graph *p, const ir_op *op, int kind);
bool kinds_hide_keys(const ir_graph *p, const ir_op *op); /* the op is an attention with a window in some kind */
/* What is wrong with the windows of an attention of a graph for all kinds; NULL: nothing. Its own window must be the longest, since tiles
 * are chosen for it. */
const char *kinds_windows_wrong(arena *a, const ir_graph *p, const ir_op *op);
/* Gives the ops the numbers of a kind. Returns what they had before, for kinds_put_back(). Ops of a graph without kinds keep theirs. */
ir_attributes *kinds_take(arena *a, const ir_graph *p, ir_op *const *ops, int op_count, int kind);
void kinds_put_back(ir_op *const *ops, int op_count, const ir_attributes *before);
bool kinds_may_differ(op_kind kind, const char *key); /* in this attribute of such ops */
#endif
