/* In: values and ops. Out: which ops are views, and which values' data a view shows. A view has no code: other ops write its data, and
 * readers compute addresses from root, offset and stride. Pure functions. */
#ifndef TFGEN_VIEWS_H
#define TFGEN_VIEWS_H
#include "ir/ir.h"

/* A reshape or slice whose result lives in its operand's storage (or the operand in the result's), or a concat whose operands all
 * live in its result's. Any other reshape, slice or concat copies: reshape keeps the flat element index. */
bool op_moves_as_view(const ir_op *op);
/* Written by planning: an op that copies a value to aligned rows, or as terms, for a product that cannot read the original. */
static inline bool op_is_copy(const ir_op *op)
{
    return op->kind == op_align || op->kind == op_tf32_terms || op->kind == op_bf16_terms;
}
static inline bool op_is_view(const ir_op *op)
{
    const bool may = op->kind == op_slice || op->kind == op_reshape || op->kind == op_concat; /* fast path: most ops are none of these */
    return may && op_moves_as_view(op);
}

/* Writes to `makers` the values, made by ops with code, that hold v's data, and returns their count: v itself unless it is a view; none if
 * v is the caller's or a view of such a value; all operands of a concat, even if v is a view of only one of them. */
enum { most_makers = 16 };
int value_makers(const ir_value *v, const ir_value **makers);
bool value_has_maker(const ir_value *v, const ir_value *maker);

/* v has the rows and columns of its only maker, so the thread that computes an element of the maker has that element of v. */
bool view_is_transparent(arena *a, const ir_value *v);
#endif
