/* In: programs to copy, names and kinds of new values and ops. Out: programs that passes and planning may change: names are unique (a taken
 * name gets a number), ids are indices. */
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
void *build_grow(arena *a, void *items, int count, size_t size); /* room for one more; doubles at powers of two from 16 on */

/* How a value broadcasts over a space of rows x columns, judged by its shape. */
bool value_is_vector(arena *a, const ir_value *v, long long columns); /* [N], [1, N] */
bool value_is_scalar(const ir_value *v);                              /* one element */
/* Call after kernels changed: rebuilds graph.ops from the phases, in their order. */
void build_list_ops(builder *b);
void op_map_operands(ir_op *op, ir_value *(*map)(void *, ir_value *), void *argument);
#endif
