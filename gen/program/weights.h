/* In: a linear, and in which numbers a program reads packed weights. Out: the format of its weight (ir/format.def). */
#ifndef TFGEN_GEN_WEIGHTS_H
#define TFGEN_GEN_WEIGHTS_H
#include "ir/program/format.h"
#include "ir/program/segments.h"

typedef enum weight_numbers {
    weights_widened, /* the params' own: each is widened to f32 in registers, whatever A is */
    weights_as_rows, /* those of A: matrix units multiply two operands of one type */
    weights_split    /* two of tf32 */
} weight_numbers;

/* NULL: none holds params of that dtype for such rows; of a matmul, whose second operand is not packed, too. */
const weight_format *weights_format(weight_numbers weights, const ir_op *product);
/* Numbers of a packed column; of a matmul those that a column would have. */
long long weights_length(weight_numbers weights, const ir_op *product);
#endif
