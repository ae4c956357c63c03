/* In: numbers as doubles, or as they lie in memory. Out: the other form, rounded once, to nearest even. Refuses:
 * nothing; what is too large becomes infinite, a NaN stays one. */
#ifndef TFGEN_HALF_H
#define TFGEN_HALF_H
#include "ir/ir.h"
#include <stdint.h>

uint16_t f16_from_double(double value);
uint16_t bf16_from_double(double value);
double f16_to_double(uint16_t bits);
double bf16_to_double(uint16_t bits);

double dtype_round(dtype t, double value); /* i32: to the nearest integer that it holds, NaN to 0 */
double dtype_largest(dtype t);             /* finite */
void dtype_put(dtype t, void *data, size_t index, double value);
double dtype_get(dtype t, const void *data, size_t index);
#endif
