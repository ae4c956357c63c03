/* In: programs to copy, names and kinds of new values and ops. Out: programs that passes may change, with unique names and ids that
 * are indices. A taken name gets a number. For passes and
 * planning. */
#ifndef TFGEN_BUILD_H
#define TFGEN_BUILD_H
#include "ir/ir.h"
#include "ir/base/names.h"

typedef struct builder {
    arena *a;
    ir_program *p;
    name_map names;
} builder;

/* A copy whose values (and ops, if asked) may be changed. Kernels and notes are left out: whoever copies makes new ones. */
builder build_copy(arena *a, const ir_program *p, bool with_ops);
void build_add_value(builder *b, ir_value *v); /* appends: sets the id, enters the name */
void build_add_op(builder *b, ir_op *op);      /* appends to program.ops and makes op the outputs' def */

/* A new result named NAME, or NAME_2, ... when that is taken, with the rank and shape of `like`. */
ir_value *build_value(builder *b, const char *name, dtype type, const ir_value *like);
ir_value *build_number(builder *b, double number, position at);
/* An op outside program.ops, at the place and of the origin of `from`. */
ir_op *build_op(builder *b, op_kind kind, const ir_op *from, ir_value *out, int inputs, ...);
void *build_grow(arena *a, void *items, int count, size_t size); /* room for one more; doubles at powers of two from 16 on */

/* What a value is against a space of rows x columns, by its shape alone. */
bool value_is_vector(arena *a, const ir_value *v, long long columns); /* [N], [1, N] */
bool value_is_scalar(const ir_value *v);                              /* one element */
/* After kernels changed: each op is in one phase, and the program lists them in the order of the phases. */
void build_list_ops(builder *b);
void op_map_operands(ir_op *op, ir_value *(*map)(void *, ir_value *), void *argument);
#endif
