/* In: a product and the numbers in which a program reads packed weights. Out: the format of the packed weight (ir/format.def). */
#ifndef TFGEN_GEN_WEIGHTS_H
#define TFGEN_GEN_WEIGHTS_H
#include "ir/graph/format.h"
#include "ir/graph/segments.h"

typedef enum weight_numbers {
    weights_widened, /* the params' dtype: widened to f32 in registers, whatever A's dtype is */
    weights_as_rows, /* A's dtype: matrix units multiply operands of one type */
    weights_in_terms, /* A's dtype if it has 16 bits and a format holds the weight as terms of it; else both operands are terms in bf16 */
    weights_in_terms_or_f32, /* the same, but f32 if A's dtype is f32 */
    weights_split    /* two tf32 terms */
} weight_numbers;

/* A's own dtype; if the product reads terms that gen/plan/terms.c added, the dtype of the value that they were made from. */
dtype rows_dtype(const ir_op *product);
/* bf16 terms that such a program multiplies for each element of A; 1: A as it is stored. */
int rows_terms(weight_numbers weights, const ir_op *product);
/* The dtype of the numbers of A that such a program multiplies. */
dtype multiplied_dtype(weight_numbers weights, const ir_op *product);
bool reads_bf16_terms(const ir_op *product); /* A is stored as terms, by a kernel of gen/plan/terms.c */
/* Which terms each pass along K multiplies; of operands without terms 1 pass. */
term_pairs weights_pairs(weight_numbers weights, const ir_op *product);

/* NULL: no format holds params of that dtype for such an A; also for a matmul, whose B is not packed. */
const weight_format *weights_format(weight_numbers weights, const ir_op *product);
/* Numbers per packed column, padding included; for a matmul, as if B were packed. */
long long weights_length(weight_numbers weights, const ir_op *product);
#endif
