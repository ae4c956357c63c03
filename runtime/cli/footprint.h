/* In: a plan with its sources. Out: the device memory that a caller of it needs, item by item, as the runtime takes it: weights
 * (tfgen_weights_bytes), states, workspace (tfgen_workspace_bytes), inputs and outputs. */
#ifndef TFGEN_CLI_FOOTPRINT_H
#define TFGEN_CLI_FOOTPRINT_H
#include "gen/gen.h"

typedef enum memory_kind { memory_weights, memory_states, memory_workspace, memory_activations, memory_kind_count } memory_kind;
extern const char *const memory_names[memory_kind_count]; /* weights, states, workspace, activations */

typedef struct memory_item {
    memory_kind kind;
    const char *name, *what; /* what: "packed", "as it is", "input", ... */
    double bytes;
} memory_item;

typedef struct footprint {
    memory_item *items;
    int count;
    double of[memory_kind_count]; /* sums; workspace with what aligns it */
    double originals;             /* params as the caller has them, which may go once weights are packed */
} footprint;

footprint footprint_of(arena *a, const plan *p);
/* Of a model of so many layers, one after the other: weights and states of each, the rest once. */
double footprint_bytes(const footprint *f, long long layers);
/* While the last layer's weights are packed, its originals are there, too. */
double footprint_packing(const footprint *f, long long layers);
#endif
