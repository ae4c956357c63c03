/* In: a product and the numbers in which a program reads packed weights. Out: the format of the packed weight (ir/format.def). */
#ifndef TFGEN_GEN_WEIGHTS_H
#define TFGEN_GEN_WEIGHTS_H
#include "ir/graph/format.h"
#include "ir/graph/segments.h"

typedef enum weight_numbers {
    weights_widened, /* the params' dtype: widened to f32 in registers, whatever A's dtype is */
    weights_as_rows, /* A's dtype: matrix units multiply operands of one type */
    weights_split    /* two tf32 terms */
} weight_numbers;

/* NULL: no format holds params of that dtype for such an A; also for a matmul, whose B is not packed. */
const weight_format *weights_format(weight_numbers weights, const ir_op *product);
/* Numbers per packed column, padding included; for a matmul, the numbers that it would have. */
long long weights_length(weight_numbers weights, const ir_op *product);
#endif
