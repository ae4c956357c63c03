/* In: a graph; a seed, or safetensors files. Out: numbers for its inputs, params and states, as the reference and devices take them.
 * Refuses files that do not fit the graph. */
#ifndef TFGEN_CLI_TRIAL_DATA_H
#define TFGEN_CLI_TRIAL_DATA_H
#include "ir/reference/ref.h"

typedef struct data_files {
    const char *weights, *input, *state; /* or NULL: random; state NULL: states are in input */
    long long layer;                     /* whose weights they are, by the spec's prefix; -1: the names are the file's */
} data_files;

bool data_is_given(const ir_value *v); /* an input, param or state */
/* Zeros, freed with the arena but none of its limited memory. Bails without memory. */
double *data_numbers(arena *a, long long count);
/* By value id, as long as the arena lives. files may be NULL. Bails. */
ref_tensor *data_make(arena *a, const ir_program *graph, unsigned long long seed, const data_files *files);
/* As the device has it. */
void data_put(const ir_value *v, const ref_tensor *from, void *bytes);
#endif
