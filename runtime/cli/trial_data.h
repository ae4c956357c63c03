/* In: a graph; a seed, or safetensors files. Out: values of its inputs, params and states, for the reference and for devices.
 * Refuses files that do not fit the graph. */
#ifndef TFGEN_CLI_TRIAL_DATA_H
#define TFGEN_CLI_TRIAL_DATA_H
#include "ir/reference/ref.h"

typedef struct data_files {
    const char *weights, *input, *state; /* paths; NULL: random data; state NULL: states are in input */
    long long layer;                     /* layer whose weights are read, by the spec's name prefix; -1: names as in the file */
} data_files;

bool data_is_given(const ir_value *v); /* an input, param or state */
/* Zeroed; freed with the arena, but not counted towards its limit. Bails if out of memory. */
double *data_numbers(arena *a, long long count);
/* Indexed by value id, owned by the arena. files NULL: random data. Bails. */
ref_tensor *data_make(arena *a, const ir_graph *graph, unsigned long long seed, const data_files *files);
/* Converts to the layout and dtype in device memory. */
void data_put(const ir_value *v, const ref_tensor *from, void *bytes);
#endif
