/* In: a seed, the name of a value, an index. Out: numbers that depend on nothing else: not on the machine, its math
 * library, the order of calls or the other values of a spec. */
#ifndef TFGEN_RANDOM_H
#define TFGEN_RANDOM_H
#include "ir/ir.h"
#include <stdint.h>

uint64_t random_stream(const char *name);
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
double random_uniform(uint64_t seed, uint64_t stream, uint64_t index); /* inside (0, 1) */
double random_normal(uint64_t seed, uint64_t stream, uint64_t index);

/* Data for an input, param or state of a graph, value_count() numbers, rounded to its dtype. The distribution depends on the value's use,
 * so that all values of a block stay near 1: weights of a product are N(0, 1/K), weights of a norm 1 + N(0, 0.01) (N(0, 0.01) if the op
 * adds the 1), biases N(0, 0.01), direct operands of sqrt, rsqrt and log 0.5 + |N(0, 1)|, other numbers N(0, 1). int32 is uniform in the
 * value's range. If it has none: lengths of attention from 1 to the number of keys, padding ahead (`first`) from 0 to one less; positions
 * in a cache from 0 to its rows minus the tokens of a call; others from 0 to 16. */
void random_fill(const ir_graph *graph, const ir_value *v, uint64_t seed, double *out);
/* Numbers first .. first+count-1 of the same data. */
void random_part(const ir_graph *graph, const ir_value *v, uint64_t seed, long long first, long long count, double *out);
#endif
