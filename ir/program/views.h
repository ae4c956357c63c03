/* In: values and ops. Out: what a view is, and which values it shows. A view has no code: its data is where others write it, and whoever
 * reads it reckons the address from root, offset and stride. Pure functions. */
#ifndef TFGEN_VIEWS_H
#define TFGEN_VIEWS_H
#include "ir/ir.h"

/* A reshape or slice whose result lives in its operand's storage (or the operand in the result's), or a concat whose operands all
 * live in its result's. Any other reshape, slice or concat copies: reshape keeps the flat element index. */
bool op_moves_as_view(const ir_op *op);
static inline bool op_is_view(const ir_op *op)
{
    const bool may = op->kind == op_slice || op->kind == op_reshape || op->kind == op_concat; /* few are */
    return may && op_moves_as_view(op);
}

/* The values, made by ops with code, whose data is v's: v itself unless a view makes it. None: v is the caller's, or a view of such a
 * value. More than one: a concat's operands, whichever part of the concat v shows. */
enum { most_makers = 16 };
int value_makers(const ir_value *v, const ir_value **makers);
bool value_has_maker(const ir_value *v, const ir_value *maker);

/* v has the rows and columns of its only maker, so a thread that makes an element there has v's element. */
bool view_is_transparent(arena *a, const ir_value *v);
#endif
