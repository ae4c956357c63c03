/* In: an op of a graph that is lowered, or of a program with kernels, and values of the dims. Out: the operations that it takes. This is
 * the only count: the reference's cost, benchmarks, explanations and predictions all ask it. Pure.
 *
 * Multiplying and adding are two operations. A function (exp, silu, rsqrt, ...) is one, so is one comparison (max, min), a rotated element
 * of a rope is three, and a square in a sum of squares two. Moving, rounding and writing into a cache are none. Attention is counted for
 * the pairs of a query and a key that it sees. A composite op is counted as what lowering writes for it: none of its own. */
#ifndef TFGEN_OPERATIONS_H
#define TFGEN_OPERATIONS_H
#include "ir/ir.h"

typedef struct operations {
    double products; /* of linears, matmuls and attention's two products */
    double others;
} operations;

/* Data of an int32 input by its name, or NULL: then the largest that it may be is taken. No function: likewise for all. */
typedef const int *integer_source(void *context, const char *name);

/* Of an attention: pairs of a query and a key that it sees, and keys that any query sees, of one head, over the whole batch. */
typedef struct keys_seen {
    double pairs, keys;
} keys_seen;

keys_seen attention_seen(const ir_op *op, const dim_table *dims, integer_source *integers, void *context);
operations op_operations(const ir_op *op, const dim_table *dims, integer_source *integers, void *context);
/* Of a graph that is lowered, or of a program. */
operations program_operations(const ir_program *p, integer_source *integers, void *context);
#endif
