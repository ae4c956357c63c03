/* Conversion between doubles and the formats in memory, rounded once, to nearest even. Floats: values too large become infinite, NaN stays
 * NaN. i32 saturates, NaN becomes 0. */
#ifndef TFGEN_HALF_H
#define TFGEN_HALF_H
#include "ir/ir.h"
#include <stdint.h>

uint16_t f16_from_double(double value);
uint16_t bf16_from_double(double value);
double f16_to_double(uint16_t bits);
double bf16_to_double(uint16_t bits);

double dtype_round(dtype t, double value); /* the number that memory of this dtype would hold */
double dtype_largest(dtype t);             /* finite */
void dtype_put(dtype t, void *data, size_t index, double value);
double dtype_get(dtype t, const void *data, size_t index);
#endif
