/* Helpers shared by the shape rules of ir/read/shape.c and ir/read/shape_attention.c, to which they are private. Every rule returns false
 * after shape_clash(). */
#ifndef TFGEN_SHAPE_H
#define TFGEN_SHAPE_H
#include "ir/read/graph.h"
#include <stdio.h>

/* Complains "OP: ..." and marks the op as broken; returns false. */
bool shape_clash(op_draft *d, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *shape_of(op_draft *d, int input);                  /* %x [B, S, 256] */
const extent *shape_axis(const ir_value *v, int from_the_end); /* 1: the last axis */
void shape_set(ir_value *out, const ir_value *like);

bool shape_rope(op_draft *d, ir_value *out);
bool shape_attention(op_draft *d, ir_value *out);
bool shape_append(op_draft *d, ir_value *out);
#endif
