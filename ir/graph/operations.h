/* In: an op of a lowered or fused graph, and values of the dims. Out: how many operations (FLOPs) it takes. Nothing else in tfgen counts
 * them: benchmarks, explanations, predictions and the reference's cost all use this. Pure functions.
 *
 * A multiply-add is two operations; a function (exp, silu, rsqrt, ...) or a comparison (max, min) is one; a rotated rope element is
 * three; a term of a sum of squares is two. Moves, rounding and cache writes are free. Attention counts visible (query, key) pairs only.
 * A composite op counts zero: lowering replaces it by ops that are counted. */
#ifndef TFGEN_OPERATIONS_H
#define TFGEN_OPERATIONS_H
#include "ir/ir.h"

typedef struct operations {
    double products; /* linear, matmul, and QK and PV of attention */
    double others;
} operations;

/* Returns the data of an int32 input, by its name. If it returns NULL, or no function is given, counts assume the most keys: every
 * sequence full, without padding. */
typedef const int *integer_source(void *context, const char *name);

/* Per head, over the whole batch: visible (query, key) pairs, and keys that at least one query sees. */
typedef struct keys_seen {
    double pairs, keys;
} keys_seen;

keys_seen attention_seen(const ir_op *op, const dim_table *dims, integer_source *integers, void *context);
operations op_operations(const ir_op *op, const dim_table *dims, integer_source *integers, void *context);
/* Sum over all ops of p, which is lowered or fused. */
operations graph_operations(const ir_graph *p, integer_source *integers, void *context);
#endif
