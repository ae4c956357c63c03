/* In: graphs to copy, names and kinds of new values and ops. Out: graphs that passes and planning may change: names are unique (a taken
 * name gets a number), and a value's id is its index in graph.values. */
#ifndef TFGEN_BUILD_H
#define TFGEN_BUILD_H
#include "ir/ir.h"
#include "ir/base/names.h"

typedef struct builder {
    arena *a;
    ir_graph *p;
    name_map names;
} builder;

/* A copy whose values (and ops, if asked) may be changed. Kernels and notes are not copied; the caller builds its own. */
builder build_copy(arena *a, const ir_graph *p, bool with_ops);
void build_add_value(builder *b, ir_value *v); /* appends: sets the id, enters the name */
void build_add_op(builder *b, ir_op *op);      /* appends to graph.ops and makes op the outputs' def */

/* A new result named NAME, or NAME_2, ... when that is taken, with the rank and shape of `like`. */
ir_value *build_value(builder *b, const char *name, dtype type, const ir_value *like);
ir_value *build_number(builder *b, double number, position at);
/* A new op, not yet in graph.ops, with the position and origin of `from`. */
ir_op *build_op(builder *b, op_kind kind, const ir_op *from, ir_value *out, int inputs, ...);
void *build_grow(arena *a, void *items, int count, size_t size); /* `items`, or if its 16, 32, 64, ... places are taken, a larger copy */

/* How a value of this shape broadcasts over a space of rows x columns. */
bool value_is_vector(arena *a, const ir_value *v, long long columns); /* [N], [1, N] */
bool value_is_scalar(const ir_value *v);                              /* one element */
/* To be called after kernels have changed: rebuilds graph.ops from the phases, in the order of kernels and phases. */
void build_list_ops(builder *b);
/* Replaces each operand v of op (inputs, and attributes that are values) by map(argument, v). */
void op_map_operands(ir_op *op, ir_value *(*map)(void *, ir_value *), void *argument);
#endif
