/* Which numbers a program of products multiplies, and so in which format (ir/format.def) its weight is packed. */
#ifndef TFGEN_GEN_WEIGHTS_H
#define TFGEN_GEN_WEIGHTS_H
#include "ir/graph/format.h"
#include "ir/graph/segments.h"

typedef enum weight_numbers { /* what a packed weight consists of */
    weights_widened, /* numbers of the weight's own dtype, which the program widens to f32 in registers, whatever A's dtype is */
    weights_as_rows, /* numbers of A's dtype, as matrix units multiply operands of one type */
    weights_as_stored, /* numbers of the weight's own dtype; if that is not A's, registers hold both operands as terms in bf16 */
    weights_in_terms, /* terms in A's dtype if that has 16 bits and there is such a format; else A and the weight both are terms in bf16 */
    weights_in_terms_or_f32, /* f32 numbers if A's dtype is f32 and there is such a format; else as weights_in_terms */
    weights_split    /* two tf32 terms per element */
} weight_numbers;

/* A's own dtype; if the product reads terms that gen/plan/terms.c added, the dtype of the value that they were made from. */
dtype rows_dtype(const ir_op *product);
/* bf16 terms per element of A that the program multiplies; 1: A as it is stored. */
int rows_terms(weight_numbers weights, const ir_op *product);
/* The dtype of the numbers of A that the program multiplies. */
dtype multiplied_dtype(weight_numbers weights, const ir_op *product);
bool has_two_dtypes(const ir_op *product); /* rows and weights differ in dtype */
/* If registers hold A and B as bf16 terms: how many products of terms a product of two elements takes. 1 if A and B have one dtype. */
int register_products(const ir_op *product);
bool reads_bf16_terms(const ir_op *product); /* A is stored as terms, by a kernel of gen/plan/terms.c */
/* Which terms of A and of B each pass along K multiplies. Operands without terms need one pass. */
term_pairs weights_pairs(weight_numbers weights, const ir_op *product);

/* The format of the packed weight. NULL: there is none for these dtypes, or the product is a matmul, whose B is not packed. */
const weight_format *weights_format(weight_numbers weights, const ir_op *product);
/* Numbers per packed column, padding included; for a matmul, as if B were packed. */
long long weights_length(weight_numbers weights, const ir_op *product);
#endif
